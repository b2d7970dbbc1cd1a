// Batches of a warehouse destination: which files were written, which are on their way, and why one is not.
// Rules: WH-25.
import { z } from 'zod';
import { type BatchRecord, listBatches } from '../../db/history/warehouse-batches.ts';
import type { BatchStatus } from '../../db/warehouse/batches.ts';
import { type ApiDeps, type ApiRouter, type Context, entityManager, organizationId, param } from '../context.ts';
import { limitOf, listAnswer, pageParams } from '../pagination.ts';
import { choiceParam } from '../query.ts';
import { type DestinationIds, findDestination, isoTime } from '../records.ts';
import { parseQuery } from '../validation.ts';

/** As shown: a batch whose object is there and whose deliveries are being recorded is still `uploading`. */
export const BATCH_STATUSES = ['open', 'frozen', 'uploading', 'written', 'failed'] as const;

export const batchListSchema = z.object({ ...pageParams, status: choiceParam(BATCH_STATUSES) });

// An HTTP destination has no batches: there is nothing to be found.
const warehouses: DestinationIds = ['dst_wh'];

export function mountBatches(router: ApiRouter, deps: ApiDeps): void {
  router.get('/api/destinations/:id/batches', (ctx) => list(ctx, deps));
}

async function list(ctx: Context, deps: ApiDeps): Promise<void> {
  const query = parseQuery(ctx, batchListSchema);
  const destination = await findDestination(entityManager(ctx, deps), param(ctx, 'id'), warehouses);
  const key = { organizationId: organizationId(ctx), destinationId: destination.id };
  const { batches, total } = await listBatches(deps.pool, key, storedStatuses(query.status), limitOf(query));
  ctx.body = listAnswer(batches.map(showBatch), total, query);
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
    count: batch.events,
    bytes: batch.bytes,
    convertedCount: batch.misfits,
    sha256: batch.sha256,
    attempts: batch.attempts,
    lastError: batch.error,
    createdAt: isoTime(batch.createdAt),
    frozenAt: isoTime(batch.frozenAt),
    writtenAt: isoTime(batch.uploadedAt),
    finishedAt: isoTime(batch.finishedAt),
  };
}
