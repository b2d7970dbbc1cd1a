// Pauses of routes and destinations: an operator stops their deliveries, which wait as those that a circuit holds.
// The workflow of the circuit ends a pause whose time is over, and resumes what it held.
import { admits, type CircuitState } from '../../core/delivery/circuit.ts';
import { NOW_MS, pauseBlocks, WAKE_CIRCUITS } from '../sql/rules.ts';
import type { Queryable } from '../connections/pool.ts';
import type { BlockedDelivery } from './held-deliveries.ts';
import { raw, sql } from '../connections/statements.ts';

export interface Pause {
  since: Date;
  /** When it ends by itself; null: it does not. */
  until: Date | null;
  reason: string | null;
}

export type Pausable = 'routes' | 'destinations';

const COLUMNS = `paused_since as since, paused_until as until, pause_reason as reason`;

/**
 * Pauses a route or destination, or changes when its pause ends and why it is.
 * @returns undefined: there is none with this id
 */
export async function pause(
  db: Queryable,
  table: Pausable,
  { organizationId, id }: { organizationId: string; id: string },
  { until, reason }: Omit<Pause, 'since'>,
): Promise<Pause | undefined> {
  // The lock keeps the record from being deleted meanwhile: the pause of one that does not exist would end with nothing.
  return sql(db).first<Pause>`
    with record as materialized (
      select id, organization_id from ${raw(table)} where organization_id = ${organizationId} and id = ${id}
      for key share
    ), paused as (
      insert into circuits as c (route_id, organization_id, version, paused_since, paused_until, pause_reason, wake_at)
      select id, organization_id, 1, now(), ${until}::timestamptz, ${reason}::text, now() from record
      on conflict (route_id) do update
        set paused_since = coalesce(c.paused_since, excluded.paused_since), paused_until = excluded.paused_until,
            pause_reason = excluded.pause_reason, release_per_second = null, version = c.version + 1, wake_at = now()
      returning ${raw(COLUMNS)}
    )
    select since, until, reason, ${raw(WAKE_CIRCUITS)} from paused`;
}

/**
 * Ends a pause, if there is one.
 * @param perSecond the rate of what is released now, also without a pause; null: the usual one
 */
export async function resume(
  db: Queryable,
  { organizationId, id }: { organizationId: string; id: string },
  perSecond: number | null,
): Promise<void> {
  await sql(db).run`
    update circuits c
    set paused_since = null, paused_until = null, pause_reason = null, release_per_second = ${perSecond},
        version = version + 1, wake_at = now()
    where organization_id = ${organizationId} and route_id = ${id}
      and (${raw(pauseBlocks('c'))} or ${perSecond}::int is not null)
    returning ${raw(WAKE_CIRCUITS)}`;
}

export async function pausesOf(
  db: Queryable,
  organizationId: string,
  ids: readonly string[],
): Promise<Map<string, Pause>> {
  const rows = await sql(db).rows<Pause & { id: string }>`
    select route_id as id, ${raw(COLUMNS)} from circuits c
    where organization_id = ${organizationId} and route_id = any(${ids}::text[]) and ${raw(pauseBlocks('c'))}`;
  return new Map(rows.map(({ id, ...found }) => [id, found]));
}

interface LastingPause extends Pick<Pause, 'until'> {
  version: number;
  /** By the clock of the database, ms since 1970. */
  readAt: number;
}

/**
 * Ends the pause of a route or destination if its time is over.
 * @returns the pause that lasts; undefined: there is none
 */
export async function outlastPause(db: Queryable, id: string): Promise<LastingPause | undefined> {
  return sql(db).first<LastingPause>`
    with over as (
      update circuits set paused_since = null, paused_until = null, pause_reason = null, version = version + 1
      where route_id = ${id} and paused_until <= now()
      returning route_id
    )
    select paused_until as until, version, ${raw(NOW_MS)} as read_at from circuits c
    where route_id = ${id} and ${raw(pauseBlocks('c'))} and not exists (select from over)`;
}

// The row of a destination has no circuit: it is closed.
const BLOCKING = `
select state, probe_delivery_id as "probeDeliveryId", ${pauseBlocks('c')} as "isPaused"
from circuits c where route_id = any(array[$1, $2]::text[])`;

interface Blocking {
  state: CircuitState;
  probeDeliveryId: string | null;
  isPaused: boolean;
}

export async function isBlocked(
  db: Queryable,
  { routeId, destinationId, deliveryId, inCircuit }: Omit<BlockedDelivery, 'hasWorkflow'>,
): Promise<boolean> {
  const { rows } = await db.query<Blocking>({ name: 'is-blocked', text: BLOCKING, values: [routeId, destinationId] });
  return rows.some(({ state, probeDeliveryId, isPaused }) => {
    const probe = probeDeliveryId === null ? null : { deliveryId: probeDeliveryId };
    return isPaused || (inCircuit && !admits({ state, probe }, deliveryId));
  });
}
