// Evaluates the response of an attempt, records it, and returns the outcome.
import { latencyClass } from '../../core/metrics/latency-classes.ts';
import type { Lane } from '../../core/delivery/delivery.ts';
import { type Log, throttled } from '../../core/process/log.ts';
import type { AttemptSpan } from '../../core/process/tracing.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { verdictOf, type Verdict } from '../../core/delivery/verdict.ts';
import { isRefusedValue } from '../../db/connections/database-errors.ts';
import type { AttemptContext } from '../../db/hot-path/load-attempts.ts';
import type { FailoverOffer } from '../../db/hot-path/record-results.ts';
import type { OutboundRequest } from '../../outbound/http/outbound-request.ts';
import type { SendResult } from '../../outbound/http/sender.ts';
import type { DestinationConfig, RouteConfig } from '../config-cache.ts';
import { countAttempt } from './counts.ts';
import { holdOf, offerFailover, orderKeyFor } from './route.ts';
import type { AttemptOutcome, AttemptRequest, UnrecordedAttempt } from '../types.ts';
import { RELOAD } from './admission.ts';
import type { AttemptDeps } from './index.ts';
import { CLOSED, recordedOutcome, unrecordedOutcome, within } from './outcomes.ts';
import type { RecordedResult, Recording } from './results.ts';
import { endedAttempt, type SentAttempt } from './send.ts';

interface MadeAttempt extends SentAttempt {
  context: AttemptContext;
  destination: Pick<DestinationConfig, 'version'>;
  route: RouteConfig | null;
  outbound: OutboundRequest;
  /** Null: it is not recorded as a span. */
  span: AttemptSpan | null;
}

interface Judged extends MadeAttempt {
  verdict: Verdict;
  /** Null: the delivery stays with its destination. */
  failover: FailoverOffer | null;
}

/**
 * An attempt of a delivery whose successor in its ordering key may be attempted before this one is recorded. Their
 * results are recorded in their order.
 */
export interface OrderedAttempt {
  /** Called when the destination has accepted the event. */
  accepted: () => void;
  turnToRecord: (isAccepted: boolean) => Promise<void>;
}

/** Waits for the recording of this attempt, or of a later one, that was made before; undefined: there is none. */
export async function awaitEarlier(
  deps: AttemptDeps,
  request: AttemptRequest,
  lane: Lane,
): Promise<UnrecordedAttempt | typeof RELOAD | undefined> {
  const earlier = deps.results.underWay(request.deliveryId);
  // The outcome of another attempt does not apply to this one.
  if (!earlier || earlier.result.attemptNumber < request.attempt) return undefined;
  const recorded = await awaitRecord(deps, request, lane, earlier);
  return 'status' in recorded ? recorded : RELOAD;
}

export async function record(
  deps: AttemptDeps,
  request: AttemptRequest,
  lane: Lane,
  made: MadeAttempt,
  inOrder: OrderedAttempt | undefined,
): Promise<AttemptOutcome> {
  const judged = judgeAttempt(made, request);
  const { context, sent, verdict } = judged;
  judged.span?.end(endedAttempt(sent, verdict, judged.tookMs));
  countAttempt(sent, verdict.status, request.attempt);
  if (inOrder) {
    const isAccepted = verdict.status === 'delivered';
    if (isAccepted) {
      deps.onAnswered(context.deliveryId);
      inOrder.accepted();
    }
    await inOrder.turnToRecord(isAccepted);
  }
  const recording = submit(deps, request, lane, judged);
  // Only now, when this process knows whether the circuit opens: it lets the next delivery to this destination start.
  deps.onAnswered(context.deliveryId);
  const recorded = await awaitRecord(deps, request, lane, recording);
  const failedOver = 'failedOver' in recorded && recorded.failedOver;
  logAttempt(deps.log, context, request, sent, failedOver ? 'failed_over' : verdict.status);
  if ('status' in recorded) return recorded;
  return recorded.changed ? outcomeOf(judged, recorded) : onRecord(deps, request);
}

function judgeAttempt(made: MadeAttempt, { attempt, retryDelay }: AttemptRequest): Judged {
  const { context, route, sent, completedAt } = made;
  const verdict = verdictOf(sent, route?.expectedResponse ?? null, retryDelay, completedAt.getTime());
  const failover =
    route === null || verdict.status === 'delivered'
      ? null
      : offerFailover(route, context, { attempt, exhausted: verdict.status === 'failed', error: verdict.error });
  return { ...made, verdict, failover };
}

