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

const DANGLING: [what: string, statement: string][] = [
  [
    'payloads without event',
    'select event_id as id from event_payloads p where not exists (select from events e where e.id = p.event_id)',
  ],
  [
    'deliveries without event',
    'select id from deliveries d where not exists (select from events e where e.id = d.event_id)',
  ],
  [
    'attempts without delivery',
    'select delivery_id as id from attempts a where not exists (select from deliveries d where d.id = a.delivery_id)',
  ],
  [
    'outbox rows without delivery',
    'select delivery_id as id from outbox o where not exists (select from deliveries d where d.id = o.delivery_id)',
  ],
  [
    'held rows without delivery',
    'select delivery_id as id from held_deliveries h where not exists (select from deliveries d where d.id = h.delivery_id)',
  ],
  [
    'deliveries in files that are not known',
    'select id from deliveries d where batch_id is not null and not exists (select from warehouse_batches b where b.id = d.batch_id)',
  ],
  [
    'replays of deliveries that are gone, of events that are not',
    'select id from deliveries d where replay_of is not null and not exists (select from deliveries r where r.id = d.replay_of)',
  ],
];

/** What refers to something that is gone: nothing may. @returns ids by what they are */
export async function danglingReferences({ pool }: Hookyard): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const [what, statement] of DANGLING) {
    const { rows } = await pool.query<{ id: string }>(statement);
    if (rows.length > 0) found[what] = rows.map(({ id }) => id);
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
