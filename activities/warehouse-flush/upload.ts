// Writes the object of a batch. Every try writes the same key, and the same bytes unless one of its events was deleted or a
// transform was changed in between; then the later object replaces the earlier one. A batch that is too large for one object, or
// whose transforms have to wait for too long, is halved.
// Rules: WH-21, WH-24, WH-26, WH-48.
import { type DescribedError, openError, ownWords } from '../../core/text/error-summary.ts';
import { issueSubjects } from '../../core/messages/issues.ts';
import { warehouseUploads } from '../../core/metrics/services.ts';
import { contentTypeOf } from '../../core/warehouse/file.ts';
import { MAX_ROW_BYTES } from '../../core/warehouse/size-limit.ts';
import { endDeliveries } from '../../db/delivery/delivery-commands.ts';
import {
  beginUpload,
  type BatchUnderWay,
  endBatch,
  findWarehouse,
  noteUploaded,
  noteUploadFailed,
} from '../../db/warehouse/batches.ts';
import { noteSeen } from '../../db/warehouse/flushes.ts';
import { openMembers } from '../../db/warehouse/members.ts';
import { ObjectWriter } from '../../outbound/warehouses/object-writer.ts';
import type { StoreProblem } from '../../outbound/warehouses/store.ts';
import type { BatchReference, UploadOutcome } from '../types.ts';
import { writeContent } from './content.ts';
import { type FlushDeps, openDestination, type Unusable, type UsableDestination } from './deps.ts';
import { halve } from './halve.ts';

// For connection, request and answer: 16 MiB at about 2.5 Mbit/s. The activity's own deadline is well above that of all parts together.
const REQUEST_MS = 60_000;
const END_STEP = 1000;

/** @throws when our own side is away; the upload is retried then */
export async function uploadBatch(deps: FlushDeps, reference: BatchReference): Promise<UploadOutcome> {
  const destination = await findWarehouse(deps.pool, reference);
  await noteSeen(deps.pool, reference, destination?.version ?? null);
  const opened = openDestination(deps, destination);
  const batch = await beginUpload(deps.pool, reference);
  // Uploaded by another worker, which seemed dead.
  if (!batch) return { status: 'ended' };
  if (opened.ok) return upload(deps, batch, opened);
  await endMembers(deps, batch, opened);
  await endBatch(deps.pool, batch.id, 'failed', opened.reason);
  return { status: 'ended' };
}

async function upload(deps: FlushDeps, batch: BatchUnderWay, { target }: UsableDestination): Promise<UploadOutcome> {
  const { key, fileFormat, compression } = batch;
  const object = { key, contentType: contentTypeOf(fileFormat, compression), timeoutMs: REQUEST_MS };
  const writer = new ObjectWriter(deps.warehouses, target, object);
  const content = await writeContent(deps, batch, writer);
  if (content.kind === 'empty') {
    await endBatch(deps.pool, batch.id, 'failed', NOTHING_LEFT);
    return { status: 'ended' };
  }
  if (content.kind === 'too slow') {
    // Each half needs less of the budget, and one event alone waits as long as it takes.
    await halve(deps, batch);
    return { status: 'ended' };
  }
  if (content.kind === 'too large') {
    // The rest of the batch is checked again, then its other half.
    if (await halve(deps, batch)) return { status: 'ended' };
    return fail(deps, batch, { error: TOO_LARGE, cause: 'TOO_LARGE', retry: 'never', latency: 0 });
  }
  const latency = writer.latencyMs;
  if (content.kind === 'not stored') return refused(deps, batch, { type: target.type, latency, ...content });
  warehouseUploads.add({ provider: target.type, result: 'written' });
  const { count, conversions, size, sha256 } = content.file;
  deps.issues.worked(issueSubjects.warehouse(batch.organizationId, batch.destinationId));
  const noted = await noteUploaded(deps.pool, batch, {
    ...{ events: count, bytes: size, conversions, sha256, latency },
    ...content.received,
  });
  const { id: batchId, destinationId } = batch;
  deps.log.info({ batchId, destinationId, key, events: count, bytes: size, latency }, 'warehouse batch uploaded');
  return noted ? { status: 'uploaded' } : { status: 'ended' };
}

function refused(
  deps: FlushDeps,
  batch: BatchUnderWay,
  { type, problem, latency }: { problem: StoreProblem; latency: number } & Pick<UsableDestination['target'], 'type'>,
): Promise<UploadOutcome> {
  if (problem.kind === 'closed') throw new Error('The worker is shutting down');
  const { retryable } = problem;
  warehouseUploads.add({ provider: type, result: retryable ? 'failed' : 'refused' });
  const retry = retryable ? 'soon' : 'slowly';
  return fail(deps, batch, { error: problem, cause: causeOf(problem), retry, latency });
}

const NOTHING_LEFT = openError(ownWords`Nothing was left to write: all of its deliveries have ended`);
const TOO_LARGE = openError(
  ownWords`The row of this one event would be larger than ${MAX_ROW_BYTES / 1024 / 1024} MiB: lower the number of columns that hold whole payloads`,
);

/** The cause of an issue (docs/issues.md). */
const causeOf = ({ kind }: Pick<StoreProblem, 'kind'>): string =>
  kind === 'other' ? 'STORE_ERROR' : kind.toUpperCase();

interface UploadFailure {
  error: DescribedError;
  cause: string;
  retry: 'soon' | 'slowly' | 'never';
  /** ms */
  latency: number;
}

async function fail(
  deps: FlushDeps,
  batch: BatchUnderWay,
  { error, cause, retry, latency }: UploadFailure,
): Promise<UploadOutcome> {
  await noteUploadFailed(deps.pool, batch, { error, latency });
  const { id: batchId, organizationId, destinationId, attempts } = batch;
  const subject = issueSubjects.warehouse(organizationId, destinationId);
  deps.issues.failed(subject, { cause, at: Date.now(), isFinal: retry !== 'soon' });
  deps.log.warn({ batchId, destinationId, attempts, error: error.summary, retry }, 'warehouse batch not uploaded');
  return { status: 'failed', error: error.summary, retry };
}

/** The destination was disabled or deleted while its batch waited for an upload. */
async function endMembers(deps: FlushDeps, batch: BatchUnderWay, { ending, reason }: Unusable): Promise<void> {
  const { organizationId } = batch;
  for (let after = ''; ; ) {
    const members = await openMembers(deps.pool, batch, { after, limit: END_STEP });
    const last = members.at(-1);
    if (!last) return;
    const deliveryIds = members.map(({ deliveryId }) => deliveryId);
    await endDeliveries(deps.pool, ending, { organizationId, deliveryIds, reason });
    after = last.deliveryId;
  }
}
