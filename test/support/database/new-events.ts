// Events as ingest hands them to the database, for tests of what stores them.
import { createHash } from 'node:crypto';
import { newId, shardOf } from '../../../core/text/ids.ts';
import type { NewEvent } from '../../../db/hot-path/store-events.ts';
import type { Pool } from '../../../db/connections/pool.ts';
import { ever } from '../../../db/ledger/entries.ts';
import { insertSource } from './own-database.ts';
import { until } from '../until.ts';
import { findValue, selectValue } from './sql.ts';

export interface EventOwner {
  organizationId: string;
  sourceId: string;
}

/** An organization with a source, of which an own database may have many. */
export const addOwner = (pool: Pool): Promise<EventOwner> => insertSource(pool, newId('org'));

/** The version of the organization's configuration; every change of a record raises it. */
export async function configVersion(pool: Pool, { organizationId }: EventOwner): Promise<number> {
  return (
    (await findValue<number>(pool)`
      select config_version as version from organizations where id = ${organizationId}`) ?? 0
  );
}

/** An event with one delivery, routed by the version of now. */
export async function routedEvent(pool: Pool, owner: EventOwner, fields: Partial<NewEvent> = {}): Promise<NewEvent> {
  const receivedAt = new Date();
  const deliveryId = newId('dlv');
  const [routeId, destinationId] = [newId('rte'), newId('dst')];
  const { body = Buffer.from('{}') } = fields;
  return {
    id: newId('evt', receivedAt.getTime()),
    ...owner,
    configVersion: await configVersion(pool, owner),
    method: 'POST',
    path: '',
    query: '',
    headers: {},
    clientAddress: '192.0.2.1',
    body,
    isText: true,
    payloadHash: `sha256:${createHash('sha256').update(body).digest('hex')}`,
    receivedAt,
    validatedAt: receivedAt,
    deliveries: [
      {
        id: deliveryId,
        routeId,
        routeVersion: 1,
        transformVersion: null,
        destinationId,
        priority: 0,
        shard: shardOf(deliveryId),
        status: 'pending',
        error: null,
      },
    ],
    routed: [routeId],
    filtered: [],
    idempotency: null,
    ...fields,
  };
}

/** An idempotency key whose hash begins with these bytes. */
export const keyOf = (...bytes: number[]): NewEvent['idempotency'] => ({
  keyHash: Buffer.concat([Buffer.from(bytes), Buffer.alloc(32 - bytes.length)]),
  windowSeconds: 600,
});

/** What there is of a source: its events, how many were counted, and their deliveries that wait. */
export async function storedOf(
  pool: Pool,
  { sourceId }: EventOwner,
): Promise<{ ids: string[]; counted: number; queued: number }> {
  const { rows } = await pool.query<{ ids: string[]; counted: number; queued: number }>(
    `select array(select id from events where source_id = $1 order by id) as ids,
            coalesce((select sum(events) from ${ever('source_id = $1')} l), 0)::float8 as counted,
            (select count(*) from outbox where source_id = $1) as queued`,
    [sourceId],
  );
  return rows[0] ?? { ids: [], counted: 0, queued: 0 };
}

/** Waits until so many statements that store events wait for a lock. */
export const storesWait = (pool: Pool, count: number): Promise<unknown> =>
  until(
    `${count} statements to wait`,
    () =>
      selectValue<boolean>(pool)`select count(*) = ${count}::int as wait from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%with fresh as%'`,
  );
