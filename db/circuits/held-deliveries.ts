// Deliveries that a circuit blocks: handed to a failover destination, or held until it closes.
// Rules: ROUTE-52, CIRC-02, CIRC-07.
import { newId, shardOf } from '../../core/ids.ts';
import { deliveriesFinished } from '../../core/metrics/deliveries.ts';
import { afterCommit } from '../after-commit.ts';
import { electProbe } from './circuits.ts';
import { jsonParameter } from '../parameters.ts';
import { countEndings } from '../delivery/figures.ts';
import type { Queryable } from '../connections/pool.ts';
import {
  circuitBlocks,
  failOver,
  FIRST_WAREHOUSE,
  firstEnabled,
  heldRow,
  OPEN,
  outboxRow,
  toOutbox,
  WAITING_STATUS,
  WAKE_RELAYS,
} from '../sql-rules.ts';

/** A primary delivery whose route's circuit does not admit it. */
export interface BlockedDelivery {
  deliveryId: string;
  routeId: string;
  /** Whether its workflow runs and waits for the signal `release`. */
  hasWorkflow: boolean;
}

/** The outcome of a blocked delivery. */
export type Diversion = { status: 'held' } | { status: 'failed_over'; takenOverBy: string };

const REASON = "The circuit of the delivery's route is open";

// The lock on the circuit orders this against its change: either this sees it closed and diverts nothing, or the transaction that
// closes it waits, and then finds the held delivery. A delivery changes only while it is open, as everywhere; one that went to a
// failover destination stops counting in its event and its successor counts instead. No attempt was made, so nothing is added to
// the statistics of destinations; in the figures of the organization it ended.
const DIVERT = `
with input as (
  select * from json_to_recordset($1::json) as i(delivery_id text, route_id text, has_workflow bool, shard int, next_id text, next_shard int)
), circuit as (
  select route_id, state, probe_delivery_id from circuits
  where route_id in (select route_id from input) and state <> 'closed'
  order by route_id for share
), due as (
  select i.*, t.id as target, c.state = 'half_open' and c.probe_delivery_id is null as unprobed
  from input i join circuit c on c.route_id = i.route_id
  left join routes r on r.id = i.route_id
  left join lateral (${firstEnabled('r.failover_destination_ids', 'r.organization_id')}
  ) t on true
  where ${circuitBlocks('c', 'i.delivery_id')}
), changed as (
  update deliveries d
  set status = case when u.target is null then 'circuit_open' else 'failed_over' end,
      error = case when u.target is null then d.error else coalesce(d.error, $2) end,
      error_summary = case when u.target is null or d.error is not null then d.error_summary else $2 end,
      next_attempt_at = null, counted = d.counted and u.target is null,
      finished_at = case when u.target is not null then now() end
  from due u
  where d.id = u.delivery_id and d.status in ${OPEN}
  returning d.id, d.organization_id, d.event_id, d.source_id, d.destination_id, d.priority, u.*
), unqueued as (
  delete from outbox o using changed c
  where ${outboxRow('c')}
), held as (
  insert into held_deliveries as h (route_id, delivery_id, organization_id, event_id, source_id, destination_id, priority, shard, has_workflow)
  select route_id, id, organization_id, event_id, source_id, destination_id, priority, shard, has_workflow
  from changed where target is null
  on conflict (route_id, delivery_id) do update
    set version = h.version + 1, has_workflow = h.has_workflow or excluded.has_workflow
), unheld as (
  delete from held_deliveries h using changed c
  where c.target is not null and ${heldRow('c')}
), ${countEndings('changed', { failed_over: 'target is not null' })}, ${failOver('target', 'destination_id', '$2')}
select id, route_id as "routeId", unprobed, case when target is not null then next_id end as "takenOverBy",
       case when target is not null then ${WAKE_RELAYS} end
from changed`;

/**
 * Holds blocked deliveries, or hands them to a failover destination.
 * @returns the outcome of each; a missing one may be attempted, or has ended
 */
export async function divertBlocked(db: Queryable, blocked: BlockedDelivery[]): Promise<Map<string, Diversion>> {
  const rows = blocked.map(({ deliveryId, routeId, hasWorkflow }) => {
    const nextId = newId('dlv');
    // A delivery that is held keeps its own shard; the failover delivery has the shard of its own id.
    return {
      delivery_id: deliveryId,
      route_id: routeId,
      has_workflow: hasWorkflow,
      shard: shardOf(deliveryId),
      next_id: nextId,
      next_shard: shardOf(nextId),
    };
  });
  const changed = await db.query<{ id: string; routeId: string; unprobed: boolean; takenOverBy: string | null }>(
    DIVERT,
    [jsonParameter(rows), REASON],
  );
  const held = changed.rows.filter(({ takenOverBy }) => takenOverBy === null);
  const unprobed = held.filter((row) => row.unprobed).map(({ routeId }) => routeId);
  afterCommit(db, () => deliveriesFinished.add({ status: 'failed_over' }, changed.rows.length - held.length));
  for (const routeId of new Set(unprobed)) await electOldest(db, routeId);
  return new Map(
    changed.rows.map(({ id, takenOverBy }) => [
      id,
      takenOverBy === null ? { status: 'held' } : { status: 'failed_over', takenOverBy },
    ]),
  );
}

