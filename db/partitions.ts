// Daily partitions of events, payloads, deliveries and attempts. A partition's bounds are ids: the smallest id of its
// day and of the next one, so that an id alone says where its row is (RFC 9562: UUIDv7 starts with its time).
import { type IdPrefix, idFloor } from '../core/ids.ts';
import { forgetCounts } from './history/settle.ts';
import { inTransaction, type Pool, type Queryable } from './pool.ts';

const DAY_MS = 86_400_000;
const DAYS_AHEAD = 3;
const DAYS_BEHIND = 1;

const partitioned: { table: string; prefix: IdPrefix }[] = [
  { table: 'events', prefix: 'evt' },
  { table: 'event_payloads', prefix: 'evt' },
  { table: 'deliveries', prefix: 'dlv' },
  { table: 'attempts', prefix: 'dlv' },
];

// Deliveries and events are updated once or twice after their insert: room on the page keeps those updates heap-only.
const storage: Record<string, string> = { events: 'with (fillfactor = 85)', deliveries: 'with (fillfactor = 70)' };

/** Creates the partitions from yesterday (clocks differ) to three days ahead. Safe to run at any time, by anyone. */
export async function ensurePartitions(db: Queryable, nowMs: number = Date.now()): Promise<void> {
  const today = Math.floor(nowMs / DAY_MS);
  for (const { table, prefix } of partitioned) {
    for (let day = today - DAYS_BEHIND; day <= today + DAYS_AHEAD; day += 1) {
      const from = idFloor(prefix, day * DAY_MS);
      const to = idFloor(prefix, (day + 1) * DAY_MS);
      await db.query(
        `create table if not exists ${partitionName(table, day)} partition of ${table} for values from ('${from}') to ('${to}') ${storage[table] ?? ''}`,
      );
    }
  }
}

/**
 * Drops the partitions whose whole day is older than the retention.
 * @param retentionDays days to keep; 0 keeps everything
 * @returns names of the dropped partitions
 */
export async function dropExpiredPartitions(
  db: Pool,
  table: 'events' | 'event_payloads' | 'deliveries' | 'attempts',
  retentionDays: number,
  nowMs: number = Date.now(),
): Promise<string[]> {
  if (retentionDays === 0) return [];
  const oldestKept = Math.floor(nowMs / DAY_MS) - retentionDays;
  const { rows } = await db.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = $1::regclass`,
    [table],
  );
  const expired = rows.map((row) => row.name).filter((name) => partitionDay(table, name) < oldestKept);
  for (const name of expired) await dropPartition(db, table, name);
  return expired;
}

// The counts of the lists go with the rows.
function dropPartition(db: Pool, table: string, name: string): Promise<void> {
  return inTransaction(db, async (transaction) => {
    const start = partitionDay(table, name) * DAY_MS;
    if (table === 'events') await forgetCounts(transaction, 'event', start, start + DAY_MS);
    if (table === 'deliveries') await forgetCounts(transaction, 'delivery', start, start + DAY_MS);
    await transaction.query(`drop table if exists ${name}`);
  });
}

function partitionName(table: string, day: number): string {
  return `${table}_${new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

function partitionDay(table: string, name: string): number {
  const digits = name.slice(table.length + 1);
  const day = Date.parse(`${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6, 8)}`) / DAY_MS;
  return Number.isNaN(day) ? Number.POSITIVE_INFINITY : day;
}
