// Renders the request of an attempt: the content of the event, transformed if the route has a transform (the version of
// the delivery).

import type { Lane } from '../../core/delivery/delivery.ts';
import { type IssueSink, issueSubjects } from '../../core/messages/issues.ts';
import { type DescribedError, openError, ownWords } from '../../core/text/error-summary.ts';
import { type AttemptContext, receivedAddress } from '../../db/hot-path/load-attempts.ts';
import {
  buildOutboundRequest,
  MissingCredentialsError,
  type OutboundRequest,
} from '../../outbound/http/outbound-request.ts';
import { NoTurnError } from '../../outbound/threads/errors.ts';
import type { Threads } from '../../outbound/threads/index.ts';
import { type EventContent, transformContent } from '../../outbound/transforms/content.ts';
import type { TransformFailure } from '../../outbound/transforms/language.ts';
import type { ConfigCache, RouteConfig } from '../config-cache.ts';
import type { AttemptOutcome, AttemptRequest } from '../types.ts';
import type { Admitted } from './admission.ts';
import type { AttemptDeps } from './index.ts';
import { endWithoutAttempt } from './outcomes.ts';
import { postpone } from './rate-and-concurrency.ts';

/**
 * @returns the content to send, or the outcome of a delivery whose transform fails: it is a pure function, so it would
 * fail again
 */
export async function renderContent(
  deps: AttemptDeps,
  admitted: Admitted,
  lane: Lane,
): Promise<EventContent | AttemptOutcome> {
  const { context } = admitted;
  try {
    const content = await applyTransform(deps, context, admitted.route, admitted);
    if ('problem' in content) return endWithoutAttempt(deps, context, { ending: 'failed', reason: content.problem });
    return content;
  } catch (error) {
    if (error instanceof NoTurnError) return awaitTurn(deps, context, lane, error);
    throw error;
  }
}

async function awaitTurn(
  { pool, log }: AttemptDeps,
  { organizationId, deliveryId, eventId }: AttemptContext,
  lane: Lane,
  { waitMs, message: reason }: NoTurnError,
): Promise<AttemptOutcome> {
  const outcome = await postpone(pool, deliveryId, waitMs, 'transforms', lane === 'workflow');
  log.info({ organizationId, deliveryId, eventId, waitMs, reason }, 'attempt postponed: no capacity for the transform');
  return outcome;
}

/**
 * @param startedAt goes into the signature
 * @returns the request, or the outcome of a delivery that cannot be sent to its destination, which lacks the
 * credentials of its authType
 */
export async function renderRequest(
  deps: AttemptDeps,
  { attempt }: AttemptRequest,
  { context, destination, sourceSlug, headers, body, spanTraceparent }: Admitted & { spanTraceparent: string | null },
  startedAt: Date,
): Promise<OutboundRequest | AttemptOutcome> {
  try {
    return buildOutboundRequest({
      destination,
      event: { id: context.eventId, headers, address: receivedAddress(context), body },
      delivery: { id: context.deliveryId },
      attempt,
      source: { slug: sourceSlug },
      headerPrefix: deps.headerPrefix,
      version: deps.version,
      spanTraceparent,
      eventTraceparent: context.traceparent,
      nowMs: startedAt.getTime(),
      failover: failoverFacts(context),
      order: orderFacts(context),
    });
  } catch (error) {
    const { organizationId, routeId, eventId, deliveryId } = context;
    const failure = { cause: 'NO_REQUEST', at: startedAt.getTime(), isFinal: true, eventId, deliveryId };
    deps.issues.failed(issueSubjects.delivery(organizationId, routeId, destination.id), failure);
    return endWithoutAttempt(deps, context, { ending: 'failed', reason: describe(error) });
  }
}

function failoverFacts({ originalDestinationId, failoverReason }: AttemptContext) {
  if (originalDestinationId === null) return undefined;
  return { originalDestination: originalDestinationId, failureReason: failoverReason ?? '' };
}

function orderFacts({ orderKey, orderNumber }: AttemptContext) {
  return orderKey === null || orderNumber === null ? undefined : { key: orderKey, number: orderNumber };
}

function describe(error: unknown): DescribedError {
  if (error instanceof MissingCredentialsError) return openError(error.summary);
  const detail = error instanceof Error ? error.message : String(error);
  return { summary: ownWords`The request could not be built; see the details in the API`, detail };
}

// The causes of issues (docs/guide/issues-and-alerts.md).
const CAUSES: Record<TransformFailure | 'deleted', string> = {
  code: 'EXCEPTION',
  time: 'TIMEOUT',
  memory: 'OUT_OF_MEMORY',
  output: 'OUTPUT_TOO_LARGE',
  nothing: 'NO_OUTPUT',
  deleted: 'DELETED',
};

const TRANSFORM_NOT_KEPT: DescribedError = openError(
  ownWords`The transform was changed or deleted, and the version that the delivery uses is no longer available`,
);

interface TransformDeps {
  configs: Pick<ConfigCache, 'transform'>;
  threads: Pick<Threads, 'runTransform'>;
  issues: IssueSink;
}

/**
 * Runs the transform of the delivery's route on the event.
 * @param route as `routeOf` finds it
 * @returns the content to send; the received one when the route has no transform; or why there is none
 * @throws NoThreadError, NoTurnError, or what the database throws: the transform was not run then
 */
export async function applyTransform(
  deps: TransformDeps,
  context: AttemptContext,
  route: Pick<RouteConfig, 'transformId'> | null,
  received: EventContent & { sourceSlug: string },
): Promise<EventContent | { problem: DescribedError }> {
  if (route === null || route.transformId === null) return received;
  const { organizationId, routeId, eventId, deliveryId, transformVersion } = context;
  const transform =
    transformVersion === null
      ? null
      : await deps.configs.transform(organizationId, route.transformId, transformVersion);
  const content =
    transform === null
      ? ({ problem: TRANSFORM_NOT_KEPT, reason: 'deleted' } as const)
      : await transformContent(deps.threads, transform, context, received, organizationId);
  const subject = issueSubjects.transform(organizationId, routeId);
  if ('problem' in content) {
    const cause = CAUSES[content.reason];
    deps.issues.failed(subject, { cause, at: Date.now(), isFinal: true, eventId, deliveryId });
  } else deps.issues.worked(subject);
  return content;
}