/**
 * Ensures that a half-open circuit has a probe. Otherwise its held deliveries could wait for ever: the search for the next probe,
 * when the circuit became half-open or the last probe ended, may have run right before they were held.
 */
async function electOldest(db: Queryable, routeId: string): Promise<void> {
  const [oldest] = await oldestHeld(db, routeId, { limit: 1 });
  if (oldest) await electProbe(db, routeId, oldest.deliveryId);
}

/** Whether a failover destination is available for deliveries that the circuit of a route blocks. */
export async function hasFailover(db: Queryable, organizationId: string, routeId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `select from routes r cross join lateral (${firstEnabled('r.failover_destination_ids', 'r.organization_id')}
     ) t where r.organization_id = $1 and r.id = $2`,
    [organizationId, routeId],
  );
  return rowCount !== 0;
}

/** A held delivery as its release needs it. */
export interface HeldDelivery {
  deliveryId: string;
  hasWorkflow: boolean;
  version: number;
}

const HELD = `delivery_id as "deliveryId", has_workflow as "hasWorkflow", version`;

/** The deliveries that wait the longest, in order of receipt. */
export async function oldestHeld(
  db: Queryable,
  routeId: string,
  { after = '', limit }: { after?: string; limit: number },
): Promise<HeldDelivery[]> {
  const { rows } = await db.query<HeldDelivery>(
    `select ${HELD} from held_deliveries where route_id = $1 and delivery_id > $2 order by delivery_id limit $3`,
    [routeId, after, limit],
  );
  return rows;
}

/** A delivery, if it is held. */
export async function findHeld(db: Queryable, routeId: string, deliveryId: string): Promise<HeldDelivery | undefined> {
  const { rows } = await db.query<HeldDelivery>(
    `select ${HELD} from held_deliveries where route_id = $1 and delivery_id = $2`,
    [routeId, deliveryId],
  );
  return rows[0];
}

/** How many deliveries of a route are held, counted up to `most`. */
export async function countHeld(db: Queryable, routeId: string, most: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select count(*) from (select from held_deliveries where route_id = $1 limit $2) h',
    [routeId, most],
  );
  return rows[0]?.count ?? 0;
}

// One that was held again since it was read (its version is another) stays.
const RELEASE = `
with gone as (
  delete from held_deliveries h
  using json_to_recordset($2::json) as i(delivery_id text, version int, queue bool)
  where h.route_id = $1 and h.delivery_id = i.delivery_id and h.version = i.version
  returning h.*, i.queue
), freed as (
  update deliveries d set status = ${WAITING_STATUS} from gone g
  where d.id = g.delivery_id and g.queue and d.status = 'circuit_open'
  returning d.id, d.attempt_count
), queued as (
  ${toOutbox('g', { resume: "case when f.attempt_count > 0 then 'lost' end" })}
  from gone g join freed f on f.id = g.delivery_id
  on conflict do nothing
)
select count(*), ${WAKE_RELAYS} from freed`;

/**
 * Ends the hold of deliveries.
 * @param released `queue`: goes (back) to the outbox; the others were signalled
 */
export async function endHold(
  db: Queryable,
  routeId: string,
  released: (HeldDelivery & { queue: boolean })[],
): Promise<void> {
  const rows = released.map(({ deliveryId, version, queue }) => ({ delivery_id: deliveryId, version, queue }));
  await db.query(RELEASE, [routeId, jsonParameter(rows)]);
}

// Held deliveries are released in order, so what is older than the oldest of them has been released.
const RELEASE_STATE = `
select exists (select from circuits where route_id = $1 and state <> 'closed') as opened,
       (select count(*) from (
          select from outbox
          where destination_id = any ((select destination_ids from routes where id = $1)::text[]) and route_id = $1
            and destination_id < ${FIRST_WAREHOUSE}
            and delivery_id < (select min(delivery_id) from held_deliveries where route_id = $1)
            and resume is distinct from 'waiting'
          limit $2) o) as "onTheWay"`;

/**
 * Progress of a release: whether the circuit has opened again, and how many released deliveries have no first result yet.
 * @param most where counting ends
 */
export async function releaseState(
  db: Queryable,
  routeId: string,
  most: number,
): Promise<{ opened: boolean; onTheWay: number }> {
  const { rows } = await db.query<{ opened: boolean; onTheWay: number }>(RELEASE_STATE, [routeId, most]);
  return rows[0] ?? { opened: false, onTheWay: 0 };
}
