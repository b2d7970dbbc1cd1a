// The file of a batch: its events read page by page, so that the payloads in memory stay few, transformed, and written in
// the order in which they were received.
import pMap from 'p-map';
import { type DescribedError, openError, ownWords } from '../../core/error-summary.ts';
import type { BatchFile } from '../../core/warehouse/file.ts';
import type { WarehouseEvent } from '../../core/warehouse/event.ts';
import { FileTooLargeError } from '../../core/warehouse/size-limit.ts';
import { endDeliveries } from '../../db/delivery/delivery-commands.ts';
import { type AttemptContext, loadAttempts } from '../../db/hot-path/load-attempts.ts';
import { batchContent, type BatchMember, type BatchUnderWay } from '../../db/warehouse/batches.ts';
import { type OpenFile, openFile } from '../../outbound/warehouses/batch-file.ts';
import { applyTransform } from '../apply-transform.ts';
import type { FlushDeps } from './deps.ts';
import { TooSlowError, TransformTurns } from './transform-turns.ts';

const PAGE_EVENTS = 250;
const PAGE_BYTES = 2 * 1024 * 1024;
// Far below an organization's share of the queue for transforms, which all its batches and deliveries have together.
const TRANSFORMS_AT_ONCE = 16;

const MAPPING_TOO_LONG = openError(
  ownWords`The row of the webhook takes too long to make; simplify what the fieldMapping of the destination searches for`,
);

/** The file, or why there is none: nothing is left to write, it is too large, or its transforms have to wait for too long. */
export type Content =
  | { kind: 'file'; file: BatchFile; received: Received }
  | { kind: 'empty' }
  | { kind: 'too large' }
  | { kind: 'too slow' };

/** When the first and the last event of the file were received. */
interface Received {
  firstReceivedAt: Date | null;
  lastReceivedAt: Date | null;
}

/**
 * Makes the file of a batch. Deliveries that cannot be written (the transform fails, the payload is gone) are ended here and
 * excluded from later tries.
 * @throws when our own side is away
 */
export async function makeContent(deps: FlushDeps, batch: BatchUnderWay): Promise<Content> {
  const file = openFile(batch.organizationId, batch, deps.compute);
  const members = await batchContent(deps.pool, batch);
  const turns = new TransformTurns(members.length > 1);
  const received: Received = { firstReceivedAt: null, lastReceivedAt: null };
  try {
    for (const page of pagesOf(members)) {
      for await (const { receivedAt } of addRows(deps, batch, await eventsOf(deps, batch, page, turns), file)) {
        // Rows are in the order of receipt.
        received.firstReceivedAt ??= receivedAt;
        received.lastReceivedAt = receivedAt;
      }
    }
    const finished = await file.finish();
    return finished.count === 0 ? { kind: 'empty' } : { kind: 'file', file: finished, received };
  } catch (error) {
    if (error instanceof FileTooLargeError) return { kind: 'too large' };
    if (error instanceof TooSlowError) return { kind: 'too slow' };
    throw error;
  } finally {
    turns.end();
  }
}

/** Rows are made in threads: a mapping may search long in a payload. @returns the events that have a row */
async function* addRows(
  deps: FlushDeps,
  batch: BatchUnderWay,
  events: WrittenEvent[],
  file: OpenFile,
): AsyncGenerator<WarehouseEvent, void> {
  const tooLong: Row[] = [];
  let index = 0;
  for await (const row of deps.compute.rows(
    batch.organizationId,
    batch,
    events.map(({ event }) => event),
  )) {
    const written = events[index];
    index += 1;
    if (row.kind === 'too large') throw new FileTooLargeError();
    if (!written) throw new Error('There are more rows than events');
    if (row.kind === 'row') {
      await file.add(row);
      yield written.event;
    } else tooLong.push({ deliveryId: written.deliveryId, ending: 'failed', reason: MAPPING_TOO_LONG });
  }
  await endUnwritable(deps, batch, tooLong);
}

function* pagesOf(members: BatchMember[]): Generator<BatchMember[]> {
  let page: BatchMember[] = [];
  let bytes = 0;
  for (const member of members) {
    const size = member.payloadSize ?? 0;
    if (page.length === PAGE_EVENTS || (page.length > 0 && bytes + size > PAGE_BYTES)) {
      yield page;
      page = [];
      bytes = 0;
    }
    page.push(member);
    bytes += size;
  }
  if (page.length > 0) yield page;
}

interface WrittenEvent {
  deliveryId: string;
  event: WarehouseEvent;
}

type Ending = { ending: 'cancelled' | 'failed'; reason: DescribedError };

async function eventsOf(
  deps: FlushDeps,
  batch: BatchUnderWay,
  page: BatchMember[],
  turns: TransformTurns,
): Promise<WrittenEvent[]> {
  const contexts = await loadAttempts(deps.hotPool, page);
  const found = page.flatMap(({ deliveryId }) => contexts.get(deliveryId) ?? []);
  const rows = await pMap(found, (context) => turns.run(() => rowOf(deps, batch, context)), {
    concurrency: TRANSFORMS_AT_ONCE,
  });
  await endUnwritable(deps, batch, rows);
  return rows.flatMap((row) => ('event' in row ? [row] : []));
}

type Row = WrittenEvent | ({ deliveryId: string } & Ending);

/** An event after its route's transform, or how its delivery ends. */
async function rowOf(deps: FlushDeps, { frozenAt }: BatchUnderWay, context: AttemptContext): Promise<Row> {
  const { deliveryId, eventId, routeId, replayOf, sourceSlug, eventHeaders, body, receivedAt } = context;
  if (sourceSlug === null || eventHeaders === null || receivedAt === null) {
    return { deliveryId, ending: 'cancelled', reason: openError(ownWords`The source of the event was deleted`) };
  }
  if (body === null) {
    const removed = ownWords`The payload was removed by the retention policy before it was written`;
    return { deliveryId, ending: 'failed', reason: openError(removed) };
  }
  const content = await applyTransform(deps, context, { headers: eventHeaders, body, sourceSlug });
  if ('problem' in content) return { deliveryId, ending: 'failed', reason: content.problem };
  return {
    deliveryId,
    event: {
      id: eventId,
      deliveryId,
      source: sourceSlug,
      routeId,
      replayOf,
      receivedAt,
      writtenAt: frozenAt,
      headers: lowercased(content.headers),
      body: content.body,
    },
  };
}

/** A transform sets headers in the usual letters; received ones are in lowercase already. */
function lowercased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

async function endUnwritable(deps: FlushDeps, { organizationId, id }: BatchUnderWay, rows: Row[]): Promise<void> {
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
