// Records the end of a batch's deliveries, with all that the recording of an attempt changes, so that events,
// statistics and notifications come out as for HTTP destinations.
import { named, openError, ownWords } from '../../core/text/error-summary.ts';
import { latencyClass } from '../../core/metrics/latency-classes.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { TO_UPLOAD_STATUSES } from '../../core/warehouse/batching.ts';
import { bisectRefused } from '../../db/sql/ranges.ts';
import { isTransientDatabaseError, refusalOf } from '../../db/connections/database-errors.ts';
import { endDeliveries } from '../../db/delivery/delivery-commands.ts';
import { currentRoutes, routeKey } from '../../db/hot-path/attempt-config.ts';
import { destinationsBefore } from '../../db/hot-path/load-attempts.ts';
import { type AttemptResult, NOT_CAPTURED, recordResults } from '../../db/hot-path/record-results.ts';
import { type BatchUnderWay, endBatch, findBatch } from '../../db/warehouse/batches.ts';
import { type OpenMember, openMembers, recordWritten } from '../../db/warehouse/members.ts';
import { countRecorded, countWritten } from '../attempt/record.ts';
import { offerFailover } from '../attempt/route.ts';
import type { BatchReference } from '../types.ts';
import type { FlushDeps } from './prepare.ts';

// Of one statement. It locks the events of its deliveries, for which others wait that record results of the same
// events.
const GROUP = 250;
// What is read before it is dealt to groups.
const READ = 16 * GROUP;
const RECORD_MS = 20_000;
const TRIES = 5;
/** The status of an object store for a stored write. */
const WRITTEN = 200;

type Outcome = 'delivered' | 'failed';

/** @returns false when there is more to record @throws when our own side is away */
export async function finishBatch(
  deps: FlushDeps,
  { outcome, ...reference }: BatchReference & { outcome: Outcome },
): Promise<boolean> {
  const batch = await findBatch(deps.pool, reference);
  const from = outcome === 'delivered' ? ['uploaded'] : TO_UPLOAD_STATUSES;
  if (!batch || !from.includes(batch.status)) return true;
  const record = outcome === 'delivered' ? recordDelivered : recordFailed;
  const until = performance.now() + RECORD_MS;
  for (let after = ''; ; ) {
    const members = await openMembers(deps.pool, batch, { after, limit: READ });
    const last = members.at(-1);
    if (!last) break;
    for (const group of dealt(members)) {
      await record(deps, batch, group);
      if (performance.now() > until) return false;
    }
    after = last.deliveryId;
  }
  await endBatch(deps.pool, batch.id, outcome === 'delivered' ? 'written' : 'failed');
  deps.log.info({ batchId: batch.id, destinationId: batch.destinationId, outcome }, 'warehouse batch ended');
  return true;
}

/**
 * Groups of deliveries, each with some of everywhere. Neighbours stand on one page of their table, which has room for
 * new versions of a part of its rows and is cleared between two statements; a group of neighbours would write the
 * others elsewhere, and to all indexes.
 */
function* dealt(members: OpenMember[]): Generator<OpenMember[]> {
  const groups = Math.ceil(members.length / GROUP);
  for (let group = 0; group < groups; group += 1) yield members.filter((_, place) => place % groups === group);
}

function recordDelivered(deps: FlushDeps, batch: BatchUnderWay, members: OpenMember[]): Promise<void> {
  const times = timesOf(batch);
  const attempt = { statusCode: WRITTEN, ...times, latencyClass: latencyClass(times.latency) };
  return bisectRefused(
    members,
    (some) =>
      repeated(async () => {
        const ids = await recordWritten(deps.hotPool, { batchId: batch.id, members: some, attempt });
        countWritten(ids, times.completedAt);
      }),
    (one, error) => endRefused(deps, batch, { deliveryId: one.deliveryId, outcome: 'delivered' }, error),
  );
}

async function recordFailed(deps: FlushDeps, batch: BatchUnderWay, members: OpenMember[]): Promise<void> {
  const results = await failed(deps, batch, members);
  await bisectRefused(
    results,
    (some) => repeated(async () => countRecorded(some, await recordResults(deps.hotPool, some))),
    (one, error) => endRefused(deps, batch, { deliveryId: one.deliveryId, outcome: 'failed' }, error),
  );
}

/** A delivery whose result PostgreSQL refuses must not block the batch. */
async function endRefused(
  { pool, log }: FlushDeps,
  { id, organizationId }: BatchUnderWay,
  { deliveryId, outcome }: { deliveryId: string; outcome: Outcome },
  error: unknown,
): Promise<void> {
  const reason = ownWords`The delivery could not be recorded as ${named(outcome)}: ${refusalOf(error)}`;
  await endDeliveries(pool, 'failed', { organizationId, deliveryIds: [deliveryId], reason: openError(reason) });
  log.error(
    { batchId: id, deliveryId, cause: causeOf(error) },
    'delivery ended: PostgreSQL rejected a value in the delivery',
  );
}

async function failed(deps: FlushDeps, batch: BatchUnderWay, members: OpenMember[]): Promise<AttemptResult[]> {
  const times = timesOf(batch);
  const error =
    batch.error === null || batch.errorSummary === null
      ? openError(ownWords`The batch could not be written`)
      : { summary: batch.errorSummary, detail: batch.error };
  const routes = await currentRoutes(deps.pool, batch.organizationId, members);
  const before = await destinationsBefore(deps.pool, members);
  return members.map((member) => {
    const { deliveryId, eventId, attemptCount, originalDestinationId } = member;
    const rule = routes.get(routeKey(member));
    const from = { ...batch, originalDestinationId, failedOver: before.get(deliveryId) ?? [] };
    return {
      deliveryId,
      eventId,
      attemptNumber: attemptCount + 1,
      ...times,
      latencyClass: null,
      deliveryStatus: 'failed',
      statusCode: null,
      error,
      retryInMs: null,
      ...NOT_CAPTURED,
      exchange: null,
      lane: 'workflow',
      failover: rule ? offerFailover(rule, from, { attempt: 1, exhausted: true, error }) : null,
    };
  });
}

function timesOf({ startedAt, uploadedAt, latency }: BatchUnderWay) {
  const completedAt = uploadedAt ?? new Date();
  return { latency: latency ?? 0, startedAt: startedAt ?? completedAt, completedAt };
}

/**
 * Another group may lock the same events in another order: PostgreSQL then aborts one of the two, which is repeated.
 */
async function repeated(record: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await record();
      return;
    } catch (error) {
      if (tries === TRIES || !isTransientDatabaseError(error)) throw error;
    }
  }
}