function submit(deps: AttemptDeps, { attempt }: AttemptRequest, lane: Lane, judged: Judged): Recording {
  const { context, route, outbound, sent, startedAt, completedAt, verdict, failover } = judged;
  const recording = deps.results.record(context.organizationId, {
    deliveryId: context.deliveryId,
    eventId: context.eventId,
    attemptNumber: attempt,
    deliveryStatus: verdict.status,
    lane,
    failover,
    orderKey: orderKeyFor(context),
    holdSeconds: holdOf(route, context, verdict),
    error: verdict.error,
    startedAt,
    completedAt,
    retryInMs: verdict.status === 'retrying' ? verdict.waitMs : null,
    requestHeaders: outbound.maskedHeaders,
    exchange: sent.exchange && { ...sent.exchange, destinationVersion: judged.destination.version },
    ...answerFacts(sent),
  });
  if (route && context.inCircuit) {
    if (verdict.status === 'delivered') deps.pendingOpenings.forget(route.id);
    else deps.pendingOpenings.failed(route.id, recording.recorded);
  }
  return recording;
}

function outcomeOf({ context, sent, verdict, failover }: Judged, recorded: RecordedResult): AttemptOutcome {
  const facts = {
    statusCode: sent.kind === 'response' ? sent.statusCode : null,
    error: verdict.error?.summary ?? null,
  };
  if (failover && recorded.failedOver) return { status: 'failed_over', ...facts, takenOverBy: failover.deliveryId };
  // With the circuit open there is no retry to wait for: the next step decides where the delivery goes instead.
  if (verdict.status === 'retrying') {
    return { status: 'retrying', ...facts, waitMs: recorded.blocked && context.inCircuit ? 0 : verdict.waitMs };
  }
  return { status: verdict.status, ...facts };
}

/**
 * Waits until a result is recorded. The relay waits as long as it takes, because the next claimer of the delivery would
 * not know that the attempt was made. A workflow need not wait: it remembers the attempt itself.
 * @throws when PostgreSQL refuses a value of the result
 */
async function awaitRecord(
  deps: AttemptDeps,
  { deliveryId, attempt }: AttemptRequest,
  lane: Lane,
  { result, recorded }: Recording,
): Promise<RecordedResult | UnrecordedAttempt> {
  try {
    return await (lane === 'express' ? recorded : within(deps.awaitRecordMs, recorded, deps.ending));
  } catch (error) {
    if (isRefusedValue(error)) throw error;
    throttled(deps.log).warn(
      { deliveryId, attempt, cause: causeOf(error) },
      'failed to record an attempt; trying again later',
    );
    return unrecordedOutcome(result);
  }
}

/**
 * The recorded outcome when recording changed nothing: the delivery was ended meanwhile, or the attempt was recorded
 * before. The latter happens when the database committed the result but its answer was lost, so the statement was
 * repeated; then the delivery is open, and has to be continued.
 */
async function onRecord(deps: AttemptDeps, request: AttemptRequest): Promise<AttemptOutcome> {
  const context = await deps.contexts.submit(request);
  return context ? recordedOutcome(context) : CLOSED;
}

function answerFacts(sent: SendResult) {
  if (sent.kind === 'error') {
    const { latency, code: errorCode } = sent;
    return { statusCode: null, errorCode, latency, latencyClass: null, responseHeaders: null, responseBody: null };
  }
  return {
    statusCode: sent.statusCode,
    latency: sent.latency,
    latencyClass: latencyClass(sent.latency),
    responseHeaders: sent.headers,
    responseBody: sent.bodyText,
  };
}

function logAttempt(
  log: Log,
  context: AttemptContext,
  request: AttemptRequest,
  sent: SendResult,
  status: string,
): void {
  const line = {
    deliveryId: context.deliveryId,
    eventId: context.eventId,
    destinationId: context.destinationId,
    attempt: request.attempt,
    status,
    statusCode: sent.kind === 'response' ? sent.statusCode : null,
    latency: sent.latency,
    ...(sent.kind === 'error' && { error: sent.summary }),
  };
  if (status === 'delivered') log.info(line, 'attempt');
  else log.warn(line, 'attempt');
}
