// Short ways to the records that tests of the API need.
import { named, openError } from '../../core/text/error-summary.ts';
import { recordResults } from '../../db/hot-path/record-results.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { type ApiClient, createClient } from './api-client.ts';
import { attemptResult } from './database/history.ts';
import { expectDescribed } from './providers/described.ts';
import type { DeliveryView } from './records.ts';
import { hasSharedWorker, type TestOrganization, testPool } from './service.ts';
import { removePayload } from './rows.ts';

let count = 0;

export interface SourceRecord {
  id: string;
  slug: string;
  webhookUrl: string;
}

export function makeSource(organization: TestOrganization, extra: object = {}): Promise<SourceRecord> {
  count += 1;
  const fields = { name: `Source ${count}`, slug: `source-${count}`, ...extra };
  return organization.api.create<SourceRecord>(`${organization.base}/sources`, fields);
}

export function makeDestination(organization: TestOrganization, extra: object = {}): Promise<{ id: string }> {
  count += 1;
  return organization.api.create('/api/destinations', {
    name: `Destination ${count}`,
    url: 'https://receiver.example/hooks',
    ...extra,
  });
}

export function makeRoute(
  organization: TestOrganization,
  sourceId: string,
  destinationIds: string[],
  extra: object = {},
): Promise<{ id: string }> {
  count += 1;
  return organization.api.create('/api/routes', { name: `Route ${count}`, sourceId, destinationIds, ...extra });
}

export interface Pipeline {
  source: SourceRecord;
  destination: { id: string };
  route: { id: string };
}

/** A source, a destination and the route between them. */
export async function makePipeline(organization: TestOrganization): Promise<Pipeline> {
  const source = await makeSource(organization);
  const destination = await makeDestination(organization);
  return { source, destination, route: await makeRoute(organization, source.id, [destination.id]) };
}

/** The API with a new key of the organization, which has these scopes. */
export async function clientWith({ api }: TestOrganization, ...scopes: readonly string[]): Promise<ApiClient> {
  const { token } = await api.create<{ token: string }>('/api/api-keys', { name: 'Scoped', scopes });
  return createClient(api.url, token);
}

/** Sends a webhook through the public ingest endpoint; @returns the id of the stored event */
export async function ingest(
  organization: TestOrganization,
  source: { slug: string },
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = { 'Content-Type': 'application/json' },
): Promise<string> {
  const response = await fetch(`${organization.api.url}/ingest/${organization.slug}/${source.slug}`, {
    method: 'POST',
    headers,
    body,
  });
  const text = await response.text();
  const contentType = response.headers.get('content-type');
  expectDescribed({ method: 'POST', path: new URL(response.url).pathname, status: response.status, contentType, text });
  const answer = JSON.parse(text) as { success: boolean; eventId: string };
  if (response.status !== 200) throw new Error(`ingest answered ${response.status}: ${JSON.stringify(answer)}`);
  return answer.eventId;
}

/** The deliveries of an event, oldest first. */
export async function deliveriesOf(
  organization: TestOrganization,
  eventId: string,
): Promise<Omit<DeliveryView, 'attempts'>[]> {
  const { data } = await organization.api.list<DeliveryView>(`/api/deliveries?eventId=${eventId}&pageSize=100`);
  return data.toReversed();
}

/** The one delivery of an event. */
export async function deliveryOf(
  organization: TestOrganization,
  eventId: string,
): Promise<{ id: string; status: string }> {
  const [delivery, ...others] = await deliveriesOf(organization, eventId);
  if (!delivery || others.length > 0) throw new Error(`event ${eventId} has ${others.length + 1} deliveries, not one`);
  return delivery;
}

export interface RecordedAttempt {
  deliveryId: string;
  eventId: string;
  attemptNumber?: number;
  deliveryStatus?: 'delivered' | 'failed' | 'retrying';
  statusCode?: number | null;
  error?: string | null;
  latency?: number;
  retryInMs?: number | null;
  completedAt?: Date;
}

/**
 * Records an attempt by the statement that workers use, where a test is about what is read and not about sending.
 * @throws Error where files before have started the shared worker, which might make that attempt first
 */
export async function recordAttempt(attempt: RecordedAttempt, pool: Pool = testPool()): Promise<void> {
  if (pool === testPool() && hasSharedWorker())
    throw new Error('the shared worker may deliver this first: a file before should start one of its own, and stop it');
  const { deliveryStatus: status = 'delivered', latency = 100, completedAt = new Date() } = attempt;
  const { deliveryId: id, attemptNumber, statusCode = status === 'delivered' ? 200 : 500, retryInMs = null } = attempt;
  const error = attempt.error ?? (status === 'delivered' ? null : `The destination returned ${statusCode}`);
  const event = { id: attempt.eventId, organizationId: '' };
  const outcome = { status, attempt: attemptNumber, statusCode, latency, completedAt };
  const described = error === null ? null : openError(named(error));
  const result = attemptResult(event, { id, destinationId: '' }, { ...outcome, error: described });
  const changed = await recordResults(pool, [
    {
      ...{ ...result, startedAt: new Date(completedAt.getTime() - latency), retryInMs },
      requestHeaders: { 'Content-Type': 'application/json', Authorization: '••••' },
      responseHeaders: statusCode === null ? null : { server: 'test' },
      responseBody: statusCode === null ? null : 'thanks',
    },
  ]);
  if (changed.size !== 1) throw new Error(`the attempt of ${attempt.deliveryId} was not recorded`);
}

/** Removes the payload of an event, as the retention does. */
export async function expirePayload(eventId: string): Promise<void> {
  await removePayload(testPool(), eventId);
}

/** Takes an organization's deliveries out of the outbox, so that workers of later tests leave them alone. */
export async function forgetQueued(organization: TestOrganization): Promise<void> {
  await testPool().query('delete from outbox where organization_id = $1', [organization.id]);
}
