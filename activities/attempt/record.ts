// Evaluates the response of an attempt, records it, and returns the outcome.
import type { Lane } from '../../core/delivery/delivery.ts';
import { verdictOf, type Verdict } from '../../core/delivery/verdict.ts';
import { type IssueSink, issueSubjects } from '../../core/messages/issues.ts';
import {
  attemptDuration,
  attempts,
  type CodeClass,
  deliveriesFinished,
  deliveryLatency,
} from '../../core/metrics/deliveries.ts';
import { latencyClass } from '../../core/metrics/latency-classes.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { type Log, throttled } from '../../core/process/log.ts';
import type { AttemptSpan } from '../../core/process/tracing.ts';
import { idTime } from '../../core/text/ids.ts';
import { isRefusedValue } from '../../db/connections/database-errors.ts';
import type { AttemptContext } from '../../db/hot-path/load-attempts.ts';
import type { AttemptResult, ChangedDelivery } from '../../db/hot-path/record-results.ts';
import type { OutboundRequest } from '../../outbound/http/outbound-request.ts';
import { errorClass } from '../../outbound/http/send-errors.ts';
import type { SendResult } from '../../outbound/http/sender.ts';
import type { DestinationConfig, RouteConfig } from '../config-cache.ts';
import type { AttemptOutcome, AttemptRequest, UnrecordedAttempt } from '../types.ts';
import { RELOAD } from './admission.ts';
import type { AttemptDeps } from './index.ts';
import { outcomeOnRecord, unrecordedOutcome, within } from './outcomes.ts';
import type { RecordedResult, Recording } from './results.ts';
import { holdOf, offerFailover, orderKeyFor } from './route.ts';
import { endedAttempt, type SentAttempt } from './send.ts';

// Counts attempts and ended deliveries, in memory, for the metrics and for issues.

const STATUS_CLASSES: readonly CodeClass[] = ['1xx', '2xx', '3xx', '4xx', '5xx'];
const FIRST = 1;

/** Counts an attempt that was made, recorded or not. */
function countAttempt(sent: SendResult, outcome: AttemptResult['deliveryStatus'], attempt: number): void {
  attempts.add({ outcome, code_class: codeClass(sent), kind: attempt === FIRST ? 'first' : 'retry' });
  attemptDuration.observe({}, sent.latency / 1000);
}

function codeClass(sent: SendResult): CodeClass {
  if (sent.kind === 'error') return errorClass(sent.code);
  return STATUS_CLASSES[Math.floor(sent.statusCode / 100) - 1] ?? 'other';
}

/**
 * Counts what recording has ended. A result whose statement was committed and whose answer was lost is not counted.
 * @param changed by id, as `recordResults` returns them
 */
export function countRecorded(
  results: Iterable<AttemptResult>,
  changed: ReadonlyMap<string, Pick<ChangedDelivery, 'failedOver'>>,
): void {
  for (const result of results) {
    const delivery = changed.get(result.deliveryId);
    if (delivery === undefined) continue;
    const status = delivery.failedOver ? 'failed_over' : result.deliveryStatus;
    if (status === 'retrying') continue;
    deliveriesFinished.add({ status });
    if (status !== 'delivered') continue;
    deliveryLatency.observe({ lane: result.lane }, secondsUntil(result.completedAt, result.deliveryId));
  }
}

export function countWritten(deliveryIds: string[], completedAt: Date): void {
  deliveriesFinished.add({ status: 'delivered' }, deliveryIds.length);
  for (const id of deliveryIds) deliveryLatency.observe({ lane: 'warehouse' }, secondsUntil(completedAt, id));
}

/** The id of a delivery says when it was made, by the clock of the API. */
const secondsUntil = (at: Date, deliveryId: string): number => (at.getTime() - idTime(deliveryId)) / 1000;

/**
 * Counts recorded attempts in issues.
 * @param changed by id, as `recordResults` returns them; others were counted before
 */
export function countInIssues(
  issues: IssueSink,
  results: Iterable<{ organizationId: string; result: AttemptResult }>,
  changed: ReadonlyMap<string, Pick<ChangedDelivery, 'destinationId' | 'routeId' | 'failedOver'>>,
): void {
  for (const { organizationId, result } of results) {
    const { deliveryId, eventId, deliveryStatus, completedAt } = result;
    const delivery = changed.get(deliveryId);
    if (delivery === undefined) continue;
    const subject = issueSubjects.delivery(organizationId, delivery.routeId, delivery.destinationId);
    if (deliveryStatus === 'delivered') {
      issues.worked(subject);
      continue;
    }
    const isFinal = deliveryStatus === 'failed' && !delivery.failedOver;
    issues.failed(subject, { cause: causeOfResult(result), at: completedAt.getTime(), isFinal, eventId, deliveryId });
  }
}

