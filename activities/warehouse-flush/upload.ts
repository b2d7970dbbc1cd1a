// Writes the object of a batch. Every try writes the same key, and the same bytes unless one of its events was deleted
// or a transform was changed in between; then the later object replaces the earlier one. A batch that is too large for
// one object, or whose transforms have to wait for too long, is halved.
import { issueSubjects } from '../../core/messages/issues.ts';
import { warehouseUploads } from '../../core/metrics/services.ts';
import { type DescribedError, openError, ownWords } from '../../core/text/error-summary.ts';
import { newId } from '../../core/text/ids.ts';
import {
  contentTypeOf,
  fileLimit,
  FileTooLargeError,
  keyOfHalf,
  MAX_ROW_BYTES,
} from '../../core/warehouse/files-and-keys.ts';
import { endDeliveries } from '../../db/delivery/delivery-commands.ts';
import {
  type BatchUnderWay,
  beginUpload,
  endBatch,
  findWarehouse,
  noteUploaded,
  noteUploadFailed,
  type WrittenFile,
} from '../../db/warehouse/batches.ts';
import { noteSeen } from '../../db/warehouse/flushes.ts';
import { halveBatch } from '../../db/warehouse/freeze.ts';
import { batchContent, type BatchMember, openMembers } from '../../db/warehouse/members.ts';
import type { StoredEvent } from '../../outbound/threads/index.ts';
import {
  NotStoredError,
  type ObjectWriter,
  type OpenFile,
  openFile,
  openObject,
} from '../../outbound/warehouses/files.ts';
import type { StoreProblem } from '../../outbound/warehouses/store.ts';
import type { BatchReference, UploadOutcome } from '../types.ts';
import { type FlushDeps, openDestination, type Unusable, type UsableDestination } from './prepare.ts';
import { type Prepared, preparedPages, TooSlowError } from './events.ts';

// For connection, request and answer: 16 MiB at about 2.5 Mbit/s. The activity's own deadline is well above that of all
// parts together.
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
  const writer = openObject(deps.warehouses, target, object);
  let file: WrittenFile | null;
  try {
    file = await writeFile(deps, batch, writer);
  } catch (error) {
    if (error instanceof NotStoredError)
      return refused(deps, batch, { type: target.type, latency: writer.latencyMs, problem: error.problem });
    // Each half needs less of the budget of its transforms, and one event alone waits as long as it takes.
    if (error instanceof TooSlowError) await halve(deps, batch);
    else if (!(error instanceof FileTooLargeError)) throw error;
    // The rest of the batch is checked again, then its other half.
    else if (!(await halve(deps, batch)))
      return fail(deps, batch, { error: TOO_LARGE, cause: 'TOO_LARGE', retry: 'never', latency: 0 });
    return { status: 'ended' };
  }
  if (file === null) {
    await endBatch(deps.pool, batch.id, 'failed', NOTHING_LEFT);
    return { status: 'ended' };
  }
  warehouseUploads.add({ provider: target.type, result: 'written' });
  deps.issues.worked(issueSubjects.warehouse(batch.organizationId, batch.destinationId));
  const noted = await noteUploaded(deps.pool, batch, file);
  const { id: batchId, destinationId } = batch;
  const { events, bytes, latency } = file;
  deps.log.info({ batchId, destinationId, key, events, bytes, latency }, 'warehouse batch uploaded');
  return noted ? { status: 'uploaded' } : { status: 'ended' };
}

/**
 * Makes the file of a batch, and stores it. Deliveries that cannot be written (the transform fails, the payload is
 * gone) are ended here and excluded from later tries.
 * @returns null when nothing is left to write
 * @throws NotStoredError, FileTooLargeError, TooSlowError, or when our own side is away
 */
