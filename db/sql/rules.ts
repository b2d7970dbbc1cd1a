// Rules that several statements share, each defined once, as fragments of SQL. They are not functions of the database,
// so that the planner sees the whole statement.
import { OPEN_STATUSES } from '../../core/delivery/delivery.ts';
import { idFloor, idTime } from '../../core/text/ids.ts';
import { TO_UPLOAD_STATUSES } from '../../core/warehouse/batching.ts';
import type { Queryable } from '../connections/pool.ts';
import { type Fragment, fragment, part, raw, sql } from '../connections/statements.ts';

/** A list for `in`. */
export const quoted = (values: readonly string[]): string => `(${values.map((value) => `'${value}'`).join(', ')})`;

/** The statuses of a delivery that has not ended: `status in ${OPEN}`. So with the others. */
export const OPEN = quoted(OPEN_STATUSES);
/** Of a warehouse's batch whose file has not been uploaded. */
export const TO_UPLOAD = quoted(TO_UPLOAD_STATUSES);
/** Of a warehouse's batch that is frozen and has not ended. */
export const UNDER_WAY = quoted([...TO_UPLOAD_STATUSES, 'uploaded']);

/** The status of an open delivery `d` that no circuit holds. */
export const WAITING_STATUS = `case when d.attempt_count = 0 then 'pending' else 'retrying' end`;

export const PRIMARY_DESTINATION = 'coalesce(d.original_destination_id, d.destination_id)';

/** The smallest id of a warehouse: those of all other destinations come before it. */
export const FIRST_WAREHOUSE = `'dst_wh_'`;

/** Whether an operator has paused a route or destination. @param circuit the alias of its row of `circuits` */
export const pauseBlocks = (circuit: string): string => `${circuit}.paused_since is not null`;

/**
 * Whether a circuit blocks a primary delivery (`admits` of core/delivery/circuit.ts says the opposite). An open one has
 * no probe.
 * @param circuit the alias of a row of `circuits`
 * @param deliveryId an expression
 */
export const circuitBlocks = (circuit: string, deliveryId: string): string =>
  `(${circuit}.state <> 'closed' and ${circuit}.probe_delivery_id is distinct from ${deliveryId})`;

/**
 * The failover destination of a delivery: the first that is available, and not paused if another is not; no row when
 * there is none.
 * @param ids an expression of type text[], in the order of choice; null for none
 * @param organizationId an expression: destinations of others do not count
 */
export const firstEnabled = (ids: string, organizationId: string): string => `
    select f.id from unnest(${ids}) with ordinality as f(id, position)
    join destinations t on t.id = f.id and t.organization_id = ${organizationId} and t.enabled
    order by exists (select from circuits p where p.route_id = f.id and ${pauseBlocks('p')}), f.position limit 1`;

/** The version of the transform that a route has now, null without one. @param route the alias of a row of `routes` */
export const transformVersion = (route: string): string =>
  `(select tf.version from transforms tf where tf.id = ${route}.transform_id)`;

/**
 * CTEs for a statement with a CTE `changed` of deliveries, which has their columns for ordering, `next_id` and
 * `next_shard`: `taking_over` creates the deliveries that take over from them, and `queued` puts these into the outbox.
 * @param target the column of `changed` with the destination that takes over; null for none
 * @param original an expression: the destination the event was to go to first
 * @param reason an expression: why it is not delivered there
 */
export const failOver = (target: string, original: string, reason: string): string => `taking_over as (
  insert into deliveries (id, organization_id, event_id, source_id, route_id, route_version, transform_version,
                          destination_id, priority, status, counted, failover_of, original_destination_id,
                          failover_reason, order_hash, order_key)
  select next_id, organization_id, event_id, source_id, route_id, route_version, transform_version,
         ${target}, priority, 'pending', true, id, ${original}, ${reason}, ${orderedAt(target)}
  from changed where ${target} is not null order by ${target} collate "C", order_hash returning 1
), queued as (
  ${toOutbox('c', { delivery_id: 'c.next_id', destination_id: `c.${target}`, shard: 'c.next_shard', failover_of: 'c.id', order_hash: `case when c.${target} < ${FIRST_WAREHOUSE} then c.order_hash end` })}
  from changed c where c.${target} is not null and (select count(*) from taking_over) > 0
)`;

