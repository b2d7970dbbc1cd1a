// History made by the statements of the hot path, with ids of a chosen time, in a database of its own: what is merged
// is days old, and merging concerns the whole database.
import { latencyClass } from '../../../core/metrics/latency-classes.ts';
import { newId, shardOf } from '../../../core/text/ids.ts';
import { type AttemptResult, recordResults } from '../../../db/hot-path/record-results.ts';
import { type NewDelivery, storeEvents } from '../../../db/hot-path/store-events.ts';
import { DAY_MS, ensurePartitions } from '../../../db/sql/partitions.ts';
import type { Pool } from '../../../db/connections/pool.ts';
import { insertRoute } from '../../db/fixtures.ts';
import { routedEvent } from './new-events.ts';
import { type OwnDatabase, ownDatabase } from './own-database.ts';
import { execute } from './sql.ts';

/** An organization with sources, each with one route to some destinations. */
export interface HistoryOwner {
  organizationId: string;
  routes: { id: string; sourceId: string; destinationIds: string[]; failoverId: string }[];
}

/** A migrated database with partitions for the last `days` days, in which nothing is merged. */
export async function historyDatabase(days: number): Promise<OwnDatabase> {
  const database = await ownDatabase('history', { connections: 6 });
  for (let day = 0; day <= days; day += 1) await ensurePartitions(database.pool, Date.now() - day * DAY_MS);
  return database;
}

export async function makeOwner(pool: Pool, sources: number, destinations: number): Promise<HistoryOwner> {
  const owner: HistoryOwner = { organizationId: newId('org'), routes: [] };
  const { organizationId } = owner;
  await pool.query(`insert into organizations (id, slug, name, plan) values ($1, $1, $1, 'pro')`, [organizationId]);
  for (let n = 0; n < sources; n += 1) {
    const sourceId = newId('src');
    const ids = Array.from({ length: destinations + 1 }, () => newId('dst'));
    const destinationIds = ids.slice(1);
    await execute(pool)`insert into sources (id, organization_id, name, slug)
      values (${sourceId}, ${organizationId}, ${sourceId}, ${sourceId})`;
    await execute(pool)`
      insert into destinations (id, organization_id, name, slug, type, url, method, auth_type, timeout_ms, retry_policy)
      select id, ${organizationId}, id, id, 'http', 'https://receiver.example/', 'POST', 'none', 30000, '{}'
      from unnest(${ids}::text[]) as id`;
    const id = await insertRoute(pool, { organizationId, sourceId }, destinationIds);
    owner.routes.push({ id, sourceId, destinationIds, failoverId: ids[0] ?? '' });
  }
  return owner;
}

export type HistoryRoute = HistoryOwner['routes'][number];

export function firstRoute({ routes: [route] }: HistoryOwner): HistoryRoute {
  if (!route) throw new Error('the owner has no route');
  return route;
}

export interface StoredEvent {
  id: string;
  organizationId: string;
  deliveries: { id: string; destinationId: string; routeId: string; status: NewDelivery['status'] }[];
}

/** Stores an event that was received at a time, as ingest does. */
export async function storeEvent(
  pool: Pool,
  owner: HistoryOwner,
  route: HistoryRoute,
  event: { receivedAt: Date; statuses: NewDelivery['status'][]; body?: string; filtered?: string[] },
): Promise<StoredEvent> {
  const id = newId('evt', event.receivedAt.getTime());
  const deliveries = event.statuses.map((status, index) => {
    const deliveryId = newId('dlv', event.receivedAt.getTime() + 1);
    return {
      id: deliveryId,
      routeId: route.id,
      routeVersion: 1,
      transformVersion: null,
      destinationId: route.destinationIds[index % route.destinationIds.length] ?? '',
      priority: 0,
      shard: shardOf(deliveryId),
      status,
      error: status === 'pending' ? null : status,
    };
  });
  const { organizationId } = owner;
  const { receivedAt, filtered = [] } = event;
  const made = await routedEvent(
    pool,
    { organizationId, sourceId: route.sourceId },
    {
      ...{ id, receivedAt, validatedAt: receivedAt, body: Buffer.from(event.body ?? '{}') },
      ...{ deliveries, routed: [route.id], filtered },
    },
  );
  const { stored } = await storeEvents(pool, [made]);
  if (!stored.has(id)) throw new Error('the event was not stored');
  return { id, organizationId, deliveries };
}

export interface RecordedOutcome {
  status: AttemptResult['deliveryStatus'];
  attempt?: number;
  completedAt?: Date;
  latency?: number;
  /** Null: there was no answer. */
  statusCode?: number | null;
  failoverId?: string;
  error?: AttemptResult['error'];
}

/** Records an attempt as a worker does. @returns the failover delivery, when there is one */
export async function recordOutcome(
  pool: Pool,
  event: StoredEvent,
  delivery: { id: string; destinationId: string },
  outcome: RecordedOutcome,
): Promise<string | null> {
  const result = attemptResult(event, delivery, outcome);
  await recordResults(pool, [result]);
  return result.failover?.deliveryId ?? null;
}

/** What a worker records of an attempt. */
export function attemptResult(
  event: Pick<StoredEvent, 'id' | 'organizationId'>,
  delivery: { id: string; destinationId: string },
  { status, attempt = 1, completedAt = new Date(), latency = 20, failoverId, ...outcome }: RecordedOutcome,
): AttemptResult {
  const { statusCode = status === 'delivered' ? 200 : 500, error = null } = outcome;
  const nextId = newId('dlv');
  return {
    deliveryId: delivery.id,
    eventId: event.id,
    attemptNumber: attempt,
    deliveryStatus: status,
    statusCode,
    error,
    latency,
    latencyClass: statusCode === null ? null : latencyClass(latency),
    startedAt: completedAt,
    completedAt,
    retryInMs: null,
    requestHeaders: {},
    responseHeaders: {},
    responseBody: '',
    exchange: null,
    lane: 'workflow',
    failover:
      failoverId === undefined
        ? null
        : {
            organizationId: event.organizationId,
            candidates: [failoverId],
            deliveryId: nextId,
            shard: shardOf(nextId),
            originalDestinationId: delivery.destinationId,
            reason: 'it failed',
          },
  };
}
