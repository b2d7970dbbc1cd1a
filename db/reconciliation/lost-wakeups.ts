// Finds rows whose wake-up time was lost: circuits, held deliveries, files of warehouses. Normally a lease wakes
// each (docs/how-a-webhook-travels.md).
import type { Queryable } from '../connections/pool.ts';
import { hops, pauseBlocks, UNDER_WAY, WAKE_CIRCUITS } from '../sql-rules.ts';

/** Circuits that are not closed, and pauses, that only their workflow can continue; in order of their ids. */
export async function sleepingCircuits(db: Queryable, after: string, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select route_id as id from circuits c
     where wake_at is null and (state <> 'closed' or ${pauseBlocks('c')}) and route_id > $1 order by route_id limit $2`,
    [after, limit],
  );
  return rows.map((row) => row.id);
}

/** Makes a worker start the workflows of circuits, even when one is about to sleep. @returns those without a wake-up time */
export async function wakeCircuits(db: Queryable, routeIds: string[]): Promise<string[]> {
  if (routeIds.length === 0) return [];
  const { rows } = await db.query<{ id: string }>(
    `with asleep as (
       -- in the order in which results change them (db/circuits/circuits.ts), so that neither waits for the other
       select route_id from circuits where route_id = any($1::text[]) and wake_at is null order by route_id for update
     )
     update circuits c set version = version + 1, wake_at = now() from asleep a where c.route_id = a.route_id
     returning c.route_id as id, ${WAKE_CIRCUITS}`,
    [routeIds],
  );
  return rows.map((row) => row.id);
}

// A circuit that releases has a time to be woken until nothing is held.
const FORGOTTEN_HOLDS = `
with recursive ${hops('route', 'held_deliveries', 'route_id')}
insert into circuits as c (route_id, organization_id, state, version, wake_at)
select r.id, (select organization_id from held_deliveries where route_id = r.id limit 1), 'closed', 1, now()
from route r left join circuits known on known.route_id = r.id
where r.id is not null and (known.route_id is null or (known.state = 'closed' and known.wake_at is null))
order by r.id
on conflict (route_id) do update set version = c.version + 1, wake_at = now() where c.state = 'closed' and c.wake_at is null
returning route_id as id, ${WAKE_CIRCUITS}`;

/** Starts the release of deliveries that are held by a closed or deleted circuit. @returns the routes */
export async function wakeForgottenHolds(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(FORGOTTEN_HOLDS);
  return rows.map((row) => row.id);
}

/** Schedules warehouses that have an unfinished batch but no wake-up. @returns the destinations */
export async function wakeForgottenBatches(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `insert into warehouse_flushes (destination_id, organization_id, due_at)
     select distinct on (destination_id) destination_id, organization_id, now() from warehouse_batches b
     where b.status in ${UNDER_WAY}
       and not exists (select from warehouse_flushes f where f.destination_id = b.destination_id)
     order by destination_id
     on conflict do nothing returning destination_id as id`,
  );
  return rows.map((row) => row.id);
}
