// Batches of warehouses in the API's description; their handler is in ../resources/batches.ts.
import { z } from 'zod';
import { BATCH_STATUSES, batchListSchema } from '../resources/batches.ts';
import { count, idOf, listOf, text, timestamp } from '../members/values.ts';
import type { Operation } from './operation.ts';

const batch = z
  .object({
    id: idOf('bat'),
    status: z.enum(BATCH_STATUSES).meta({ examples: ['written'] }),
    partition: text('date=2026-11-21').nullable(),
    key: text('date=2026-11-21/20261121T100000000Z-bat_06f3k2v8q0e7x1c5b9m4n6p8qr.jsonl').nullable(),
    count: count.nullable().meta({ description: 'Events.' }),
    bytes: count.nullable().meta({ examples: [2048] }),
    convertedCount: count.nullable().meta({ description: 'Values that did not fit their column.', examples: [0] }),
    sha256: text('0123456789abcdef'.repeat(4)).nullable(),
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
  summary: "List a warehouse's batches",
  description: 'Which files were written, which are on their way, and why one is not.',
  query: batchListSchema,
  answer: { status: 200, description: 'One page, newest first.', schema: listOf(batch) },
};
