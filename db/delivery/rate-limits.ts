// Rate limits per destination, kept in PostgreSQL so that they hold across all workers, for retries and replays too.
import { shardOf } from '../../core/text/ids.ts';
import { databaseTime, OPEN, toOutbox, WAITING_STATUS, WAKE_RELAYS } from '../sql/rules.ts';
import type { Queryable } from '../connections/pool.ts';
import { raw, sql } from '../connections/statements.ts';

const MINUTE_MS = 60_000;

export interface Slot {
  /** From now, ms; negative when it has passed. */
  inMs: number;
  /** By the clock of the database, milliseconds since 1970. */
  at: number;
}

/** The time between two slots of a destination, ms. */
export function slotInterval(perMinute: number): number {
  return MINUTE_MS / perMinute;
}

/**
 * Reserves the next slot of a destination.
 * @param perMinute the destination's limit
 * @param withinMs no slot later than this from now
 * @returns null when none is free within that time
 */
export async function reserveSlot(
  db: Queryable,
  destinationId: string,
  perMinute: number,
  withinMs: number,
): Promise<Slot | null> {
  // The row lock orders reservations. A slot is one emission interval (a minute divided by the limit) after the one
  // before it and never in the past, so slots are evenly spaced and a pause gives no burst.
  const reserve = () => sql(db).find<Slot>`
    with slot as (
      select destination_id, greatest(next_at, clock_timestamp()) as at from rate_limits
      where destination_id = ${destinationId} for update
    )
    update rate_limits l set next_at = s.at + make_interval(secs => ${slotInterval(perMinute)}::float8 / 1000)
    from slot s where l.destination_id = s.destination_id
      and s.at <= clock_timestamp() + make_interval(secs => ${withinMs}::float8 / 1000)
    returning greatest(0, extract(epoch from s.at - clock_timestamp()) * 1000)::float8 as in_ms,
              ceil(extract(epoch from s.at) * 1000)::float8 as at`;
  const slot = await reserve();
  if (slot) return slot;
  // No slot soon, or no row yet: of several concurrent callers one creates it, and all of them try again.
  await sql(db).run`
    insert into rate_limits (destination_id, next_at)
    select id, clock_timestamp() from destinations where id = ${destinationId}
    on conflict do nothing`;
  return reserve();
}

/**
 * Puts a delivery, whose workflow waits, into the outbox, among the new deliveries of its destination. A relay signals
 * the workflow when its turn has come; the row leaves the outbox when the attempt has its slot. So waiting is free, the
 * order is kept, a new limit applies at once, and a cancelled delivery takes no slot.
 * @returns false when the delivery has ended
 */
export async function queueForTurn(db: Queryable, deliveryId: string): Promise<boolean> {
  const own = { delivery_id: 'w.id', failover_of: 'w.failover_of', order_hash: 'w.order_hash', resume: "'waiting'" };
  // Locks the delivery before its row in the outbox, like all statements that end deliveries. `next_attempt_at` is for
  // display only: the earliest time.
  return sql(db).any`
    with waiting as (
      update deliveries d
      set status = ${raw(WAITING_STATUS)}, next_attempt_at = greatest(now(),
        (select next_at from rate_limits l where l.destination_id = d.destination_id))
      where d.id = ${deliveryId} and d.status in ${raw(OPEN)}
      returning id, destination_id, organization_id, event_id, source_id, route_id, priority, failover_of, order_hash,
                ${shardOf(deliveryId)}::smallint as shard
    ), queued as (
      ${raw(toOutbox('w', own))}
      from waiting w
      on conflict (organization_id, destination_id, priority, delivery_id) do update set resume = 'waiting'
      returning o.delivery_id
    )
    select ${raw(WAKE_RELAYS)} from queued`;
}

/** Time until a slot that was reserved before, maybe by another process. @param at as it was reserved */
export async function lookAtSlot(db: Queryable, at: number): Promise<Slot> {
  return { at, inMs: at - (await databaseTime(db)) };
}

/**
 * The next slot of each destination that nobody has reserved; a destination without a reservation is missing: its slot
 * is now.
 */
export async function nextSlots(db: Queryable, destinationIds: string[]): Promise<Map<string, Slot>> {
  const rows = await sql(db).rows<Slot & { id: string }>`
    select destination_id as id, extract(epoch from next_at - clock_timestamp())::float8 * 1000 as in_ms,
           extract(epoch from next_at)::float8 * 1000 as at
    from rate_limits where destination_id = any(${destinationIds}::text[])`;
  return new Map(rows.map(({ id, ...slot }) => [id, slot]));
}
