// One attempt of a delivery: admission, render, send, record. An ordinary function with explicit dependencies; the
// activity is a thin wrapper around it.
import type { Lane } from '../../core/delivery/delivery.ts';
import type { AttemptOutcome, AttemptRequest } from '../types.ts';
import { admit, awaitOpening, type Holdings, RELOAD } from './admission.ts';
import { Permit } from './rate-and-concurrency.ts';
import type { AttemptDeps } from './deps.ts';
import { awaitEarlier, type OrderedAttempt, record } from './record.ts';
import { renderContent, renderRequest } from './render.ts';
import { ResultsFullError } from './results.ts';
import { now, send, startSpan } from './send.ts';

export type { AttemptDeps } from './deps.ts';
export type { OrderedAttempt } from './record.ts';

/**
 * Makes one attempt and records it.
 * @param lane who makes it: the delivery's workflow, or the relay (the delivery has no workflow yet)
 * @param inOrder of a delivery with an ordering key, by the relay
 * @returns its outcome; an attempt that was made before is not sent again, recorded or not
 * @throws when our own infrastructure (mostly the database) is unavailable: the attempt was not made
 */
export async function attemptDelivery(
  deps: AttemptDeps,
  request: AttemptRequest,
  lane: Lane,
  inOrder?: OrderedAttempt,
): Promise<AttemptOutcome> {
  const held: Holdings = { permit: new Permit(deps, request, lane), releaseBody: null };
  try {
    return await attempt(deps, request, lane, held, inOrder);
  } finally {
    held.permit.leave();
    held.releaseBody?.();
  }
}

async function attempt(
  deps: AttemptDeps,
  request: AttemptRequest,
  lane: Lane,
  held: Holdings,
  inOrder: OrderedAttempt | undefined,
): Promise<AttemptOutcome> {
  // Each iteration loads the delivery. If it changed while the attempt was prepared, another iteration follows.
  for (;;) {
    const earlier = await awaitEarlier(deps, request, lane);
    if (earlier === RELOAD) continue;
    if (earlier) return earlier;

    const admitted = await admit(deps, request, lane, held);
    if (admitted === RELOAD) continue;
    if ('status' in admitted) return admitted;

    const content = await renderContent(deps, admitted, lane);
    if ('status' in content) return content;

    const { context, destination, route } = admitted;
    const opening = await awaitOpening(deps, context, route, lane);
    if (opening === RELOAD) continue;
    if (opening) return opening;

    // From here on there is an attempt whose result must not be lost, so the database is not read any more.
    if (deps.results.isFull()) throw new ResultsFullError();
    const startedAt = now();
    const span = startSpan(deps, request, admitted, lane, startedAt.date);
    const spanTraceparent = span?.traceparent ?? null;
    const outbound = await renderRequest(deps, request, { ...admitted, ...content, spanTraceparent }, startedAt.date);
    if ('status' in outbound) return outbound;
    const { organizationId } = context;
    const lookFor = route?.expectedResponse?.bodyContains;
    const sent = await send(deps, destination, { ...outbound, organizationId, lookFor }, startedAt);
    held.permit.leave();
    return record(deps, request, lane, { context, destination, route, outbound, span, ...sent }, inOrder);
  }
}
