// What workers tell each other and the API about the attempts that they may have under way at destinations.
// Rules: DLV-38, HEALTH-10.
import type { WorkerShare } from '../../core/destination-places.ts';
import { SHARED_FOR_MS } from '../../core/shared-limit.ts';
import type { Queryable } from '../connections/pool.ts';

// What a worker said counts for this long. It says it again before, while it uses the destination.
export const VALID = `interval '30 seconds'`;

/** Whether a shared limit `s` is in use. */
export const IN_USE = `s.seen_at > now() - interval '${SHARED_FOR_MS} milliseconds'`;

// The owner of a lease is the name of its worker, and a number (worker/shards.ts).
const LIVE = `
select greatest(1, count(*) filter (where not is_leaving)
                     + case when bool_or(starts_with(owner, $1 || ':')) then 0 else 1 end)::int as workers,
       (count(*) filter (where not is_leaving and owner < $1))::int as rank,
       case when bool_or(starts_with(owner, $1 || ':')) then count(*)::int end as alive
from relay_leases where expires_at > now()`;

/**
 * How many workers are alive, and which of them this one is.
 * @param name of the worker; it counts before it has a lease itself, but others may not see it then, nor it those that begin with it
 */
export async function workerShare(db: Queryable, name: string): Promise<WorkerShare> {
  const { rows } = await db.query<WorkerShare>(LIVE, [name]);
  return rows[0] ?? { workers: 1, rank: 0, alive: null };
}

// In the order of ids, as a deletion of several destinations locks them.
const NOTE = `
with wanted as (
  select t.id, t.max_concurrency, w.places, s.destination_id is not null as is_shared
  from unnest($2::text[], $3::int[]) as w(id, places) join destinations t on t.id = w.id
  left join destination_shared_limits s on s.destination_id = t.id and ${IN_USE}
  order by t.id
), noted as (
  insert into destination_concurrency (destination_id, worker, places, seen_at)
  select id, $1, places, now() from wanted where places is not null order by id
  on conflict (destination_id, worker) do update set places = excluded.places, seen_at = excluded.seen_at
)
select id as "destinationId", max_concurrency as "maximum", is_shared as "isShared" from wanted`;

/** What a worker has to know of a destination that it uses. */
export interface KnownDestination {
  destinationId: string;
  /** Null: none of its own. */
  maximum: number | null;
  /** Whether its limit is one of all workers together (shared-limits.ts). */
  isShared: boolean;
}

/** A destination that a worker uses; without `places` it has nothing new to say of it. */
export interface UsedDestination {
  destinationId: string;
  /** Attempts that this worker may have under way there by itself. */
  places: number | null;
}

/** Notes what a worker may have under way. @returns of each destination that is still there */
export async function noteConcurrency(
  db: Queryable,
  owner: string,
  used: UsedDestination[],
): Promise<KnownDestination[]> {
  const { rows } = await db.query<KnownDestination>(NOTE, [
    owner,
    used.map(({ destinationId }) => destinationId),
    used.map(({ places }) => places),
  ]);
  return rows;
}

/** Attempts that all workers together may have under way, by destination, where they are fewer than `below`. */
export async function lowConcurrency(db: Queryable, below: number): Promise<Map<string, number>> {
  const { rows } = await db.query<{ id: string; places: number }>(
    `select destination_id as id, sum(places)::int as places from destination_concurrency
     where seen_at > now() - ${VALID} group by destination_id having sum(places) between 1 and $1 - 1`,
    [below],
  );
  return new Map(rows.map(({ id, places }) => [id, places]));
}

/** Removes what workers have not said for a while. Rows that are being written stay. */
export async function forgetConcurrency(db: Queryable): Promise<void> {
  await db.query(
    `delete from destination_concurrency where (destination_id, worker) in (
       select destination_id, worker from destination_concurrency where seen_at < now() - 4 * ${VALID} for update skip locked)`,
  );
}

/**
 * Attempts that all workers together may have under way at a destination now; null: none has used it lately. Between two turns at one
 * nobody has a place for a moment: the next one has one at least.
 */
export async function concurrencyLimit(db: Queryable, destinationId: string): Promise<number | null> {
  const { rows } = await db.query<{ places: number | null }>(
    `select least(min(t.max_concurrency), greatest(1, sum(c.places) + coalesce(min(s.places), 0)))::int as places
     from destination_concurrency c
     join destinations t on t.id = c.destination_id
     left join destination_shared_limits s on s.destination_id = c.destination_id and ${IN_USE}
     where c.destination_id = $1 and c.seen_at > now() - ${VALID} having count(*) > 0`,
    [destinationId],
  );
  return rows[0]?.places ?? null;
}