/** All workers listen on this channel: for deliveries, for what else becomes due, and for workers that come or go. */
export const CHANNEL = 'hookyard_outbox';
export const WAKE_RELAYS = `pg_notify('${CHANNEL}', '')::text`;
export const WAKE_WORKERS = `pg_notify('${CHANNEL}', 'workers')::text`;
/** Makes the workers look at what is due (db/operations/due.ts), circuits for example, when the statement commits. */
export const WAKE_CIRCUITS = `pg_notify('${CHANNEL}', 'due')::text`;

/** Columns of `deliveries` that put one in order. Files of a warehouse are written in the order of receipt anyway. */
const orderedAt = (target: string): string =>
  `case when ${target} < ${FIRST_WAREHOUSE} then order_hash end,
    case when ${target} < ${FIRST_WAREHOUSE} then order_key end`;

/**
 * A CTE `locked_keys` that locks the rows of ordering keys, in the order in which all statements lock several, and
 * before deliveries: what changes these has the condition `KEYS_LOCKED`. What another transaction has committed during
 * the wait is not seen by the statement.
 * @param wanted a query with columns `destination` and `hash`, which may be null
 */
export const lockKeys = (wanted: string | Fragment): Fragment => fragment`locked_keys as materialized (
  select found.key_hash from (
    select distinct destination collate "C" as destination, hash from (${part(wanted)}) w where hash is not null
    order by 1, 2
  ) wanted cross join lateral (
    select k.key_hash from order_keys k
    where k.destination_id = wanted.destination and k.key_hash = wanted.hash limit 1 for update
  ) found
)`;
/** A condition that makes the statement lock the keys first. */
export const KEYS_LOCKED = '(select count(*) from locked_keys) >= 0';

const OUTBOX_COLUMNS = 'delivery_id destination_id organization_id event_id source_id route_id priority shard'.split(
  ' ',
);
type OutboxColumn = 'delivery_id' | 'destination_id' | 'route_id' | 'shard' | 'failover_of' | 'resume' | 'order_hash';

/**
 * Puts deliveries into the outbox: an insert into `outbox as o`, up to its `from`.
 * @param row the alias of the rows
 * @param values expressions for columns that differ from the column of the same name; `failover_of`, `resume` and
 * `order_hash` are null by default
 * @param areHeads whether rows with an ordering key are the heads of their keys, and have the shard of the key:
 * otherwise `admit_head` drops those that are not, and sets the shard
 */
export function toOutbox(row: string, values: Partial<Record<OutboxColumn, string>>, areHeads = false): string {
  const all = { ...Object.fromEntries(OUTBOX_COLUMNS.map((column) => [column, `${row}.${column}`])), ...values };
  const hash = values.order_hash;
  if (hash !== undefined && !areHeads) all.shard = `case when ${hash} is null then ${all.shard} end`;
  return `insert into outbox as o (${Object.keys(all).join(', ')})
  select ${Object.values(all).join(', ')}`;
}

/**
 * Condition: a row `o` of the outbox belongs to a delivery.
 * @param delivery the alias of a row with id, organization_id, destination_id and priority
 */
export const outboxRow = (delivery: string): string =>
  `((o.organization_id, o.destination_id, o.priority, o.delivery_id)
    = (${delivery}.organization_id, ${delivery}.destination_id, ${delivery}.priority, ${delivery}.id))`;

/**
 * Condition: a row `h` of `held_deliveries` belongs to a delivery: its route holds it, or its destination, which is
 * paused.
 * @param delivery the alias of a row with id, route_id and destination_id
 */
export const heldRow = (delivery: string): string =>
  `(h.route_id = any(array[${delivery}.route_id, ${delivery}.destination_id]) and h.delivery_id = ${delivery}.id)`;

