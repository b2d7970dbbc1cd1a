// Chooses the delivery that takes over from one whose destination does not take the event.
import { type FailedAttempt, type FailoverRule, failoverCandidates } from '../core/failover.ts';
import { newId, shardOf } from '../core/ids.ts';
import type { AttemptContext } from '../db/hot-path/load-attempts.ts';
import type { NewFailover } from '../db/hot-path/record-results.ts';
import type { Pool } from '../db/pool.ts';

/**
 * The failover delivery to create with the result of a failed attempt, or null when the delivery goes on as it is. A
 * destination that is disabled or deleted is passed over. Only failed attempts of routes with failover come here, so the
 * query is off the usual path.
 */
export async function chooseFailover(
  pool: Pool,
  rule: FailoverRule,
  context: AttemptContext,
  failed: Omit<FailedAttempt, 'destinationId'> & { error: string },
): Promise<NewFailover | null> {
  const candidates = failoverCandidates(rule, { ...failed, destinationId: context.destinationId });
  if (candidates.length === 0) return null;
  const { rows } = await pool.query<{ id: string }>(
    `select id from destinations where organization_id = $1 and id = any($2::text[]) and enabled
     order by array_position($2::text[], id) limit 1`,
    [context.organizationId, candidates],
  );
  const destinationId = rows[0]?.id;
  if (destinationId === undefined) return null;
  const deliveryId = newId('dlv');
  return {
    deliveryId,
    destinationId,
    shard: shardOf(deliveryId),
    originalDestinationId: context.originalDestinationId ?? context.destinationId,
    reason: failed.error,
  };
}
