// Events of past days on a running Hookyard: stored by the statement of ingest with ids of their time, and delivered by
// its workers.
import { ensurePartitions, DAY_MS } from '../../../db/sql/partitions.ts';
import { type HistoryOwner, type StoredEvent, storeEvent } from './history.ts';
import type { Hookyard } from '../hookyard.ts';
import type { Records } from '../records.ts';
import { until } from '../until.ts';
import { selectRows } from './sql.ts';

/** A source with one route to one destination. */
export type Pipe = Awaited<ReturnType<Records['pipe']>>;

/**
 * Stops the schedule of housekeeping, which a worker has made, and waits for what it began: what a test ages is removed
 * by that test.
 */
export async function pauseHousekeeping({ temporal }: Hookyard): Promise<void> {
  const schedule = temporal.schedule.getHandle('hookyard-maintenance');
  await until('its schedule to be there', () => schedule.describe());
  await schedule.pause('a test runs it');
  const { info } = await schedule.describe();
  for (const { action } of info.recentActions) {
    // One that fails has ended as well.
    await temporal.workflow
      .getHandle(action.workflow.workflowId)
      .result()
      .catch(() => undefined);
  }
}

/** Stores an event that came some days ago, with a delivery to the destination of the pipe that is still to be made. */
export async function storeAged(
  testInstance: Hookyard,
  { source, route, destination }: Pipe,
  daysAgo: number,
  body = '{"aged":true}',
): Promise<StoredEvent> {
  const receivedAt = new Date(Date.now() - daysAgo * DAY_MS);
  await ensurePartitions(testInstance.pool, receivedAt.getTime());
  const owner: HistoryOwner = { organizationId: testInstance.organizationId, routes: [] };
  const way = { id: route.id, sourceId: source.id, destinationIds: [destination.id], failoverId: '' };
  return storeEvent(testInstance.pool, owner, way, { receivedAt, statuses: ['pending'], body });
}

/** Columns, and the tables to whose rows they refer. */
const REFERENCES: [table: string, column: string, target: string][] = [
  ['event_payloads', 'event_id', 'events'],
  ['deliveries', 'event_id', 'events'],
  ['attempts', 'delivery_id', 'deliveries'],
  ['outbox', 'delivery_id', 'deliveries'],
  ['held_deliveries', 'delivery_id', 'deliveries'],
  ['deliveries', 'batch_id', 'warehouse_batches'],
  ['deliveries', 'replay_of', 'deliveries'],
];

/** What refers to something that is gone: nothing may. @returns what is gone, by table and column */
export async function danglingReferences({ pool }: Hookyard): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const [table, column, target] of REFERENCES) {
    const { rows } = await pool.query<{ id: string }>(
      `select ${column} as id from ${table} r where ${column} is not null
       and not exists (select from ${target} t where t.id = r.${column})`,
    );
    if (rows.length > 0) found[`${table}.${column}`] = rows.map(({ id }) => id);
  }
  return found;
}

/** Days ago of the partitions of a table, the newest first. */
export async function partitionAges({ pool }: Hookyard, table: string): Promise<number[]> {
  const rows = await selectRows<{ name: string }>(pool)`select c.relname as name from pg_inherits i
    join pg_class c on c.oid = i.inhrelid where i.inhparent = ${table}::regclass order by 1 desc`;
  const today = Math.floor(Date.now() / DAY_MS);
  return rows.map(({ name }) => {
    const digits = name.slice(table.length + 1);
    return today - Date.parse(`${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6)}`) / DAY_MS;
  });
}
