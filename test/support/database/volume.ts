// Rows by the hundred thousand, in one statement a table: what housekeeping finds after months.
import { DAY_MS, ensurePartitions } from '../../../db/sql/partitions.ts';
import { inTransaction, type Pool } from '../../../db/connections/pool.ts';
import { insertDestination } from '../../db/fixtures.ts';
import { insertSource } from './own-database.ts';
import { execute } from './sql.ts';

const HOUR_MS = 3_600_000;
const SECONDS = 3600;

export interface Volume {
  organizationId: string;
  sourceId: string;
  destinationId: string;
  /** When the hour of its rows begins, ms. */
  from: number;
  /** Deliveries that are open, spread among those that have ended. */
  open: number;
}

// The first ten characters of an id, of its time in ms (core/text/ids.ts).
const TIME_PREFIX = `(select string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', ((ms >> (45 - 5 * i)) & 31)::int + 1, 1), '' order by i)
  from generate_series(0, 9) i)`;

// One event for a hundred deliveries. Every id of a second has a number behind its time.
const FILL = `
with second as materialized (
  select s, ms, ${TIME_PREFIX} as prefix
  from (select s, $1::bigint + s * 1000 as ms from generate_series(0, ${SECONDS - 1}) s) t
), made as (
  insert into deliveries (id, organization_id, event_id, source_id, destination_id, priority, status, counted, attempt_count)
  select 'dlv_' || prefix || lpad(n::text, 16, '0'), $2, 'evt_' || prefix || lpad((n / 100)::text, 16, '0'), $3, $4, 0,
         case when n = 0 and s % $6::int = 0 then 'pending' else 'delivered' end, true, 1
  from second cross join generate_series(0, $5::int - 1) n
)
insert into events (id, organization_id, source_id, status, routed, method, query, client_address, headers, payload_size, payload_hash,
                    deliveries_count, deliveries_succeeded, received_at, validated_at, queued_at)
select 'evt_' || prefix || lpad(n::text, 16, '0'), $2, $3, 'pending', true, 'POST', '', '127.0.0.1', '{}', 2, '', 100, 99, now(), now(), now()
from second cross join generate_series(0, ($5::int - 1) / 100) n`;

/**
 * Fills one hour of some days ago.
 * @param deliveries about as many
 * @param openEvery seconds between two open deliveries
 */
export async function fillHour(pool: Pool, deliveries: number, daysAgo: number, openEvery: number): Promise<Volume> {
  const { organizationId, sourceId } = await insertSource(pool);
  const destinationId = await insertDestination(pool, organizationId);
  const from = (Math.floor(Date.now() / DAY_MS) - daysAgo) * DAY_MS + 7 * HOUR_MS;
  await ensurePartitions(pool, from);
  await inTransaction(pool, async (db) => {
    await db.query(`select set_config('statement_timeout', '0', true)`);
    const perSecond = Math.max(1, Math.round(deliveries / SECONDS));
    await db.query(FILL, [from, organizationId, sourceId, destinationId, perSecond, openEvery]);
    // Only their workflows continue the open ones.
    await execute(db)`insert into retrying_deliveries select id, organization_id, destination_id from deliveries
      where status = 'pending'`;
    await db.query('analyze events, deliveries');
  });
  return { organizationId, sourceId, destinationId, from, open: Math.ceil(SECONDS / openEvery) };
}
