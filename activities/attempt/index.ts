// One attempt of a delivery: admission, render, send, record. An ordinary function with explicit dependencies; the
// activity is a thin wrapper around it.
import type { DestinationConcurrency } from '../../core/delivery/destination-concurrency.ts';
import type { FairQueue } from '../../core/fairness/fair-queue.ts';
import type { IssueSink } from '../../core/messages/issues.ts';
import type { Log } from '../../core/process/log.ts';
import type { Tracing } from '../../core/process/tracing.ts';
import type { Pool } from '../../db/connections/pool.ts';
import type { Sender } from '../../outbound/http/sender.ts';
import type { Threads } from '../../outbound/threads/index.ts';
import type { ConfigCache } from '../config-cache.ts';
import type { Lane } from '../../core/delivery/delivery.ts';
import type { AttemptOutcome, AttemptRequest } from '../types.ts';
import { admit, awaitOpening, type Holdings, type PendingOpenings, RELOAD } from './admission.ts';
import { Permit } from './rate-and-concurrency.ts';
import { awaitEarlier, type OrderedAttempt, record } from './record.ts';
import { renderContent, renderRequest } from './render.ts';
import { type ContextLoader, type ResultRecorder, ResultsFullError } from './results.ts';
import { now, send, startSpan } from './send.ts';

export type { OrderedAttempt } from './record.ts';

export interface AttemptDeps {
  pool: Pool;
  /** Loads deliveries in groups; undefined for one that does not exist. */
  contexts: ContextLoader;
  /**
   * Bytes of large payloads, from before one is loaded until its attempt has ended. Without this limit as many as may
   * be in flight could be held at a time, each of the maximum size.
   */
  bodies: FairQueue;
  /** How long an attempt waits for room among them, ms. */
  bodyWaitMs: number;
  configs: ConfigCache;
  threads: Threads;
  sender: Sender;
  results: ResultRecorder;
  issues: IssueSink;
  /** How long an activity waits for its result to be recorded; then its workflow takes care of it. ms */
  awaitRecordMs: number;
  /** Ends that wait early: the worker is shutting down and will cut the activity off. */
  ending?: AbortSignal;
  pendingOpenings: PendingOpenings;
  isSuspended: (organizationId: string) => boolean;
  onSlot: (destinationId: string, deliveryId: string) => void;
  concurrency: DestinationConcurrency;
  hasPermit: (deliveryId: string) => boolean;
  /** Called when a destination that had no slot left has one again. */
  onRoom: () => void;
  /** Called when the destination has answered an attempt whose result is not recorded yet. */
  onAnswered: (deliveryId: string) => void;
  /** Undefined: traces are not sent. */
  tracing?: Tracing | undefined;
  headerPrefix: string;
  version: string;
  log: Log;
}

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