async function writeFile(deps: FlushDeps, batch: BatchUnderWay, writer: ObjectWriter): Promise<WrittenFile | null> {
  const { threads } = deps;
  const file = openFile(batch.organizationId, batch, { threads, limit: fileLimit(batch.bytes), sink: writer });
  let [firstReceivedAt, lastReceivedAt]: [Date | null, Date | null] = [null, null];
  try {
    for await (const page of preparedPages(deps, batch, await batchContent(deps.pool, batch))) {
      const written = await addRows(deps, batch, page, file);
      // Rows are in the order of receipt.
      firstReceivedAt ??= written.at(0)?.receivedAt ?? null;
      lastReceivedAt = written.at(-1)?.receivedAt ?? lastReceivedAt;
    }
    if (firstReceivedAt === null) return null;
    const { count, conversions } = await file.finish();
    const { size, sha256 } = await writer.end(count);
    const latency = writer.latencyMs;
    return { events: count, bytes: size, conversions, sha256, latency, firstReceivedAt, lastReceivedAt };
  } finally {
    await writer.abort();
  }
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

const NOTHING_LEFT = openError(ownWords`Nothing was left to write: all deliveries in the batch had finished`);
const TOO_LARGE = openError(
  ownWords`The row for this event would be larger than ${MAX_ROW_BYTES / 1024 / 1024} MiB; reduce the number of columns that contain whole payloads`,
);

/** The cause of an issue (docs/guide/issues-and-alerts.md). */
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

// Splits a batch whose file would be too large: half of it goes to a new batch, until every file fits.

/**
 * Keeps the first half of a batch's events in it, in the order of their rows, and gives the others to a new one. Its
 * key stays: if an earlier upload wrote a larger object there, the next one overwrites it.
 * @returns false when there is only one event, which alone is too large
 */
async function halve(deps: FlushDeps, batch: BatchUnderWay): Promise<boolean> {
  const members = await batchContent(deps.pool, batch);
  if (members.length < 2) return false;
  const middle = Math.ceil(members.length / 2);
  const [left, right] = [members.slice(0, middle), members.slice(middle)];
  const id = newId('bat');
  const moved = await halveBatch(deps.pool, batch, {
    left: { events: left.length, bytes: bytesOf(left) },
    right: {
      id,
      keyAt: (frozenAt) =>
        keyOfHalf(batch.key, { id, at: batch.keyOrder === 'written' ? frozenAt : (right[0]?.receivedAt ?? null) }),
      bytes: bytesOf(right),
      deliveryIds: right.map(({ deliveryId }) => deliveryId),
    },
  });
  const { id: batchId, destinationId } = batch;
  if (moved)
    deps.log.info({ batchId, destinationId, halfId: id, events: members.length }, 'warehouse batch split in half');
  return true;
}

function bytesOf(members: BatchMember[]): number {
  return members.reduce((sum, { payloadSize }) => sum + (payloadSize ?? 0), 0);
}

const MAPPING_TOO_LONG = openError(
  ownWords`Building the event's row took too long; simplify the destination's fieldMapping`,
);

/** Rows are made in threads: a mapping may search long in a payload. @returns the events that have a row */
async function addRows(
  deps: FlushDeps,
  batch: BatchUnderWay,
  page: Prepared[],
  file: OpenFile,
): Promise<StoredEvent[]> {
  await endUnwritable(deps, batch, page);
  const events = page.flatMap((each) => ('event' in each ? [each.event] : []));
  const tooLong = new Set<number>();
  for await (const made of deps.threads.rows(batch.organizationId, batch, events)) {
    if (made.isNextTooLarge) throw new FileTooLargeError();
    await file.add(made);
    for (const place of made.tooLong) tooLong.add(place);
  }
  if (tooLong.size === 0) return events;
  const ended = events
    .filter((_event, place) => tooLong.has(place))
    .map(({ deliveryId }): Prepared => ({ deliveryId, ending: 'failed', reason: MAPPING_TOO_LONG }));
  await endUnwritable(deps, batch, ended);
  return events.filter((_event, place) => !tooLong.has(place));
}

async function endUnwritable(deps: FlushDeps, { organizationId, id }: BatchUnderWay, rows: Prepared[]): Promise<void> {
  const unwritable = rows.flatMap((row) => ('ending' in row ? [row] : []));
  for (const ended of Map.groupBy(unwritable, (row) => row.reason.detail).values()) {
    const [first] = ended;
    if (!first) continue;
    const { ending, reason } = first;
    const deliveryIds = ended.map(({ deliveryId }) => deliveryId);
    await endDeliveries(deps.pool, ending, { organizationId, deliveryIds, reason });
    deps.log.info(
      { batchId: id, deliveryIds, status: ending, reason: reason.summary },
      'deliveries ended without a row in the file',
    );
  }
}
