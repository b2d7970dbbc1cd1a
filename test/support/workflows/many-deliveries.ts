// Deliveries of one event by the thousand, in one statement: what is left of an event that was replayed again and
// again.
import { newId } from '../../../core/text/ids.ts';
import type { Pool } from '../../../db/connections/pool.ts';
import { execute } from '../database/sql.ts';

/**
 * Copies a delivery that has ended, with two attempts each.
 * @param began the time of the first, in ms since 1970; the others follow, a ms each
 * @returns the ids of the copies, oldest first; all of them are newer than what they are copied from
 */
export async function copyDelivery(
  pool: Pool,
  deliveryId: string,
  copies: number,
  began: number = Date.now() + 2000,
): Promise<string[]> {
  const ids = Array.from({ length: copies }, (_, n) => newId('dlv', began + n));
  await execute(pool)`
    insert into deliveries (id, organization_id, event_id, source_id, route_id, destination_id, priority, status,
                            counted, attempt_count, finished_at)
    select copy.id, organization_id, event_id, source_id, route_id, destination_id, priority, 'failed', false, 2, now()
    from deliveries d cross join unnest(${ids}::text[]) as copy(id) where d.id = ${deliveryId}`;
  await execute(pool)`
    insert into attempts (delivery_id, attempt_number, status, status_code, latency, started_at, completed_at,
                          request_headers, response_headers, response_body)
    select copy.id, n, 'failed', 500, 10, now(), now(), '{}', '{}', repeat('no', 1000)
    from unnest(${ids}::text[]) as copy(id) cross join generate_series(1, 2) as n`;
  return ids;
}
