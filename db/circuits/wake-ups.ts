// What the workflow of a circuit asks: when it is to be woken (circuits.wake_at), and which delivery is the next probe.
import type { Queryable } from '../connections/pool.ts';
import { dueInTurn, pauseBlocks, OPEN } from '../sql/rules.ts';
import { among, raw, sql } from '../connections/statements.ts';

export interface DueCircuit {
  /** Or the id of a destination that is or was paused. */
  routeId: string;
  organizationId: string;
  /** Null when the route or destination was deleted. */
  name: string | null;
}

export function claimDueCircuits(db: Queryable, limit: number): Promise<DueCircuit[]> {
  // A claim moves the time ahead, like a lease: if this worker dies before it has woken the workflow, another worker
  // does.
  return sql(db).rows<DueCircuit>`
    with due as (
      select c.route_id from circuits c
        join (${dueInTurn('circuits', 'route_id', 'wake_at', limit)}) w on w.route_id = c.route_id
      where c.wake_at <= now() for update of c skip locked
    )
    update circuits c set wake_at = now() + interval '1 minute'
    from due d where c.route_id = d.route_id
    returning c.route_id, c.organization_id,
      coalesce((select name from routes r where r.id = c.route_id),
        (select name from destinations t where t.id = c.route_id)) as name`;
}

/**
 * Sets the next wake-up of the workflow, unless a signal comes first; it has no effect if the circuit changed since
 * `version`.
 * @param wakeAt null: only an event wakes it
 */
export async function setWakeTime(db: Queryable, routeId: string, version: number, wakeAt: Date | null): Promise<void> {
  await sql(db).run`update circuits set wake_at = ${wakeAt} where route_id = ${routeId} and version = ${version}`;
}

/**
 * Nothing is held any more: it is not woken, and the next resumption has the usual rate; no effect if it changed since
 * `version`.
 */
export async function endRelease(db: Queryable, routeId: string, version: number): Promise<void> {
  await sql(db).run`
    update circuits set wake_at = null, release_per_second = null where route_id = ${routeId} and version = ${version}`;
}

/** Removes the circuit of a route that was deleted, or the row of a destination that is not paused any more. */
export async function forgetCircuit(db: Queryable, routeId: string): Promise<void> {
  await sql(db).run`
    delete from circuits c where route_id = ${routeId} and not ${raw(pauseBlocks('c'))}
    and not exists (select from routes where id = ${routeId})`;
}

export async function nextProbe(db: Queryable, routeId: string): Promise<string | undefined> {
  // A disabled destination gets no attempt, and one whose rate limit has a minute's worth waiting may get none for
  // longer than a probe has time. Deliveries to these are probes only when no other one is held: else each of them
  // would keep the other destinations waiting. What is held for paused destinations is not under the route
  // (held-deliveries.ts).
  const [next] = await sql(db).column`
    with later as materialized (
      select t.id from routes r join destinations t on t.id = any(r.destination_ids)
      where r.id = ${routeId} and (not t.enabled or t.rate_limit_per_minute <= (
        select count(*) from (
          select from outbox o where o.organization_id = t.organization_id and o.destination_id = t.id
          limit t.rate_limit_per_minute) waiting))
    )
    (select delivery_id from held_deliveries
     where route_id = ${routeId} and not outside_circuit and destination_id not in (select id from later)
     order by delivery_id limit 1)
    union all
    (select delivery_id from held_deliveries where route_id = ${routeId} and not outside_circuit
     order by delivery_id limit 1)
    limit 1`;
  return next;
}

export async function oldestOpen(db: Queryable, deliveryIds: string[]): Promise<string | undefined> {
  const [oldest] = await sql(db).column`
    select id from deliveries where ${among('id', deliveryIds)} and status in ${raw(OPEN)} order by id limit 1`;
  return oldest;
}