// Each row is looked up by its key, whatever PostgreSQL knows of the table: a join with a table that was empty when the
// statement was planned would read all that waits, for each group.
const deleteByKey = (table: string, deliveries: string | Fragment, condition: string, most: number): Fragment =>
  fragment`delete from ${raw(table)} where ctid = any(array(
  select found.ctid from ${part(deliveries)} e cross
    join lateral (select ctid from ${raw(table)} where ${raw(condition)} limit ${raw(most)}) found
))`;

/**
 * Deletes the rows of the outbox that belong to deliveries.
 * @param deliveries a CTE, or a query in brackets, with the columns of `outboxRow`; its rows are `e` in the condition
 * @param condition of `e` and of the row `o` of the outbox
 */
export const unqueue = (deliveries: string | Fragment, condition = 'true'): Fragment =>
  deleteByKey('outbox o', deliveries, `${outboxRow('e')} and ${condition}`, 1);

/** Deletes their rows of `held_deliveries`, as `unqueue` does. @param deliveries with the columns of `heldRow` */
export const unhold = (deliveries: string | Fragment, condition = 'true'): Fragment =>
  deleteByKey('held_deliveries h', deliveries, `${heldRow('e')} and ${condition}`, 2);

/**
 * A CTE `unelected`: deliveries that make no attempt now are no probes any more, so that the next one is elected at
 * once.
 * @param deliveries the CTE of these
 * @param condition of a row `e` of it and of the row `c` of `circuits`
 */
export const endElections = (deliveries: string, condition = 'true'): string => `unelected as (
  update circuits c set probe_delivery_id = null, probe_until = null, version = c.version + 1, wake_at = now()
  from ${deliveries} e where c.probe_delivery_id = e.id and ${condition}
  returning c.route_id
)`;

/**
 * CTEs `unqueued`, `unheld` and `unelected`: remove ended deliveries from the outbox and from the held ones, and end
 * their elections.
 * @param ended the CTE of these deliveries
 */
export const noLongerWaiting = (ended: string): string => `unqueued as (
  ${unqueue(ended)}
), unheld as (
  ${unhold(ended)}
), ${endElections(ended)}`;

/**
 * The keys of the rows of a table that are due, for a claim: organizations take turns, each with its longest overdue
 * row. The claim locks the rows and checks again that they are due: another one may have taken them.
 * @param key the columns of its primary key
 * @param at the column that says when a row is due
 */
export const dueInTurn = (table: string, key: string, at: string, limit: number): Fragment => {
  const [row, due] = [raw(key), raw(at)];
  return fragment`
  select ${row} from (
    select ${row}, ${due}, row_number() over (partition by organization_id order by ${due}) as turn
    from ${raw(table)} where ${due} <= now()
  ) waiting order by turn, ${due} limit ${limit}`;
};

/**
 * A recursive CTE with a column `id`: the values of a column in order, and a null at the end. It hops through the index
 * that begins with the column, one probe for each value, so its cost does not follow the number of rows.
 * @param above an expression: only values above it
 * @param within a condition on rows `n`
 */
export function hops(
  name: string,
  table: string,
  column: string,
  { above, within }: { above?: string | undefined; within?: string } = {},
): string {
  const next = (after: string | undefined): string => {
    const bounds = [within, after && `n.${column} > ${after}`].filter(Boolean);
    const where = bounds.length > 0 ? `where ${bounds.join(' and ')} ` : '';
    return `(select n.${column} from ${table} n ${where}order by n.${column} limit 1)`;
  };
  return `${name}(id) as (
  ${next(above)}
  union all
  select ${next('last.id')} from ${name} last where last.id is not null
)`;
}

/**
 * CTEs of a recursive statement: destinations with rows in the outbox, with columns `organization_id` and `id`.
 * @param above an expression: only ids above it
 */
export const queuedDestinations = (
  name: string,
  above?: string,
): string => `${hops('queued_organization', 'outbox', 'organization_id')}, ${name} as (
  select o.id as organization_id, d.id from queued_organization o
  cross join lateral (
    with recursive ${hops('hop', 'outbox', 'destination_id', { above, within: 'n.organization_id = o.id' })}
    select id from hop where id is not null
  ) d
)`;

