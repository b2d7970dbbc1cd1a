// Slots of destinations that may get fewer attempts at a time than there are workers. A slot is an advisory lock of a session: one of
// as many keys as the destination has slots. Two workers never have the same one, and PostgreSQL frees it when the session ends, so
// also when the worker dies. A worker that is cut off or suspended loses its session after half a minute, and uses a slot for two
// seconds without asking PostgreSQL (core/delivery/destination-places.ts).
// Rules: DLV-38.
import type pg from 'pg';
import { clientOf, currentUrl, type DatabaseUrl } from '../connections/client.ts';
import type { Queryable } from '../connections/pool.ts';

const TIMEOUT_MS = 3000;
const LOST_AFTER_MS = 30_000;

const KEY = `hashtextextended('slot ' || id || ' ' || slot, 0)`;
// The keys are tried one by one, up to the first that is free.
const TAKE = `
select id, (select slot from generate_series(0, maximum - 1) as slot where pg_try_advisory_lock(${KEY}) limit 1) as slot
from unnest($1::text[], $2::int[]) as wanted(id, maximum)`;
const LEAVE = `select pg_advisory_unlock(${KEY}) from unnest($1::text[], $2::int[]) as left_over(id, slot)`;

/** The `maxConcurrency` of destinations. */
export async function maximaOf(db: Queryable, ids: string[]): Promise<{ id: string; maximum: number | null }[]> {
  const { rows } = await db.query<{ id: string; maximum: number | null }>(
    'select id, max_concurrency as maximum from destinations where id = any($1::text[])',
    [ids],
  );
  return rows;
}

/** A session of its own, from the first slot until it is closed. */
export class DestinationSlots {
  readonly #url: DatabaseUrl;
  readonly #onLost: () => void;
  readonly #lostAfterMs: number;
  #session: { client: pg.Client; held: Map<string, number> } | null = null;

  /**
   * @param onLost called when the session ends, and with it the slots
   * @param lostAfterMs without an exchange
   */
  constructor(url: DatabaseUrl, onLost: () => void, lostAfterMs = LOST_AFTER_MS) {
    this.#url = url;
    this.#onLost = onLost;
    this.#lostAfterMs = lostAfterMs;
  }

  /**
   * Gives slots back and takes those that are free.
   * @param left destination ids
   * @returns the destinations of which a slot was taken
   * @throws when the database does not answer; then all slots are given back
   */
  async exchange(left: string[], wanted: { destinationId: string; maximum: number }[]): Promise<string[]> {
    this.#session = this.#session ?? (await this.#connect());
    const { client, held } = this.#session;
    try {
      const given = left.filter((id) => held.has(id));
      if (given.length > 0) await client.query(LEAVE, [given, given.map((id) => held.get(id))]);
      for (const id of left) held.delete(id);
      const { rows } = await client.query<{ id: string; slot: number | null }>(TAKE, [
        wanted.map(({ destinationId }) => destinationId),
        wanted.map(({ maximum }) => maximum),
      ]);
      const taken = rows.flatMap(({ id, slot }) => (slot === null ? [] : [[id, slot] as const]));
      for (const [id, slot] of taken) held.set(id, slot);
      return taken.map(([id]) => id);
    } catch (error) {
      // Locks may have been taken of which nothing is known here.
      this.#lose(client);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#session?.client.end().catch(() => undefined);
  }

  #lose(client: pg.Client): void {
    if (this.#session?.client !== client) return;
    this.#session = null;
    this.#onLost();
    void client.end().catch(() => undefined);
  }

  async #connect(): Promise<{ client: pg.Client; held: Map<string, number> }> {
    const client = new (clientOf(this.#url))({
      connectionString: currentUrl(this.#url),
      application_name: 'hookyard-worker',
      keepAlive: true,
      connectionTimeoutMillis: TIMEOUT_MS,
      query_timeout: TIMEOUT_MS,
    });
    // Without a listener, an error event would end the process. A broken connection ends as well.
    client.on('error', () => undefined);
    client.once('end', () => this.#lose(client));
    try {
      await client.connect();
      await client.query(`set idle_session_timeout = ${this.#lostAfterMs}`);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    return { client, held: new Map() };
  }
}
