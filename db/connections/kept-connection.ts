// A connection outside of the pools, for what belongs to a session: notifications, advisory locks.
import type pg from 'pg';
import { clientOf, currentUrl, type DatabaseUrl } from './client.ts';

interface KeptConnectionOptions {
  /** Deadline of the connection and of each statement, ms. */
  timeoutMs: number;
  setUp: string;
  onLost: () => void;
  onNotification?: (payload: string | undefined) => void;
}

export class KeptConnection {
  readonly #url: DatabaseUrl;
  readonly #options: KeptConnectionOptions;
  #client: pg.Client | null = null;

  constructor(url: DatabaseUrl, options: KeptConnectionOptions) {
    this.#url = url;
    this.#options = options;
  }

  get isUp(): boolean {
    return this.#client !== null;
  }

  /** The session, made anew if there is none. @throws when the database does not answer */
  async session(): Promise<pg.Client> {
    if (this.#client) return this.#client;
    const { timeoutMs, setUp, onNotification } = this.#options;
    const client = new (clientOf(this.#url))({
      connectionString: currentUrl(this.#url),
      application_name: 'hookyard-worker',
      keepAlive: true,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
    });
    // Without a listener, an error event would end the process. A broken connection ends as well.
    client.on('error', () => undefined);
    client.once('end', () => this.drop(client));
    if (onNotification) client.on('notification', ({ payload }) => onNotification(payload));
    try {
      await client.connect();
      await client.query(setUp);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    this.#client = client;
    return client;
  }

  /**
   * Ends a session that does not answer, or whose state is unknown. Nothing happens when there is another one already.
   */
  drop(client: pg.Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    this.#options.onLost();
    void client.end().catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#client?.end().catch(() => undefined);
  }
}
