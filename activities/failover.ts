// Which deliveries may take over from one whose destination does not take the event.
import type { DescribedError } from '../core/text/error-summary.ts';
import { type FailedAttempt, type FailoverRule, failoverCandidates } from '../core/delivery/failover.ts';
import { newId, shardOf } from '../core/text/ids.ts';
import type { AttemptContext } from '../db/hot-path/load-attempts.ts';
import type { FailoverOffer } from '../db/hot-path/record-results.ts';

/**
 * Failover data of a failed attempt: recording the attempt chooses the first destination that exists and is enabled. Null when
 * the delivery continues without failover. The database is not read here: the attempt has been made, and a failed read would lose
 * its result.
 */
export function offerFailover(
  rule: FailoverRule,
  from: Pick<AttemptContext, 'organizationId' | 'destinationId' | 'originalDestinationId' | 'failedOver'>,
  failed: Pick<FailedAttempt, 'attempt' | 'exhausted'> & { error: DescribedError },
): FailoverOffer | null {
  const isPrimary = from.originalDestinationId === null;
  const tried = [from.destinationId, ...from.failedOver];
  const candidates = failoverCandidates(rule, { ...failed, isPrimary, tried });
  if (candidates.length === 0) return null;
  const deliveryId = newId('dlv');
  return {
    organizationId: from.organizationId,
    candidates,
    deliveryId,
    shard: shardOf(deliveryId),
    originalDestinationId: from.originalDestinationId ?? from.destinationId,
    // A header of the request to the failover destination.
    reason: failed.error.detail,
  };
}
