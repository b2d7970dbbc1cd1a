// Renders the request of an attempt: the content of the event, transformed if the route has a transform.
import { type DescribedError, openError, ownWords } from '../../core/text/error-summary.ts';
import { issueSubjects } from '../../core/messages/issues.ts';
import { postponeDelivery } from '../../db/delivery/delivery-commands.ts';
import type { Lane } from '../../core/delivery/lane.ts';
import { type AttemptContext, receivedAddress } from '../../db/hot-path/load-attempts.ts';
import { MissingCredentialsError } from '../../outbound/http/auth.ts';
import { buildOutboundRequest, type OutboundRequest } from '../../outbound/http/outbound-request.ts';
import { NoTurnError } from '../../outbound/transforms/index.ts';
import { applyTransform, type EventContent } from '../apply-transform.ts';
import type { AttemptOutcome, AttemptRequest } from '../types.ts';
import type { Admitted } from './admission.ts';
import type { AttemptDeps } from './deps.ts';
import { endWithoutAttempt } from './end-without-attempt.ts';

/** @returns the content to send, or the outcome of a delivery whose transform fails: it is a pure function, so it would fail again */
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

/** The delivery waits outside of this process, where it holds no place that others need. It is no failed attempt. */
async function awaitTurn(
  { pool, log }: AttemptDeps,
  { organizationId, deliveryId, eventId }: AttemptContext,
  lane: Lane,
  { waitMs, message: reason }: NoTurnError,
): Promise<AttemptOutcome> {
  await postponeDelivery(pool, deliveryId, waitMs, lane === 'workflow');
  log.info({ organizationId, deliveryId, eventId, waitMs, reason }, 'not attempted: its transform has to wait');
  return { status: 'deferred', waitMs, for: 'transforms' };
}

/**
 * @param startedAt goes into the signature
 * @returns the request, or the outcome of a delivery that cannot be sent to its destination, which lacks the credentials of its authType
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

function describe(error: unknown): DescribedError {
  if (error instanceof MissingCredentialsError) return openError(error.summary);
  const detail = error instanceof Error ? error.message : String(error);
  return { summary: ownWords`The request could not be made; the API tells why`, detail };
}
