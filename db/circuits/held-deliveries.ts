// Deliveries that a circuit blocks: handed to a failover destination, or held until it closes. Those of a paused route
// or destination are held until that is resumed.
import { isId, newId, shardOf } from '../../core/text/ids.ts';
import { deliveriesFinished } from '../../core/metrics/deliveries.ts';
import { electProbe } from './circuits.ts';
import { nextProbe } from './wake-ups.ts';
import { jsonParameter, raw, sql } from '../connections/statements.ts';
import { countWithoutAttempt } from '../ledger/entries.ts';
import { afterCommit, type Queryable } from '../connections/pool.ts';
import {
  circuitBlocks,
  endElections,
  failOver,
  FIRST_WAREHOUSE,
  firstEnabled,
  KEYS_LOCKED,
  lockKeys,
  OPEN,
  pauseBlocks,
  toOutbox,
  unhold,
  unqueue,
  WAITING_STATUS,
  WAKE_CIRCUITS,
  WAKE_RELAYS,
} from '../sql/rules.ts';

/** A delivery that the circuit of its route does not admit, or a pause. */
export interface BlockedDelivery {
  deliveryId: string;
  routeId: string | null;
  destinationId: string;
  /** Whether the state of its route's circuit counts for it: not for a failover, nor for a delivery to a warehouse. */
  inCircuit: boolean;
  /** Whether its workflow runs and waits for the signal `release`. */
  hasWorkflow: boolean;
}

/** The outcome of a blocked delivery; `pausedBy`: what is paused, when it is not the circuit that holds it. */
export type Diversion =
  | { status: 'held'; pausedBy?: 'route' | 'destination' }
  | { status: 'failed_over'; takenOverBy: string };

const REASON = "The route's circuit breaker is open";

// The lock on the circuit orders this against its change: either this sees it closed and diverts nothing, or the
// transaction that closes it waits, and then finds the held delivery. A delivery changes only while it is open, as
// everywhere; one that went to a failover destination stops counting in its event and its successor counts instead. No
// attempt was made, so nothing is added to the statistics of destinations; in the figures of the organization it ended.
// A pause hands nothing over, and holds what the state of the circuit does not concern, too. So it comes before the
// circuit; and what waits for a paused destination is not in the way of the circuit's other destinations, nor is it its
// probe any longer.
const DIVERT = `
with input as (
  select * from json_to_recordset($1::json) as i(delivery_id text, route_id text, at_destination text, in_circuit bool,
    has_workflow bool, shard int, next_id text, next_shard int)
), circuit as (
  select route_id as id, state, probe_delivery_id, paused_since from circuits c
  where route_id in (select route_id from input union all select at_destination from input)
    and (state <> 'closed' or ${pauseBlocks('c')})
  order by route_id for share
), due as (
  select i.*, t.id as target, b.holder, b.is_paused, b.unprobed
  from input i
  cross join lateral (
    select c.id as holder, ${pauseBlocks('c')} as is_paused,
           not ${pauseBlocks('c')} and c.state = 'half_open' and c.probe_delivery_id is null as unprobed
    from circuit c
    where (c.id = i.route_id and (${pauseBlocks('c')} or i.in_circuit and ${circuitBlocks('c', 'i.delivery_id')}))
       or (c.id = i.at_destination and ${pauseBlocks('c')})
    order by ${pauseBlocks('c')} desc, c.id = i.at_destination limit 1
  ) b
  left join routes r on r.id = i.route_id and not b.is_paused
  left join lateral (${firstEnabled('r.failover_destination_ids', 'r.organization_id')}
  ) t on true
), ${lockKeys(`
  select unnest(array[d.destination_id, u.target]) as destination, d.order_hash as hash
  from due u join deliveries d on d.id = u.delivery_id
  where u.target is not null and d.order_number is not null`)}, changed as (
  update deliveries d
  set status = case when u.target is null then 'circuit_open' else 'failed_over' end,
      error = case when u.target is null then d.error else coalesce(d.error, $2) end,
      error_summary = case when u.target is null or d.error is not null then d.error_summary else $2 end,
      next_attempt_at = null, counted = d.counted and u.target is null,
      finished_at = case when u.target is not null then now() end
  from due u
  where d.id = u.delivery_id and d.status in ${OPEN} and ${KEYS_LOCKED}
  returning d.id, d.organization_id, d.event_id, d.source_id, d.destination_id, d.priority, d.route_version,
    d.transform_version, d.order_hash, d.order_key, u.*
), unqueued as (
  ${unqueue('changed')}
), held as (
  insert into held_deliveries as h (route_id, delivery_id, organization_id, event_id, source_id, destination_id,
                                    priority, shard, has_workflow, outside_circuit)
  select holder, id, organization_id, event_id, source_id, destination_id, priority, shard, has_workflow, not in_circuit
  from changed where target is null
  on conflict (route_id, delivery_id) do update
    set version = h.version + 1, has_workflow = h.has_workflow or excluded.has_workflow
), unheld as (
  ${unhold('changed', '(e.target is not null or h.route_id <> e.holder)')}
), ${endElections('changed', 'e.holder <> c.route_id')},
  ${countWithoutAttempt('changed', { failed_over: 'target is not null' })},
${failOver('target', 'destination_id', '$2')}
select id, holder, is_paused as "isPaused", unprobed, case when target is not null then next_id end as "takenOverBy",
       case when target is not null then ${WAKE_RELAYS} end, case when exists (select from unelected)
         then ${WAKE_CIRCUITS} end
from changed`;

