// Rows past the API, each with what a test says and else with what will do.
import { newId } from '../../core/text/ids.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { freezeBatch, type NewBatch } from '../../db/warehouse/freeze.ts';
import type { EventOwner } from '../support/database/new-events.ts';

type Columns = Record<string, unknown>;

async function insert(pool: Pool, table: string, row: Columns & { id: string }): Promise<string> {
  const [names, values] = [Object.keys(row), Object.values(row)];
  const places = names.map((_, n) => `$${n + 1}`);
  await pool.query(`insert into ${table} (${names.join()}) values (${places.join()})`, values);
  return row.id;
}

export const insertDestination = (pool: Pool, organization_id: string, columns: Columns & { id?: string } = {}) => {
  const { id = newId('dst') } = columns;
  const receiver = { type: 'http', url: 'https://d.example', method: 'POST', auth_type: 'none', timeout_ms: 1000 };
  return insert(pool, 'destinations', {
    ...{ id, organization_id, name: id, slug: id, ...receiver, retry_policy: '{}', ...columns },
  });
};

export const insertRoute = (
  pool: Pool,
  { organizationId: organization_id, sourceId: source_id }: EventOwner,
  destination_ids: string[],
  columns: Columns = {},
) => {
  const id = newId('rte');
  return insert(pool, 'routes', { id, organization_id, source_id, name: id, destination_ids, ...columns });
};

/** A delivery of its own event. */
export const insertDelivery = (
  pool: Pool,
  { organizationId: organization_id, sourceId: source_id }: EventOwner,
  columns: Columns & { destination_id: string; id?: string },
) => {
  const { id = newId('dlv') } = columns;
  const fresh = { event_id: newId('evt'), priority: 0, status: 'pending', counted: true };
  return insert(pool, 'deliveries', { id, organization_id, source_id, ...fresh, ...columns });
};

/** Freezes a batch of a warehouse, by default without deliveries. */
export const freeze = (pool: Pool, to: Pick<NewBatch, 'organizationId' | 'destinationId'> & Partial<NewBatch>) =>
  freezeBatch(pool, {
    ...{ id: newId('bat'), partition: 'date=2026-11-21', keyOrder: 'written', keyAt: (at) => at.toISOString() },
    ...{ fileFormat: 'jsonl', compression: 'gzip', payloadColumn: 'text', fieldMapping: null },
    ...{ waitingSince: new Date(), bytes: 10, members: [] },
    ...to,
  });