// The causes of issues (docs/guide/issues-and-alerts.md).
const CAUSES: Record<ReturnType<typeof errorClass>, string> = {
  timeout: 'TIMEOUT',
  connection: 'CONNECTION_FAILED',
  dns: 'NAME_NOT_RESOLVED',
  tls: 'TLS_FAILED',
  refused: 'ADDRESS_REFUSED',
  other: 'NO_RESPONSE',
};

function causeOfResult({ statusCode, errorCode }: AttemptResult): string {
  if (statusCode !== null) return `HTTP_${statusCode}`;
  return errorCode === undefined ? CAUSES.other : CAUSES[errorClass(errorCode)];
}

interface MadeAttempt extends SentAttempt {
  context: AttemptContext;
  destination: Pick<DestinationConfig, 'version'>;
  route: RouteConfig | null;
  outbound: OutboundRequest;
  /** Null: it is not recorded as a span. */
  span: AttemptSpan | null;
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
  const { context, route, sent, completedAt } = made;
  const verdict = verdictOf(sent, route?.expectedResponse ?? null, request.retryDelay, completedAt.getTime());
  made.span?.end(endedAttempt(sent, verdict, made.tookMs));
  countAttempt(sent, verdict.status, request.attempt);
  if (inOrder) {
    const isAccepted = verdict.status === 'delivered';
    if (isAccepted) {
      deps.onAnswered(context.deliveryId);
      inOrder.accepted();
    }
    await inOrder.turnToRecord(isAccepted);
  }
  const recording = submit(deps, made, resultOf(made, request, lane, verdict));
  // Only now, when this process knows whether the circuit opens: it lets the next delivery to this destination start.
  deps.onAnswered(context.deliveryId);
  const recorded = await awaitRecord(deps, request, lane, recording);
  const failedOver = 'failedOver' in recorded && recorded.failedOver;
  logAttempt(deps.log, made, recording.result, failedOver ? 'failed_over' : verdict.status);
  if ('status' in recorded) return recorded;
  if (recorded.changed) return outcomeOf(context, verdict, recording.result, recorded);
  // It was ended meanwhile, or recorded before: when the database committed the result but its answer was lost, so the
  // statement was repeated. Then the delivery is open, and has to be continued.
  return outcomeOnRecord(deps, request);
}

function resultOf(made: MadeAttempt, request: AttemptRequest, lane: Lane, verdict: Verdict): AttemptResult {
  const { context, destination, route, outbound, sent, startedAt, completedAt } = made;
  const { attempt } = request;
  const failed = { attempt, exhausted: verdict.status === 'failed' };
  return {
    deliveryId: context.deliveryId,
    eventId: context.eventId,
    attemptNumber: attempt,
    deliveryStatus: verdict.status,
    lane,
    failover:
      route === null || verdict.status === 'delivered'
        ? null
        : offerFailover(route, context, { ...failed, error: verdict.error }),
    orderKey: orderKeyFor(context),
    holdSeconds: holdOf(route, context, verdict),
    error: verdict.error,
    startedAt,
    completedAt,
    retryInMs: verdict.status === 'retrying' ? verdict.waitMs : null,
    requestHeaders: outbound.maskedHeaders,
    exchange: sent.exchange && { ...sent.exchange, destinationVersion: destination.version },
    ...answerFacts(sent),
  };
}

function submit(deps: AttemptDeps, { context, route }: MadeAttempt, result: AttemptResult): Recording {
  const recording = deps.results.record(context.organizationId, result);
  if (route && context.inCircuit) {
    if (result.deliveryStatus === 'delivered') deps.pendingOpenings.forget(route.id);
    else deps.pendingOpenings.failed(route.id, recording.recorded);
  }
  return recording;
}

function outcomeOf(
  { inCircuit }: AttemptContext,
  verdict: Verdict,
  { failover, statusCode }: AttemptResult,
  recorded: RecordedResult,
): AttemptOutcome {
  const facts = { statusCode, error: verdict.error?.summary ?? null };
  if (failover && recorded.failedOver) return { status: 'failed_over', ...facts, takenOverBy: failover.deliveryId };
  if (verdict.status !== 'retrying') return { status: verdict.status, ...facts };
  // With the circuit open there is no retry to wait for: the next step decides where the delivery goes instead.
  return { status: 'retrying', ...facts, waitMs: recorded.blocked && inCircuit ? 0 : verdict.waitMs };
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

function logAttempt(log: Log, { context, sent }: MadeAttempt, result: AttemptResult, status: string): void {
  const { deliveryId, eventId, attemptNumber: attempt, statusCode, latency } = result;
  const { destinationId } = context;
  const error = sent.kind === 'error' && { error: sent.summary };
  const line = { deliveryId, eventId, destinationId, attempt, status, statusCode, latency, ...error };
  if (status === 'delivered') log.info(line, 'attempt');
  else log.warn(line, 'attempt');
}
