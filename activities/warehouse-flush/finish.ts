// Records the end of a batch's deliveries, by the statement that records every attempt, so that events, statistics and
// notifications come out as for HTTP destinations.
import { named, openError, ownWords, UNKNOWN_ERROR } from '../../core/error-summary.ts';
import { latencyClass } from '../../core/latency-classes.ts';
import { apart } from '../../db/apart.ts';
import { isTransientDatabaseError, refusalOf } from '../../db/connections/database-errors.ts';
import { endDeliveries } from '../../db/delivery/delivery-commands.ts';
import { failoverRules } from '../../db/hot-path/attempt-config.ts';
import { type AttemptResult, recordResults } from '../../db/hot-path/record-results.ts';
import { type BatchUnderWay, endBatch, findBatch, type OpenMember, openMembers } from '../../db/warehouse/batches.ts';
import { countRecorded } from '../count-attempts.ts';
import { offerFailover } from '../failover.ts';
import type { BatchReference } from '../types.ts';
import type { FlushDeps } from './deps.ts';

const GROUP = 250;
// How long one call records; then the workflow calls again.
const RECORD_MS = 20_000;
const TRIES = 5;
/** The status of an object store for a stored write. */
const WRITTEN = 200;

/** @returns false when there is more to record @throws when our own side is away */
export async function finishBatch(
  deps: FlushDeps,
  { outcome, ...reference }: BatchReference & { outcome: 'delivered' | 'failed' },
): Promise<boolean> {
  const batch = await findBatch(deps.pool, reference);
  const from = outcome === 'delivered' ? ['uploaded'] : ['frozen', 'uploading'];
  if (!batch || !from.includes(batch.status)) return true;
  const until = performance.now() + RECORD_MS;
  for (let after = ''; ; ) {
    const members = await openMembers(deps.pool, batch, { after, limit: GROUP });
    const last = members.at(-1);
    if (!last) break;
    const results = outcome === 'delivered' ? delivered(batch, members) : await failed(deps, batch, members);
    await apart(
      results,
      (some) => record(deps, some),
      (one, error) => endRefused(deps, batch, one, error),
    );
    if (performance.now() > until) return false;
    after = last.deliveryId;
  }
  await endBatch(deps.pool, batch.id, outcome === 'delivered' ? 'written' : 'failed');
  deps.log.info({ batchId: batch.id, destinationId: batch.destinationId, outcome }, 'warehouse batch ended');
  return true;
}

/** A delivery whose result PostgreSQL refuses must not block the batch. */
async function endRefused(
  { pool, log }: FlushDeps,
  { id, organizationId }: BatchUnderWay,
  { deliveryId, deliveryStatus }: AttemptResult,
  error: unknown,
): Promise<void> {
  const reason = ownWords`It could not be recorded as ${named(deliveryStatus)}: ${refusalOf(error)}`;
  await endDeliveries(pool, 'failed', { organizationId, deliveryIds: [deliveryId], reason: openError(reason) });
  log.error({ batchId: id, deliveryId, err: error }, 'delivery ended: PostgreSQL refused a value of it');
}

function delivered(batch: BatchUnderWay, members: OpenMember[]): AttemptResult[] {
  const times = timesOf(batch);
  return members.map((member) => ({
    ...attemptOf(member),
    ...times,
    latencyClass: latencyClass(times.latency),
    deliveryStatus: 'delivered',
    statusCode: WRITTEN,
    error: null,
    failover: null,
  }));
}

async function failed(deps: FlushDeps, batch: BatchUnderWay, members: OpenMember[]): Promise<AttemptResult[]> {
  const times = timesOf(batch);
  const error =
    batch.error === null
      ? openError(ownWords`The batch could not be written`)
      : { summary: batch.errorSummary ?? UNKNOWN_ERROR, detail: batch.error };
  const routeIds = [...new Set(members.flatMap(({ routeId }) => routeId ?? []))];
  const rules = await failoverRules(deps.pool, batch.organizationId, routeIds);
  return members.map((member) => {
    const rule = member.routeId === null ? undefined : rules.get(member.routeId);
    const from = { ...batch, originalDestinationId: member.originalDestinationId };
    return {
      ...attemptOf(member),
      ...times,
      latencyClass: null,
      deliveryStatus: 'failed',
      statusCode: null,
      error,
      failover: rule ? offerFailover(rule, from, { attempt: 1, exhausted: true, error }) : null,
    };
  });
}

function attemptOf({ deliveryId, eventId, attemptCount }: OpenMember) {
  return {
    deliveryId,
    eventId,
    attemptNumber: attemptCount + 1,
    retryInMs: null,
    requestHeaders: {},
    responseHeaders: null,
    responseBody: null,
    exchange: null,
    lane: 'workflow' as const,
  };
}

function timesOf({ startedAt, uploadedAt, latency }: BatchUnderWay) {
  const completedAt = uploadedAt ?? new Date();
  return { latency: latency ?? 0, startedAt: startedAt ?? completedAt, completedAt };
}

/** Another group may lock the same events in another order: PostgreSQL then aborts one of the two, which is repeated. */
async function record({ hotPool }: FlushDeps, results: AttemptResult[]): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      countRecorded(results, await recordResults(hotPool, results), 'warehouse');
      return;
    } catch (error) {
      if (tries === TRIES || !isTransientDatabaseError(error)) throw error;
    }
  }
}
