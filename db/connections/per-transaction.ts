// Statements of connections without a session of their own: a pooler gives each transaction whatever session is free. So the settings
// go before its first statement, for this transaction, in the same messages: that is one more statement for PostgreSQL to run, but no
// round trip. Statements that are sent before one Sync are one transaction (PostgreSQL manual, 54.2.4 "Pipelining" and 54.2.2.1).
import pg from 'pg';
import { type ConnectionSettings, settingStatement } from './settings.ts';

type Callback = (error: Error | null | undefined, result?: unknown) => void;

// What of node-postgres's connection and query is not in its types (pg/lib/connection.js, pg/lib/query.js).
interface Wire {
  readonly submittedNamedStatements: Record<string, string>;
  parse(message: { text: string }): void;
  bind(message: object): void;
  describe(message: { type: 'P' }): void;
  execute(message: object): void;
}
declare class DriverQuery {
  text: string;
  name: string | undefined;
  callback: Callback | undefined;
  constructor(config: unknown, values: unknown, callback: unknown);
  requiresPreparation(): boolean;
  hasBeenParsed(wire: Wire): unknown;
  prepare(wire: Wire): void;
  submit(wire: Wire): Error | null;
  handleCommandComplete(message: unknown, wire: Wire): void;
  handleError(error: Error, wire: Wire): void;
}
const Query = pg.Query as unknown as typeof DriverQuery;

// What cannot be in a transaction with others, and what ends one.
const ALONE = /^\s*(?:vacuum|commit|rollback)\b/i;
const BEGIN = /^\s*(?:begin|start transaction)\b[^;]*$/i;

interface Settings {
  all: ConnectionSettings;
  statement: string;
}
const settingsOf = new WeakMap<pg.ClientBase, Settings>();
const settled = (all: ConnectionSettings): Settings => ({ all, statement: settingStatement(all, true) });

/**
 * Sets something in every transaction of a connection, also in those of one statement.
 * @param namesStatements whether statements may have names; else theirs are left out
 */
export function setInTransactions(client: pg.Client, settings: ConnectionSettings, namesStatements: boolean): void {
  settingsOf.set(client, settled(settings));
  const send = client.query.bind(client) as (...args: unknown[]) => unknown;
  const query = (config: unknown, values?: unknown, callback?: unknown): unknown => {
    // Node-postgres's own queries, such as cursors, need a transaction around them.
    if (typeof config === 'object' && config !== null && 'submit' in config) return send(config, values, callback);
    return new LocalQuery(client, namesStatements ? config : withoutName(config), values, callback).run(send);
  };
  client.query = query as typeof client.query;
}

/** Sets more in the transactions of a connection from now on. @throws Error where they have no settings */
export function alsoInTransactions(client: pg.ClientBase, settings: ConnectionSettings): void {
  const others = settingsOf.get(client);
  if (!others) throw new Error('The transactions of this connection have no settings');
  settingsOf.set(client, settled({ ...others.all, ...settings }));
}

function withoutName(config: unknown): unknown {
  return typeof config === 'object' ? { ...config, name: undefined } : config;
}

/** Where the settings are among what is sent: nowhere inside of a transaction, which has them. */
type Place = 'none' | 'before' | 'after';

/** A statement that brings the settings of its transaction, when it begins one. */
class LocalQuery extends Query {
  /** Node-postgres looks for it; undefined: that of the connection. */
  readonly query_timeout: unknown;
  readonly #client: pg.Client;
  #place: Place = 'none';
  #heldName: string | undefined;

  constructor(client: pg.Client, ...args: [config: unknown, values: unknown, callback: unknown]) {
    super(...args);
    const [config] = args;
    if (typeof config === 'object' && config !== null && 'query_timeout' in config)
      this.query_timeout = config.query_timeout;
    this.#client = client;
  }

  /** @returns a promise of the result, or nothing where there is a callback, as `query` of node-postgres does */
  run(send: (query: LocalQuery) => unknown): Promise<unknown> | undefined {
    const { callback } = this;
    if (callback) {
      this.callback = (error, result) => callback(error, error ? result : this.#ownOf(result));
      send(this);
      return undefined;
    }
    return new Promise((resolve, reject) => {
      this.callback = (error, result) => (error ? reject(error) : resolve(this.#ownOf(result)));
      send(this);
    });
  }

  override submit(wire: Wire): Error | null {
    if (this.#client.getTransactionStatus() === 'I' && !ALONE.test(this.text)) this.#place = this.#addSettings();
    return super.submit(wire);
  }

  #addSettings(): Place {
    if (this.requiresPreparation()) return 'before';
    if (BEGIN.test(this.text)) {
      this.text = `${this.text};${this.#settings()}`;
      return 'after';
    }
    this.text = `${this.#settings()};${this.text}`;
    return 'before';
  }

  #settings(): string {
    return settingsOf.get(this.#client)?.statement ?? '';
  }

  /** Sends the messages of a statement with parameters. */
  override prepare(wire: Wire): void {
    if (this.#place === 'none') {
      super.prepare(wire);
      return;
    }
    wire.parse({ text: this.#settings() });
    wire.bind({});
    wire.describe({ type: 'P' });
    wire.execute({});
    const isParsed = this.hasBeenParsed(wire);
    super.prepare(wire);
    if (isParsed) return;
    // Node-postgres would take the first answer, to the settings, for one that the named statement is parsed.
    this.#heldName = this.name;
    this.name = undefined;
  }

  override handleCommandComplete(message: unknown, wire: Wire): void {
    if (this.#heldName !== undefined) this.name = this.#heldName;
    this.#heldName = undefined;
    super.handleCommandComplete(message, wire);
  }

  override handleError(error: Error, wire: Wire): void {
    if (this.#heldName !== undefined) delete wire.submittedNamedStatements[this.#heldName];
    // The transaction may have begun, and has no settings.
    if (this.#place === 'after') void this.#client.end();
    super.handleError(error, wire);
  }

  /** The caller's results among those of everything that was sent. */
  #ownOf(results: unknown): unknown {
    if (this.#place === 'none' || !Array.isArray(results)) return results;
    if (this.#place === 'after') return results[0];
    return results.length === 2 ? results[1] : results.slice(1);
  }
}
