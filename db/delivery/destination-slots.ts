// Slots of destinations that may get fewer attempts at a time than there are workers. A slot is an advisory lock of a
// session: one of as many keys as the destination has slots. Two workers never have the same one, and PostgreSQL frees
// it when the session ends, so also when the worker dies. A worker that is cut off or suspended loses its session after
// half a minute, and uses a slot for two seconds without asking PostgreSQL (core/delivery/destination-concurrency.ts).
import { type DatabaseUrl, KeptConnection } from '../connections/client.ts';
import type { Queryable } from '../connections/pool.ts';
import { raw, sql } from '../connections/statements.ts';

const TIMEOUT_MS = 3000;
const LOST_AFTER_MS = 30_000;

const KEY = `hashtextextended('slot ' || id || ' ' || slot, 0)`;
const LEAVE = `select pg_advisory_unlock(${KEY}) from unnest($1::text[], $2::int[]) as left_over(id, slot)`;

export async function maximaOf(db: Queryable, ids: string[]): Promise<{ id: string; maximum: number | null }[]> {
  return sql(db).rows<{ id: string; maximum: number | null }>`
    select id, max_concurrency as maximum from destinations where id = any(${ids}::text[])`;
}

/** The slots that a worker has, in a session of its own from the first slot until it is closed. */
export class DestinationSlots {
  readonly #connection: KeptConnection;
  #held = new Map<string, number>();

  /**
   * @param onLost called when the session ends, and with it the slots
   * @param lostAfterMs without an exchange
   */
  constructor(url: DatabaseUrl, onLost: () => void, lostAfterMs = LOST_AFTER_MS) {
    this.#connection = new KeptConnection(url, {
      timeoutMs: TIMEOUT_MS,
      setUp: `set idle_session_timeout = ${lostAfterMs}`,
      onLost: () => {
        this.#held = new Map();
        onLost();
      },
    });
  }

  /**
   * Gives slots back and takes those that are free.
   * @param left destination ids
   * @returns the destinations of which a slot was taken
   * @throws when the database does not answer; then all slots are given back
   */
  async exchange(left: string[], wanted: { destinationId: string; maximum: number }[]): Promise<string[]> {
    const client = await this.#connection.session();
    const held = this.#held;
    try {
      const given = left.filter((id) => held.has(id));
      if (given.length > 0) await client.query(LEAVE, [given, given.map((id) => held.get(id))]);
      for (const id of left) held.delete(id);
      // The keys are tried one by one, up to the first that is free.
      const rows = await sql(client).rows<{ id: string; slot: number | null }>`
        select id, (select slot from generate_series(0, maximum - 1) as slot where pg_try_advisory_lock(${raw(KEY)})
          limit 1) as slot
        from unnest(${wanted.map(({ destinationId }) => destinationId)}::text[],
          ${wanted.map(({ maximum }) => maximum)}::int[]) as wanted(id, maximum)`;
      const taken = rows.flatMap(({ id, slot }) => (slot === null ? [] : [[id, slot] as const]));
      for (const [id, slot] of taken) held.set(id, slot);
      return taken.map(([id]) => id);
    } catch (error) {
      // Locks may have been taken of which nothing is known here.
      this.#connection.drop(client);
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}
