// The route of a delivery: what it asks for was decided when the delivery was made, and who takes over when its
// destination fails.
import type { AttemptContext } from '../../db/hot-path/load-attempts.ts';
import { type DescribedError, openError, ownWords } from '../../core/text/error-summary.ts';
import type { ConfigCache, RouteConfig } from '../config-cache.ts';
import {
  type FailedAttempt,
  failoverCandidates,
  type FailoverRule,
  type Verdict,
} from '../../core/delivery/verdict.ts';
import { newId, shardOf } from '../../core/text/ids.ts';
import type { FailoverOffer } from '../../db/hot-path/record-results.ts';

/** Nothing may be sent then: what the route asked for is not known. */
export const ROUTE_NOT_KEPT: DescribedError = openError(
  ownWords`The route was changed or deleted, and the version that the delivery uses is no longer available`,
);

type OfRoute = Pick<AttemptContext, 'organizationId' | 'routeId' | 'routeVersion' | 'currentRouteVersion'>;

/**
 * Its transform and expected response as they were when the delivery was made; the rest as it is now, of a deleted
 * route as it was.
 * @returns null when the delivery has no route; undefined when that version is not kept any more
 */
export async function routeOf(
  configs: Pick<ConfigCache, 'route'>,
  { organizationId, routeId, routeVersion, currentRouteVersion }: OfRoute,
): Promise<RouteConfig | null | undefined> {
  if (routeId === null) return null;
  const asked = routeVersion === null ? null : await configs.route(organizationId, routeId, routeVersion);
  if (asked === null) return undefined;
  if (currentRouteVersion === null || currentRouteVersion === routeVersion) return asked;
  const current = await configs.route(organizationId, routeId, currentRouteVersion);
  if (current === null) return asked;
  return { ...current, transformId: asked.transformId, expectedResponse: asked.expectedResponse };
}

/** The ordering key of a delivery, which recording locks. */
export function orderKeyFor({ destinationId, orderHash }: Pick<AttemptContext, 'destinationId' | 'orderHash'>) {
  return orderHash === null ? null : { destinationId, hash: orderHash };
}

/**
 * How long a delivery blocks its ordering key when it fails: only if no retry was left, and its route says so. One that
 * no retry can help never blocks others.
 */
export function holdOf(
  route: Pick<RouteConfig, 'ordering'> | null,
  { orderHash }: Pick<AttemptContext, 'orderHash'>,
  verdict: Verdict,
): number | null {
  if (orderHash === null || verdict.status !== 'failed' || !verdict.exhausted) return null;
  const ordering = route?.ordering;
  return ordering?.onExhausted === 'hold' ? ordering.holdSeconds : null;
}

/**
 * Failover data of a failed attempt: recording the attempt chooses the first destination that exists and is enabled.
 * Null when the delivery continues without failover. The database is not read here: the attempt has been made, and a
 * failed read would lose its result.
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
