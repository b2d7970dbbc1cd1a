// Deliveries of suspended organizations wait in the outbox, where no relay claims them (db/hot-path/claim.ts). When the organization
// is resumed, the relay signals their workflows in the order of the outbox. No attempt and no retry is used up by waiting.
import type { Lane } from '../../core/delivery/lane.ts';
import { postponeDelivery } from '../../db/delivery/delivery-commands.ts';
import { queueForTurn } from '../../db/delivery/rate-limits.ts';
import type { AttemptContext } from '../../db/hot-path/load-attempts.ts';
import type { Pool } from '../../db/connections/pool.ts';
import type { AttemptOutcome } from '../types.ts';
import { FORGOTTEN_MS, LOOK_AGAIN_MS } from './rate-limit.ts';

/** @returns when to try again */
export async function waitForResumption(
  pool: Pool,
  { deliveryId }: AttemptContext,
  lane: Lane,
): Promise<AttemptOutcome> {
  if (lane === 'workflow') {
    await queueForTurn(pool, deliveryId);
    return { status: 'deferred', waitMs: FORGOTTEN_MS, queued: true, for: 'resumption' };
  }
  await postponeDelivery(pool, deliveryId, LOOK_AGAIN_MS);
  return { status: 'deferred', waitMs: LOOK_AGAIN_MS, for: 'resumption' };
}
