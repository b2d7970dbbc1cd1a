// Ordering keys that have been blocked for some time (db/schema/04-outbox.sql): they open an issue of their
// destination.
import type { Queryable } from '../connections/pool.ts';
import { MAY_RECOVER } from './subjects.ts';
import { raw, sql } from '../connections/statements.ts';

/** How long a key is blocked before that is an issue, in minutes. */
const REPORTED_AFTER_MINUTES = 5;

/** When a blocked key becomes an issue, for `db/operations/due.ts`. */
export const NEXT_REPORT = `select min(blocked_at) + interval '${REPORTED_AFTER_MINUTES} minutes' from order_keys
  where hold_until is not null and not is_reported`;
// Of issues that are not known to be over.
const UNBLOCKED_ISSUES = `issues x
  where x.kind = 'order_blocked' and x.state in ${MAY_RECOVER} and x.recovered_at is null
    and not exists (select from order_keys k where k.destination_id = x.destination_id and k.hold_until is not null)`;
export const ANY_UNBLOCKED = `exists (select from ${UNBLOCKED_ISSUES})`;

export interface BlockedKey {
  organizationId: string;
  destinationId: string;
  deliveryId: string;
  eventId: string | null;
}

/** Keys that have been blocked for some time; each is returned once. */
export async function takeLongBlocked(db: Queryable, most: number): Promise<BlockedKey[]> {
  return sql(db).rows<BlockedKey>`
    with reported as (
      update order_keys k set is_reported = true
      where (destination_id, key_hash) in (
        select destination_id, key_hash from order_keys
        where hold_until is not null and not is_reported
          and blocked_at < now() - interval '${raw(REPORTED_AFTER_MINUTES)} minutes'
        order by blocked_at limit ${most} for update skip locked)
      returning k.organization_id, k.destination_id, k.head_id
    )
    select r.organization_id, r.destination_id, r.head_id as delivery_id,
           (select event_id from deliveries d where d.id = r.head_id) as event_id
    from reported r`;
}

/** Destinations with an issue about blocked keys that have none any more. */
export async function unblockedDestinations(
  db: Queryable,
): Promise<Pick<BlockedKey, 'organizationId' | 'destinationId'>[]> {
  return sql(db).rows<Pick<BlockedKey, 'organizationId' | 'destinationId'>>`
    select x.organization_id, x.destination_id from ${raw(UNBLOCKED_ISSUES)}
    and x.destination_id is not null`;
}