const nameOf = (kind: 'source' | 'route' | 'destination'): string =>
  `case when issues.${kind}_id is not null then jsonb_build_object('id', issues.${kind}_id, 'name', (
     select name from ${kind}s n where n.id = issues.${kind}_id and n.organization_id = issues.organization_id))
   end as ${kind}`;
/** Columns `source`, `route` and `destination` of `issues`, each a `Named` with its name as it is now, or null. */
export const ISSUE_NAMES = `${nameOf('source')}, ${nameOf('route')}, ${nameOf('destination')}`;

/**
 * For a transaction that joins lists of hundreds of rows: PostgreSQL takes lists for short ones, and would compare each
 * row of one with each of the other.
 */
export const JOIN_LISTS = `set_config('enable_nestloop', 'off', true)`;

/**
 * For a transaction that reads the newest deliveries of an event: PostgreSQL expects few deliveries of any event, and
 * would read all of them as a bitmap, or all of a small day, and sort them.
 */
export const READ_IN_ORDER = `set_config('enable_bitmapscan', 'off', true), set_config('enable_seqscan', 'off', true)`;

/** Advisory locks of the database: any numbers, of which no two are the same. */
export const LOCKS = {
  migration: 4_865_796_1,
  firstOrganization: 4_865_796_2,
  /** Partitions are created by one process at a time (make_partition). */
  partitions: 4_865_796_4,
  messages: 4_865_796_8,
  /** With the hash of a destination's id: one file of a warehouse takes its place in the order at a time. */
  warehouseOrder: 4_865_796_9,
  ledger: 4_865_796_10,
};

// Clocks of processes differ from that of the database and from each other, and jump when they are set. So times that
// one process writes and another compares use the database clock, and durations inside one process the monotonic clock
// (performance.now).

/**
 * What the clocks of processes that make ids may differ by, ms: each is an hour off at most, and some time passes in
 * between.
 */
const CLOCK_SKEW_MS = 3 * 3_600_000;

/** SQL expression: the time of the database clock, whole milliseconds since 1970. */
export const NOW_MS = 'floor(extract(epoch from clock_timestamp()) * 1000)::float8';

/** The time of the database clock, whole milliseconds since 1970. */
export async function databaseTime(db: Queryable): Promise<number> {
  return sql(db).value<number>`select ${raw(NOW_MS)}`;
}

/** The smallest id of a delivery of events from a time on, ms: it may be made by a process whose clock is behind. */
export const deliveriesFrom = (ms: number): string => idFloor('dlv', Math.max(0, ms - CLOCK_SKEW_MS));

/** No delivery is older than its event, apart from clock differences of processes; there is no upper bound. */
export const firstDeliveryOf = (eventId: string): string => deliveriesFrom(idTime(eventId));

/**
 * The destination by which a chain of deliveries is known: the one that the event was to go to first. With a route's
 * destinations, a failover destination among them has a chain of its own.
 */
export const chainOf = (delivery: string, route: string): string =>
  `coalesce(case when ${delivery}.destination_id = any(${route}.destination_ids) then null
    else ${delivery}.original_destination_id end, ${delivery}.destination_id)`;

/**
 * `from` and `where` of the replays `x` of a delivery: the later ones of its chain that were not skipped.
 * @param delivery the alias of its row
 * @param from no id of such a delivery is below
 */
export const replaysOf = (delivery: string, from: string): Fragment => {
  const d = raw(delivery);
  return fragment`from deliveries x
    left join routes xr on xr.id = x.route_id and xr.organization_id = x.organization_id
    where x.event_id = ${d}.event_id and x.id > ${d}.id and x.id >= ${from} and x.replay_of is not null
      and x.status <> 'skipped' and x.route_id is not distinct from ${d}.route_id
      and ${raw(chainOf('x', 'xr'))} = ${raw(chainOf(delivery, 'xr'))}`;
};
