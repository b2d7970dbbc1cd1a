// Splits a batch whose file would be too large: half of it goes to a new batch, until every file fits.
import { newId } from '../../core/text/ids.ts';
import { keyOfHalf } from '../../core/warehouse/object-key.ts';
import type { BatchUnderWay } from '../../db/warehouse/batches.ts';
import { batchContent, type BatchMember } from '../../db/warehouse/members.ts';
import { halveBatch } from '../../db/warehouse/batch-halves.ts';
import type { FlushDeps } from './deps.ts';

/**
 * Keeps the first half of a batch's events in it, in the order of their rows, and gives the others to a new one. Its key stays:
 * if an earlier upload wrote a larger object there, the next one overwrites it.
 * @returns false when there is only one event, which alone is too large
 */
export async function halve(deps: FlushDeps, batch: BatchUnderWay): Promise<boolean> {
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
  if (moved) deps.log.info({ batchId, destinationId, halfId: id, events: members.length }, 'warehouse batch halved');
  return true;
}

function bytesOf(members: BatchMember[]): number {
  return members.reduce((sum, { payloadSize }) => sum + (payloadSize ?? 0), 0);
}
