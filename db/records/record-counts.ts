import type { EntityManager } from './orm.ts';
import type { Queryable } from '../connections/pool.ts';
import { Fragment, fragment, sql } from '../connections/statements.ts';

export type LimitedRecords =
  | 'sources'
  | 'destinations'
  | 'filters'
  | 'transforms'
  | 'schemas'
  | 'alertChannels'
  | 'apiKeys';

const RECORDS: Record<LimitedRecords, string> = {
  sources: 'sources where organization_id = ?',
  destinations: 'destinations where organization_id = ?',
  filters: 'filters where organization_id = ?',
  transforms: 'transforms where organization_id = ?',
  schemas: 'schemas where organization_id = ?',
  alertChannels: 'alert_channels where organization_id = ?',
  apiKeys: 'api_keys where organization_id = ? and revoked_at is null and (expires_at is null or expires_at > now())',
};

/**
 * Counts records before others are added in the same transaction. Requests of an organization queue here, so that two
 * cannot take the last place; storing a source or destination locks the organization anyway (raise_config_version).
 * @param atMost counts no further
 */
export async function countBeforeAdding(
  em: EntityManager,
  organizationId: string,
  records: LimitedRecords,
  atMost: number,
): Promise<number> {
  await em.execute('select from organizations where id = ? for no key update', [organizationId]);
  const [row] = await em.execute<{ count: number }[]>(
    `select count(*)::int as count from (select from ${RECORDS[records]} limit ?) counted`,
    [organizationId, atMost],
  );
  return row?.count ?? 0;
}

export interface RecordCounts extends Record<LimitedRecords, number> {
  routesPerSource: number;
  /** Of a webhook to the source with the most of them, if every route takes it. */
  deliveriesPerEvent: number;
  runningReplays: number;
  eventsInLastSecond: number;
}

/** @param secondAgo the smallest id of an event of the last second */
export async function countRecords(db: Queryable, organizationId: string, secondAgo: string): Promise<RecordCounts> {
  const of = (records: LimitedRecords) =>
    fragment`(select count(*) from ${new Fragment(RECORDS[records].split('?'), [organizationId])})`;
  const rows = await sql(db).rows<RecordCounts>`
    select ${of('sources')} as sources, ${of('destinations')} as destinations, ${of('apiKeys')} as api_keys,
           ${of('filters')} as filters, ${of('transforms')} as transforms, ${of('schemas')} as schemas,
           ${of('alertChannels')} as alert_channels,
           coalesce((select max(count) from (
             select count(*) from routes where organization_id = ${organizationId} group by source_id
           ) per_source), 0) as routes_per_source,
           coalesce((select max(total) from (
             select sum(cardinality(destination_ids)) as total from routes
             where organization_id = ${organizationId} and enabled group by source_id
           ) per_source), 0)::bigint as deliveries_per_event,
           (select count(*) from event_replays
            where organization_id = ${organizationId} and due_at is not null) as running_replays,
           (select count(*) from events
            where organization_id = ${organizationId} and id >= ${secondAgo}) as events_in_last_second`;
  if (!rows[0]) throw new Error('PostgreSQL returned no row for a count');
  return rows[0];
}
