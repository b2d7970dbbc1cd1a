// Relays that live and renew late, after an outage of the database or a pause of everything: what they have in flight stays theirs, because
// others would make the same attempts again.
import { expect } from 'chai';
import { pino } from 'pino';
import { newId } from '../../core/ids.ts';
import { POSITIONS, sizeOf } from '../../core/positions.ts';
import { holdSession, type RelaySession } from '../../db/hot-path/relay-session.ts';
import type { Queryable } from '../../db/connections/pool.ts';
import { holdShards, type Shards } from '../../worker/shards.ts';
import { type OwnDatabase, ownDatabase } from '../support/own-database.ts';
import { until } from '../support/until.ts';

const log = pino({ level: 'silent' });
const PATIENCE_MS = 120_000;

/** The way of a relay to the database. */
class Line {
  /** Null: it is open. */
  #away: Promise<void> | null = null;
  #back: () => void = () => {};

  /** Statements fail, or hang and continue when it is open again. */
  cut(how: 'fail' | 'hang'): void {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => undefined);
    this.#away = promise;
    if (how === 'fail') reject(new Error('the database is away'));
    this.#back = resolve;
  }

  open(): void {
    this.#away = null;
    this.#back();
  }

  to(pool: Queryable): Queryable {
    const query = async (...args: unknown[]) => {
      await this.#away;
      return (pool.query as (...all: unknown[]) => Promise<unknown>)(...args);
    };
    return { query } as Queryable;
  }
}

interface Relay {
  name: string;
  line: Line;
  shards: Shards;
  session: RelaySession;
  onShare: () => void;
}

describe('the lease of a relay that lives and renews late @turns', function () {
  this.timeout(300_000);
  let database: OwnDatabase;
  let relays: Relay[];
  before(async () => {
    database = await ownDatabase('shards');
  });
  after(() => database.close());
  beforeEach(() => {
    relays = [];
  });
  afterEach(async () => {
    for (const { line } of relays) line.open();
    for (const { shards, session } of relays) {
      await shards.release();
      await session.close();
    }
  });

  function start(): Relay {
    const name = newId('req');
    const line = new Line();
    const session = holdSession(database.databaseUrl, name, () => shards.mayHaveBeenCutOff(), log);
    const shards = holdShards({
      ...{ pool: line.to(database.pool), name, session, lane: () => 'workflow', version: '0.1.0', log },
      onShare: () => relay.onShare(),
    });
    const relay: Relay = { name, line, shards, session, onShare: () => {} };
    relays.push(relay);
    return relay;
  }

  async function leases(condition: string): Promise<string[]> {
    const { rows } = await database.pool.query<{ owner: string }>(
      `select owner from relay_leases where ${condition} order by owner`,
    );
    return rows.map(({ owner }) => owner);
  }

  it('is known to be shared before another relay has a part of it', async () => {
    const first = start();
    await until('it to have everything', () => sizeOf(first.shards.held()?.positions ?? []) === POSITIONS);
    const second = start();
    const heldThen: unknown[] = [];
    first.onShare = () => heldThen.push(second.shards.held());
    await until('the other to have its half', () => sizeOf(second.shards.held()?.positions ?? []) === POSITIONS / 2);
    expect(heldThen[0]).to.equal(null);
  });

  for (const how of ['fail', 'hang'] as const) {
    it(`stays its own when statements ${how} for all, and another one is back first`, async () => {
      const [early, late] = [start(), start()];
      await until('both to have their half and their lock', async () => {
        const halves = [early, late].every(({ shards }) => sizeOf(shards.held()?.positions ?? []) === POSITIONS / 2);
        return halves && (await leases('session is not null')).length === 2;
      });
      const before = late.shards.held()?.owner;
      for (const { line } of [early, late]) line.cut(how);
      await until('both leases to run out', async () => (await leases('expires_at < now()')).length === 2, PATIENCE_MS);
      // Of a process that is gone. It shows when the first one takes over again.
      await database.pool.query(
        `insert into relay_leases (owner, session, expires_at) values ('dead', 'nobody', now() - interval '1 hour')`,
      );
      early.line.open();
      await until(
        'the one that is gone to be found',
        async () => (await leases(`owner = 'dead'`)).length === 0,
        PATIENCE_MS,
      );
      expect(await leases('expires_at < now()'), 'the late one').to.deep.equal([before]);
      late.line.open();
      await until('the late one to continue with what it had', () => late.shards.held(), PATIENCE_MS);
      expect(late.shards.held()).to.include({ owner: before });
    });
  }
});
