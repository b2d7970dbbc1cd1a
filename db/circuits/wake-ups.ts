// When the workflow of a circuit is to be woken, and by whom; and the end of what it was woken for (circuits.wake_at).
import type { Queryable } from '../connections/pool.ts';
import { dueInTurn, pauseBlocks } from '../sql-rules.ts';

/** A circuit whose workflow is to be woken. */
export interface DueCircuit {
  /** Or the id of a destination that is or was paused. */
  routeId: string;
  organizationId: string;
  /** Null when the route or destination was deleted. */
  name: string | null;
}

// A claim moves the time ahead, like a lease: if this worker dies before it has woken the workflow, another worker does.
const CLAIM_DUE = `
with due as (
  select c.route_id from circuits c join (${dueInTurn('circuits', 'route_id', 'wake_at', '$1')}) w on w.route_id = c.route_id
  where c.wake_at <= now() for update of c skip locked
)
update circuits c set wake_at = now() + interval '1 minute'
from due d where c.route_id = d.route_id
returning c.route_id as "routeId", c.organization_id as "organizationId",
  coalesce((select name from routes r where r.id = c.route_id), (select name from destinations t where t.id = c.route_id)) as name`;

/** Claims circuits whose workflow is to be woken, organization by organization, the longest overdue first. */
export async function claimDueCircuits(db: Queryable, limit: number): Promise<DueCircuit[]> {
  const { rows } = await db.query<DueCircuit>(CLAIM_DUE, [limit]);
  return rows;
}

/**
 * Sets the next wake-up of the workflow, unless a signal comes first; it has no effect if the circuit changed since `version`.
 * @param wakeAt null: only an event wakes it
 */
export async function setWakeTime(db: Queryable, routeId: string, version: number, wakeAt: Date | null): Promise<void> {
  await db.query('update circuits set wake_at = $3 where route_id = $1 and version = $2', [routeId, version, wakeAt]);
}

/** Nothing is held any more: it is not woken, and the next release has the usual rate; no effect if it changed since `version`. */
export async function endRelease(db: Queryable, routeId: string, version: number): Promise<void> {
  await db.query('update circuits set wake_at = null, release_per_second = null where route_id = $1 and version = $2', [
    routeId,
    version,
  ]);
}

/** Removes the circuit of a route that was deleted, or the row of a destination that is not paused any more. */
export async function forgetCircuit(db: Queryable, routeId: string): Promise<void> {
  await db.query(
    `delete from circuits c where route_id = $1 and not ${pauseBlocks('c')} and not exists (select from routes where id = $1)`,
    [routeId],
  );
}
