import { z } from 'zod';
import { COMPRESSIONS, FILE_FORMATS } from '../../../core/warehouse/files-and-keys.ts';
import {
  type BatchRecord,
  isWrittenCursor,
  listBatches,
  listWrittenBatches,
} from '../../../db/history/warehouse-batches.ts';
import type { BatchStatus } from '../../../db/warehouse/batches.ts';
import type { WarehouseKey } from '../../../db/warehouse/flushes.ts';
import { type Context, organizationId } from '../../request/context.ts';
import { invalid } from '../../request/errors.ts';
import { operation } from '../../request/operation.ts';
import { choiceParam, partAnswer, partOf, partParams, timeParam } from '../../request/query.ts';
import { conversions } from '../destinations/destination-test.ts';
import { findWarehouse } from '../records.ts';
import { component, count, idOf, partOfList, text, timestamp, withExample } from '../values.ts';

/** As shown: a batch whose object is there and whose deliveries are being recorded is still `uploading`. */
const BATCH_STATUSES = ['open', 'frozen', 'uploading', 'written', 'failed'] as const;

const batchListSchema = z.object({
  ...partParams,
  status: choiceParam(BATCH_STATUSES),
  writtenAfter: timeParam.describe(
    'Returns only batches written after this time, oldest first. Cannot be combined with `status`.',
  ),
});

const batch = component('Batch', {
  id: idOf('bat'),
  status: withExample(z.enum(BATCH_STATUSES), 'written'),
  partition: text('date=2026-11-21').nullable(),
  key: text('date=2026-11-21/20261121T100000000Z-bat_06f3k2v8q0e7x1c5b9m4n6p8qr.jsonl').nullable(),
  fileFormat: withExample(z.enum(FILE_FORMATS).nullable(), 'jsonl'),
  compression: withExample(z.enum(COMPRESSIONS).nullable(), 'gzip'),
  count: count.nullable().describe('The number of events. For a written file, the number of rows.'),
  bytes: withExample(count.nullable(), 2048),
  convertedCount: withExample(
    count.nullable(),
    0,
    'The number of values that did not fit their columns and were replaced with the column default or null.',
  ),
  conversions: conversions.nullable(),
  sha256: text('0123456789abcdef'.repeat(4)).nullable(),
  firstReceivedAt: timestamp
    .nullable()
    .describe("When the file's first event was received. Null if the file was not written."),
  lastReceivedAt: timestamp
    .nullable()
    .describe("When the file's last event was received. Null if the file was not written."),
  attempts: withExample(count, 1),
  lastError: withExample(
    text('The bucket "acme-events" does not exist; create it, or correct its name').nullable(),
    null,
  ),
  createdAt: timestamp,
  frozenAt: timestamp.nullable(),
  writtenAt: timestamp.nullable(),
  finishedAt: timestamp.nullable(),
});

export const batchOperation = operation('listBatches', 'get', '/api/destinations/{id}/batches', {
  tag: 'Destinations',
  of: findWarehouse,
  summary: "List a warehouse's batches",
  description: 'Written, failed and unfinished batches, with the reason for any failure.',
  query: batchListSchema,
  answer: {
    description: 'One page, newest first. With `writtenAfter`, oldest first.',
    schema: partOfList(batch),
  },
  async run(ctx, { query, record }) {
    const key = { organizationId: organizationId(ctx), destinationId: record.id };
    const { batches, ...found } = await readBatches(ctx, key, query);
    return partAnswer(batches.map(showBatch), found, query);
  },
});

function readBatches(ctx: Context, key: WarehouseKey, query: z.output<typeof batchListSchema>) {
  const { pool } = ctx.deps;
  const { status, writtenAfter } = query;
  if (writtenAfter === undefined) return listBatches(pool, key, storedStatuses(status), partOf(ctx, query, 'bat'));
  if (status !== undefined) throw invalid('status', 'cannot be combined with writtenAfter');
  return listWrittenBatches(pool, key, writtenAfter, partOf(ctx, query, isWrittenCursor));
}

function storedStatuses(shown: (typeof BATCH_STATUSES)[number] | undefined): BatchStatus[] | null {
  if (shown === undefined) return null;
  return shown === 'uploading' ? ['uploading', 'uploaded'] : [shown];
}

function showBatch({ status, events, misfits, error, uploadedAt, ...batch }: BatchRecord) {
  return {
    ...batch,
    status: status === 'uploaded' ? 'uploading' : status,
    count: events,
    convertedCount: misfits,
    lastError: error,
    writtenAt: uploadedAt,
  };
}