/**
 * Holds blocked deliveries, or hands them to a failover destination.
 * @returns the outcome of each; a missing one may be attempted, or has ended
 */
export async function divertBlocked(db: Queryable, blocked: BlockedDelivery[]): Promise<Map<string, Diversion>> {
  const rows = blocked.map(({ deliveryId, routeId, destinationId, inCircuit, hasWorkflow }) => {
    const nextId = newId('dlv');
    // A delivery that is held keeps its own shard; the failover delivery has the shard of its own id.
    return {
      delivery_id: deliveryId,
      route_id: routeId,
      at_destination: destinationId,
      in_circuit: inCircuit,
      has_workflow: hasWorkflow,
      shard: shardOf(deliveryId),
      next_id: nextId,
      next_shard: shardOf(nextId),
    };
  });
  const changed = await db.query<Diverted>(DIVERT, [jsonParameter(rows), REASON]);
  const held = changed.rows.filter(({ takenOverBy }) => takenOverBy === null);
  const unprobed = held.filter((row) => row.unprobed).map(({ holder }) => holder);
  afterCommit(db, () => deliveriesFinished.add({ status: 'failed_over' }, changed.rows.length - held.length));
  for (const routeId of new Set(unprobed)) await electOldest(db, routeId);
  return new Map(changed.rows.map((row) => [row.id, diversionOf(row)]));
}

interface Diverted {
  id: string;
  holder: string;
  isPaused: boolean;
  unprobed: boolean;
  takenOverBy: string | null;
}

function diversionOf({ holder, isPaused: byPause, takenOverBy }: Diverted): Diversion {
  if (takenOverBy !== null) return { status: 'failed_over', takenOverBy };
  if (!byPause) return { status: 'held' };
  return { status: 'held', pausedBy: isId('rte', holder) ? 'route' : 'destination' };
}

/**
 * Ensures that a half-open circuit has a probe. Otherwise its held deliveries could wait for ever: the search for the
 * next probe, when the circuit became half-open or the last probe ended, may have run right before they were held.
 */
async function electOldest(db: Queryable, routeId: string): Promise<void> {
  const next = await nextProbe(db, routeId);
  if (next !== undefined) await electProbe(db, routeId, next);
}

export async function hasFailover(db: Queryable, organizationId: string, routeId: string): Promise<boolean> {
  return sql(db).any`
    select from routes r cross join lateral (${raw(firstEnabled('r.failover_destination_ids', 'r.organization_id'))}
    ) t where r.organization_id = ${organizationId} and r.id = ${routeId}`;
}

export interface HeldDelivery
  extends Pick<BlockedDelivery, 'deliveryId' | 'destinationId' | 'inCircuit' | 'hasWorkflow'> {
  version: number;
}

const HELD = 'delivery_id, destination_id, not outside_circuit as in_circuit, has_workflow, version';

/**
 * The deliveries that wait the longest, in order of receipt.
 * @param routeId or the id of a destination that is or was paused, here and below
 * @param destinationIds only deliveries to these
 */
