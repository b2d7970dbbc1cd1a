// The file of a batch: its events, in the order in which they were received, on their way to the store.
import { openError, ownWords } from '../../core/text/error-summary.ts';
import type { FileContent } from '../../core/warehouse/file.ts';
import { FileTooLargeError, fileLimit } from '../../core/warehouse/size-limit.ts';
import { endDeliveries } from '../../db/delivery/delivery-commands.ts';
import type { BatchUnderWay } from '../../db/warehouse/batches.ts';
import { batchContent } from '../../db/warehouse/members.ts';
import type { StoredEvent } from '../../outbound/compute/index.ts';
import { type OpenFile, openFile } from '../../outbound/warehouses/batch-file.ts';
import { NotStoredError, type ObjectWriter, type StoredFile } from '../../outbound/warehouses/object-writer.ts';
import type { StoreProblem } from '../../outbound/warehouses/store.ts';
import type { FlushDeps } from './deps.ts';
import { type Prepared, preparedPages } from './events.ts';
import { TooSlowError } from './transform-turns.ts';

const MAPPING_TOO_LONG = openError(
  ownWords`The row of the webhook takes too long to make; simplify what the fieldMapping of the destination searches for`,
);

/**
 * What was stored, or why nothing was: nothing is left to write, it is too large, its transforms have to wait for too long, or the store
 * has not taken it.
 */
export type Content =
  | { kind: 'file'; file: FileContent & StoredFile; received: Received }
  | { kind: 'not stored'; problem: StoreProblem }
  | { kind: 'empty' }
  | { kind: 'too large' }
  | { kind: 'too slow' };

/** When the first and the last event of the file were received. */
interface Received {
  firstReceivedAt: Date | null;
  lastReceivedAt: Date | null;
}

/**
 * Makes the file of a batch, and stores it. Deliveries that cannot be written (the transform fails, the payload is gone) are ended here and
 * excluded from later tries.
 * @throws when our own side is away
 */
export async function writeContent(deps: FlushDeps, batch: BatchUnderWay, writer: ObjectWriter): Promise<Content> {
  const { compute } = deps;
  const file = openFile(batch.organizationId, batch, { compute, limit: fileLimit(batch.bytes), sink: writer });
  const members = await batchContent(deps.pool, batch);
  const received: Received = { firstReceivedAt: null, lastReceivedAt: null };
  try {
    for await (const page of preparedPages(deps, batch, members)) {
      const written = await addRows(deps, batch, page, file);
      // Rows are in the order of receipt.
      received.firstReceivedAt ??= written.at(0)?.receivedAt ?? null;
      received.lastReceivedAt = written.at(-1)?.receivedAt ?? received.lastReceivedAt;
    }
    if (received.firstReceivedAt === null) return { kind: 'empty' };
    const content = await file.finish();
    return { kind: 'file', file: { ...content, ...(await writer.end(content.count)) }, received };
  } catch (error) {
    if (error instanceof NotStoredError) return { kind: 'not stored', problem: error.problem };
    if (error instanceof FileTooLargeError) return { kind: 'too large' };
    if (error instanceof TooSlowError) return { kind: 'too slow' };
    throw error;
  } finally {
    await writer.abort();
  }
}

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
  for await (const made of deps.compute.rows(batch.organizationId, batch, events)) {
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
