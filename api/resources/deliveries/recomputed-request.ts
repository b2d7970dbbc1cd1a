// The request of an attempt, made again of the event, the destination as it is now, and the transform in the version of
// the delivery: transforms are functions of the event, so the same records make the same request. The workers' code
// does it (outbound/), in the threads and budgets of the API.
import { deliveryUrl } from '../../../core/delivery/delivery-url.ts';
import { isId } from '../../../core/text/ids.ts';
import {
  loadDestination,
  loadRoute,
  loadTransform,
  type OpenDestination,
  openSecrets,
  type TransformConfig,
} from '../../../db/hot-path/attempt-config.ts';
import { type AttemptContext, loadAttempts, receivedAddress } from '../../../db/hot-path/load-attempts.ts';
import type { DeliveryRecord } from '../../../db/history/deliveries.ts';
import { buildOutboundRequest } from '../../../outbound/http/outbound-request.ts';
import { type EventContent, type EventFacts, transformContent } from '../../../outbound/transforms/content.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { type ApiDeps, type Context, organizationId } from '../../request/context.ts';
import { inThreads } from '../../request/threads.ts';

/** Why there is no request to show. */
export const PROBLEMS = {
  WAREHOUSE: 'The destination is a warehouse: events are written to files, not sent in requests',
  DESTINATION_DELETED: 'The destination was deleted',
  EVENT_DELETED: 'The event was deleted',
  PAYLOAD_EXPIRED: 'The payload of the event was removed by the retention policy',
  TRANSFORM_DELETED: 'The version of the route and transform that the delivery used is no longer kept',
  TRANSFORM_FAILED: 'The transform of the route fails',
  CANNOT_BE_MADE: 'The request cannot be built for the current destination',
} as const;
export type ProblemCode = keyof typeof PROBLEMS;

export interface Problem {
  code: ProblemCode;
  message: string;
}

export const problem = (code: ProblemCode, message: string = PROBLEMS[code]) => ({ problem: { code, message } });

type Sent = Pick<
  AttemptContext,
  'deliveryId' | 'eventId' | 'eventPath' | 'eventQuery' | 'traceparent' | 'originalDestinationId' | 'failoverReason'
> &
  Partial<Pick<AttemptContext, 'orderKey' | 'orderNumber'>>;

export interface Recomputed {
  destination: OpenDestination;
  content: EventContent;
  context: Sent;
  sourceSlug: string;
}

/**
 * What the request of a delivery is made of.
 * @param asReplay by the route and its transform as they are now, if it is there
 * @throws ApiError 429, 503 when the transform cannot be run now
 */
export async function recompute(
  ctx: Context,
  deps: ApiDeps,
  { id: deliveryId, eventId, destinationId }: DeliveryRecord,
  asReplay: boolean,
): Promise<Recomputed | { problem: Problem }> {
  if (isId('dst_wh', destinationId)) return problem('WAREHOUSE');
  const row = await loadDestination(deps.pool, organizationId(ctx), destinationId);
  if (row === null) return problem('DESTINATION_DELETED');
  const context = (await loadAttempts(deps.pool, [{ deliveryId, eventId }], { asTenant: true })).get(deliveryId);
  if (!context || context.eventHeaders === null || context.sourceSlug === null) return problem('EVENT_DELETED');
  if (context.body === null) return problem('PAYLOAD_EXPIRED');
  const transform = await transformOf(deps, context, asReplay);
  if (transform === undefined) return problem('TRANSFORM_DELETED');
  const { sourceSlug, eventHeaders: headers, body } = context;
  const content = await contentOf(ctx, deps, transform, context, { sourceSlug, headers, body });
  if ('problem' in content) return content;
  return { destination: openSecrets(row, deps.secretBox), content, context, sourceSlug };
}

/** Null: none; undefined: it is not kept any more. */
async function transformOf(
  { pool }: ApiDeps,
  { organizationId, routeId, routeVersion, currentRouteVersion, transformVersion }: AttemptContext,
  asReplay: boolean,
): Promise<TransformConfig | null | undefined> {
  if (routeId === null) return null;
  const isCurrent = asReplay && currentRouteVersion !== null;
  const version = isCurrent ? currentRouteVersion : routeVersion;
  const route = version === null ? null : await loadRoute(pool, organizationId, routeId, version);
  if (route === null) return undefined;
  if (route.transformId === null) return null;
  if (!isCurrent && transformVersion === null) return undefined;
  return (
    (await loadTransform(pool, organizationId, route.transformId, isCurrent ? null : transformVersion)) ?? undefined
  );
}

export async function contentOf(
  ctx: Context,
  deps: ApiDeps,
  transform: TransformConfig | null,
  context: EventFacts,
  received: EventContent & { sourceSlug: string },
): Promise<EventContent | { problem: Problem }> {
  if (transform === null) return received;
  const content = await inThreads(() =>
    transformContent(deps.threads, transform, context, received, organizationId(ctx)),
  );
  return 'problem' in content ? problem('TRANSFORM_FAILED', content.problem.detail) : content;
}

export function requestUrl({ destination, context }: Pick<Recomputed, 'destination' | 'context'>): string {
  return deliveryUrl(destination, receivedAddress(context));
}

export function maskedHeaders(
  { settings }: Pick<ApiDeps, 'settings'>,
  { destination, content, context, sourceSlug }: Recomputed,
  attempt: number,
  at: Date,
): { headers: Record<string, string> } | { problem: Problem } {
  const { originalDestinationId, failoverReason, orderKey, orderNumber } = context;
  try {
    const request = buildOutboundRequest({
      destination,
      event: { id: context.eventId, address: receivedAddress(context), ...content },
      delivery: { id: context.deliveryId },
      attempt,
      source: { slug: sourceSlug },
      headerPrefix: settings.HOOKYARD_HEADER_PREFIX,
      version: packageJson.version,
      // Where the attempt is recorded, its span takes its place.
      eventTraceparent: context.traceparent,
      nowMs: at.getTime(),
      ...(originalDestinationId !== null && {
        failover: { originalDestination: originalDestinationId, failureReason: failoverReason ?? '' },
      }),
      ...(orderKey && orderNumber && { order: { key: orderKey, number: orderNumber } }),
    });
    return { headers: request.maskedHeaders };
  } catch (error) {
    return problem('CANNOT_BE_MADE', `${PROBLEMS.CANNOT_BE_MADE}: ${error instanceof Error ? error.message : error}`);
  }
}