export async function oldestHeld(
  db: Queryable,
  routeId: string,
  { after = '', limit, destinationIds = null }: { after?: string; limit: number; destinationIds?: string[] | null },
): Promise<HeldDelivery[]> {
  return sql(db).rows<HeldDelivery>`
    select ${raw(HELD)} from held_deliveries
    where route_id = ${routeId} and delivery_id > ${after}
      and (${destinationIds}::text[] is null or destination_id = any(${destinationIds}::text[]))
    order by delivery_id limit ${limit}`;
}

/** Deliveries for which the state of the circuit does not count, in order of receipt. */
export async function heldOutsideCircuit(db: Queryable, routeId: string, limit: number): Promise<HeldDelivery[]> {
  return sql(db).rows<HeldDelivery>`
    select ${raw(HELD)} from held_deliveries where route_id = ${routeId} and outside_circuit
    order by delivery_id limit ${limit}`;
}

export async function findHeld(db: Queryable, routeId: string, deliveryId: string): Promise<HeldDelivery | undefined> {
  return sql(db).first<HeldDelivery>`
    select ${raw(HELD)} from held_deliveries where route_id = ${routeId} and delivery_id = ${deliveryId}`;
}

export async function countHeld(db: Queryable, routeId: string, most: number): Promise<number> {
  return sql(db).value<number>`
    select count(*) from (select from held_deliveries where route_id = ${routeId} limit ${most}) h`;
}

/**
 * Ends the hold of deliveries.
 * @param released `queue`: goes (back) to the outbox; the others were signalled
 */
export async function endHold(
  db: Queryable,
  routeId: string,
  released: (HeldDelivery & { queue: boolean })[],
): Promise<void> {
  const columns = {
    ...{ route_id: 'f.route_id', failover_of: 'f.failover_of', order_hash: 'f.order_hash' },
    resume: "case when f.attempt_count > 0 then 'lost' end",
  };
  const rows = released.map(({ deliveryId, version, queue }) => ({ delivery_id: deliveryId, version, queue }));
  // One that was held again since it was read (its version is another) stays.
  await sql(db).run`
    with gone as (
      delete from held_deliveries h
      using json_to_recordset(${jsonParameter(rows)}::json) as i(delivery_id text, version int, queue bool)
      where h.route_id = ${routeId} and h.delivery_id = i.delivery_id and h.version = i.version
      returning h.*, i.queue
    ), left_alone as (
      insert into retrying_deliveries (delivery_id, organization_id, destination_id)
      select delivery_id, organization_id, destination_id from gone where not queue on conflict do nothing
    ), freed as (
      update deliveries d set status = ${raw(WAITING_STATUS)} from gone g
      where d.id = g.delivery_id and g.queue and d.status = 'circuit_open'
      returning d.id, d.route_id, d.failover_of, d.attempt_count, d.order_hash
    ), queued as (
      ${raw(toOutbox('g', columns))}
      from gone g join freed f on f.id = g.delivery_id
      on conflict do nothing
    )
    select count(*), ${raw(WAKE_RELAYS)} from freed`;
}

interface ReleaseState {
  stopped: boolean;
  perSecond: number;
  /** How many resumed deliveries have no first result yet, counted up to `perSecond`. */
  onTheWay: number;
}

/** @param usual how many are resumed per second unless an operator has set another rate */
export async function releaseState(db: Queryable, routeId: string, usual: number): Promise<ReleaseState> {
  // Held deliveries are resumed in order, so what is older than the oldest of them has been resumed. Those to a
  // destination with a rate limit are started in order by that: they would stop those to the other destinations.
  return sql(db).only<ReleaseState>`
    with rate as materialized (
      select coalesce((select release_per_second from circuits where route_id = ${routeId}),
        ${usual}::int) as per_second
    )
    select exists (select from circuits c
             where route_id = ${routeId} and (state <> 'closed' or ${raw(pauseBlocks('c'))})) as stopped,
           (select per_second from rate) as per_second,
           (select count(*) from (
              select from destinations t
              cross join lateral (
                select from outbox o
                where o.organization_id = t.organization_id and o.destination_id = t.id
                  and (o.route_id = ${routeId} or t.id = ${routeId})
                  and o.delivery_id < (select min(delivery_id) from held_deliveries where route_id = ${routeId})
                  and o.resume is distinct from 'waiting'
              ) released
              where t.id = any (coalesce((select destination_ids from routes where id = ${routeId}),
                array[${routeId}]))
                and t.rate_limit_per_minute is null and t.id < ${raw(FIRST_WAREHOUSE)}
              limit (select per_second from rate)) o) as on_the_way`;
}
