// Batches of a warehouse destination: written files, files in progress, and the errors of failed ones.
import { z } from 'zod';
import { COMPRESSIONS, FILE_FORMATS } from '../../../core/warehouse/file.ts';
import {
  type BatchRecord,
  isWrittenCursor,
  listBatches,
  listWrittenBatches,
} from '../../../db/history/warehouse-batches.ts';
import type { BatchStatus } from '../../../db/warehouse/batches.ts';
import type { WarehouseKey } from '../../../db/warehouse/flushes.ts';
import { type ApiDeps, type Context, entityManager, organizationId, param } from '../../request/context.ts';
import { invalid } from '../../request/errors.ts';
import { count, idOf, partOfList, text, timestamp } from '../values.ts';
import { conversions } from '../destinations/destination-test.ts';
import type { Operation } from '../../request/operation.ts';
import { choiceParam, partAnswer, partOf, partParams, timeParam } from '../../request/query.ts';
import { type DestinationIds, findDestination, isoTime } from '../records.ts';
import { parseQuery } from '../../request/validation.ts';

/** As shown: a batch whose object is there and whose deliveries are being recorded is still `uploading`. */
const BATCH_STATUSES = ['open', 'frozen', 'uploading', 'written', 'failed'] as const;

const batchListSchema = z.object({
  ...partParams,
  status: choiceParam(BATCH_STATUSES),
  writtenAfter: timeParam.meta({
    description: 'Only files whose `writtenAt` is later, in the order of writing. Not together with `status`.',
  }),
});

// An HTTP destination has no batches, so this is 404.
const warehouses: DestinationIds = ['dst_wh'];

const batch = z
  .object({
    id: idOf('bat'),
    status: z.enum(BATCH_STATUSES).meta({ examples: ['written'] }),
    partition: text('date=2026-11-21').nullable(),
    key: text('date=2026-11-21/20261121T100000000Z-bat_06f3k2v8q0e7x1c5b9m4n6p8qr.jsonl').nullable(),
    fileFormat: z
      .enum(FILE_FORMATS)
      .nullable()
      .meta({ examples: ['jsonl'] }),
    compression: z
      .enum(COMPRESSIONS)
      .nullable()
      .meta({ examples: ['gzip'] }),
    count: count.nullable().meta({ description: 'Events; once it is written, rows.' }),
    bytes: count.nullable().meta({ examples: [2048] }),
    convertedCount: count.nullable().meta({ description: 'Values that did not fit their column.', examples: [0] }),
    conversions: conversions.nullable(),
    sha256: text('0123456789abcdef'.repeat(4)).nullable(),
    firstReceivedAt: timestamp.nullable().meta({ description: 'Of the events in its rows; null until it is written.' }),
    lastReceivedAt: timestamp.nullable(),
    attempts: count.meta({ examples: [1] }),
    lastError: text('The bucket cannot be reached')
      .nullable()
      .meta({ examples: [null] }),
    createdAt: timestamp,
    frozenAt: timestamp.nullable(),
    writtenAt: timestamp.nullable(),
    finishedAt: timestamp.nullable(),
  })
  .meta({ id: 'Batch' });

export const batchOperation: Operation = {
  tag: 'Destinations',
  idOf: ['dst_wh'],
  method: 'get',
  path: '/api/destinations/{id}/batches',
  operationId: 'listBatches',
  run: list,
  summary: "List a warehouse's batches",
  description: 'Which files were written, which are on their way, and why one is not.',
  query: batchListSchema,
  answer: {
    status: 200,
    description: 'One page, newest first; with `writtenAfter` in the order of writing.',
    schema: partOfList(batch),
  },
};

async function list(ctx: Context, deps: ApiDeps): Promise<void> {
  const query = parseQuery(ctx, batchListSchema);
  const destination = await findDestination(entityManager(ctx, deps), param(ctx, 'id'), warehouses);
  const key = { organizationId: organizationId(ctx), destinationId: destination.id };
  const { batches, ...found } = await readBatches(ctx, deps, key, query);
  ctx.body = partAnswer(batches.map(showBatch), found, query);
}

function readBatches(ctx: Context, { pool }: ApiDeps, key: WarehouseKey, query: z.output<typeof batchListSchema>) {
  const { status, writtenAfter } = query;
  if (writtenAfter === undefined) return listBatches(pool, key, storedStatuses(status), partOf(ctx, query, 'bat'));
  if (status !== undefined) throw invalid('status', 'must not be given together with writtenAfter');
  return listWrittenBatches(pool, key, writtenAfter, partOf(ctx, query, isWrittenCursor));
}

function storedStatuses(shown: (typeof BATCH_STATUSES)[number] | undefined): BatchStatus[] | null {
  if (shown === undefined) return null;
  return shown === 'uploading' ? ['uploading', 'uploaded'] : [shown];
}

function showBatch(batch: BatchRecord) {
  return {
    id: batch.id,
    status: batch.status === 'uploaded' ? 'uploading' : batch.status,
    partition: batch.partition,
    key: batch.key,
    fileFormat: batch.fileFormat,
    compression: batch.compression,
    count: batch.events,
    bytes: batch.bytes,
    convertedCount: batch.misfits,
    conversions: batch.conversions,
    sha256: batch.sha256,
    firstReceivedAt: isoTime(batch.firstReceivedAt),
    lastReceivedAt: isoTime(batch.lastReceivedAt),
    attempts: batch.attempts,
    lastError: batch.error,
    createdAt: isoTime(batch.createdAt),
    frozenAt: isoTime(batch.frozenAt),
    writtenAt: isoTime(batch.uploadedAt),
    finishedAt: isoTime(batch.finishedAt),
  };
}
