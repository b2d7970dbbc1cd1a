// One attempt of a delivery: load, send, judge, record. An ordinary function with explicit dependencies; the activity
// is a thin wrapper around it.
import { type DescribedError, openError, ownWords } from '../core/error-summary.ts';
import { latencyClass } from '../core/latency-classes.ts';
import type { Lane } from '../core/lane.ts';
import type { Log } from '../core/log.ts';
import { judge } from '../core/verdict.ts';
import { isBlocked } from '../db/circuits.ts';
import { isRefusedValue } from '../db/database-errors.ts';
import { endDeliveries } from '../db/delivery-commands.ts';
import { divertBlocked } from '../db/held-deliveries.ts';
import type { AttemptContext } from '../db/hot-path/load-attempts.ts';
import type { Pool } from '../db/pool.ts';
import { applyTransform } from './apply-transform.ts';
import type { ConfigCache, DestinationConfig, RouteConfig } from './config-cache.ts';
import { offerFailover } from './failover.ts';
import { MissingCredentialsError } from '../outbound/http/auth.ts';
import { buildOutboundRequest, type OutboundRequest } from '../outbound/http/outbound-request.ts';
import type { Sender, SendResult } from '../outbound/http/sender.ts';
import type { Transforms } from '../outbound/transforms/index.ts';
import type { PendingOpenings } from './pending-openings.ts';
import { awaitSlot } from './rate-limit.ts';
import { CLOSED, OPEN, recordedOutcome, unrecordedOutcome, within } from './record-attempt.ts';
import {
  type ContextLoader,
  type RecordedResult,
  type Recording,
  type ResultRecorder,
  ResultsFullError,
} from './results.ts';
import type { AttemptOutcome, AttemptRequest, UnrecordedAttempt } from './types.ts';

export interface AttemptDeps {
  pool: Pool;
  /** Loads deliveries in groups; undefined for one that does not exist. */
  contexts: ContextLoader;
  configs: ConfigCache;
  transforms: Transforms;
  sender: Sender;
  results: ResultRecorder;
  /** How long an activity waits for its result to be recorded; then its workflow sees to it. ms */
  awaitRecordMs: number;
  /** Ends that wait early: the activity is cut off soon, because its worker ends. */
  ending?: AbortSignal;
  pendingOpenings: PendingOpenings;
  /** Hears when an attempt has its slot of a rate limit. */
  onSlot: (destinationId: string, deliveryId: string) => void;
  /** Learns how quickly each destination answers. */
  observeLatency: (destinationId: string, latencyMs: number) => void;
  /** Hears that the destination is done with an attempt, whose result is yet to be recorded. */
  onAnswered: (deliveryId: string) => void;
  headerPrefix: string;
  version: string;
  log: Log;
}

/**
 * Makes one attempt and records it.
 * @param lane who makes it: the delivery's workflow, or the relay (then the delivery has no workflow yet)
 * @returns what it led to; an attempt that was made before is not sent again, whether it is recorded or not yet
 * @throws when our own side is away (the database, mostly): the attempt was not made
 */
export async function attemptDelivery(deps: AttemptDeps, request: AttemptRequest, lane: Lane): Promise<AttemptOutcome> {
  const earlier = deps.results.underWay(request.deliveryId);
  // What answers for an earlier attempt says nothing of this one.
  if (earlier && earlier.result.attemptNumber >= request.attempt) {
    const recorded = await awaitRecord(deps, request, lane, earlier);
    return 'status' in recorded ? recorded : attemptDelivery(deps, request, lane);
  }
  const context = await deps.contexts.submit(request);
  if (!context) return CLOSED;
  if (!OPEN.includes(context.status) || context.attemptCount >= request.attempt) return recordedOutcome(context);
  // What is no longer blocked (or has ended) meanwhile is looked at anew.
  if (context.blocked) return (await divert(deps, context, lane)) ?? attemptDelivery(deps, request, lane);
  const ready = await prepare(deps, context);
  if ('ending' in ready) return endWithoutAttempt(deps, context, ready.ending, ready.reason);

  const deferral = await awaitSlot(deps, context, ready.destination, request);
  if (deferral) return deferral;
  // The circuit may have opened during the wait for the slot.
  if (ready.destination.rateLimitPerMinute !== null && (await isBlockedNow(deps, context))) {
    return attemptDelivery(deps, request, lane);
  }

  const content = await applyTransform(deps, context, ready);
  // Making the attempt again would fail in the same way: a transform is a pure function of its event.
  if ('problem' in content) return endWithoutAttempt(deps, context, 'failed', content.problem);

  const route = await routeOf(deps, context);
  if (await hasJustOpened(deps, context, route)) return attemptDelivery(deps, request, lane);

  // Beyond this point there is an attempt, and its result must be kept, so nothing is asked of the database any more.
  if (deps.results.isFull()) throw new ResultsFullError();

  const startedAt = new Date();
  const began = performance.now();
  const outbound = buildRequest(deps, context, { ...ready, ...content }, request.attempt, startedAt);
  if ('ending' in outbound) return endWithoutAttempt(deps, context, outbound.ending, outbound.reason);
  const sent = await deps.sender.send({
    ...outbound,
    poolKey: context.destinationId,
    timeoutMs: ready.destination.timeoutMs,
  });
  if (sent.kind === 'error' && sent.code === 'CLOSED') throw new Error('The worker is shutting down');
  deps.observeLatency(context.destinationId, sent.latency);
  // So a clock that is set during the attempt does not end it before it began.
  const completedAt = new Date(startedAt.getTime() + Math.round(performance.now() - began));
  const verdict = judge(sent, route?.expectedResponse ?? null, request.retryDelay, completedAt.getTime());
  const { attempt } = request;
  const failover =
    route === null || verdict.status === 'delivered'
      ? null
      : offerFailover(route, context, { attempt, exhausted: verdict.status === 'failed', error: verdict.error });
  const recording = deps.results.record({
    deliveryId: context.deliveryId,
    eventId: context.eventId,
    attemptNumber: attempt,
    deliveryStatus: verdict.status,
    lane,
    failover,
    error: verdict.error,
    startedAt,
    completedAt,
    retryInMs: verdict.status === 'retrying' ? verdict.waitMs : null,
    requestHeaders: outbound.maskedHeaders,
    ...answerFacts(sent),
  });
  if (route && isPrimary(context)) {
    // Those that wait for a failure to be recorded do so within the deadlines of their own activities.
    if (verdict.status === 'delivered') deps.pendingOpenings.succeeded(route.id);
    else deps.pendingOpenings.failed(route.id, within(deps.awaitRecordMs, recording.recorded));
  }
  // Only now, when a circuit that this opens is known here: it lets the next delivery to this destination begin.
  deps.onAnswered(context.deliveryId);
  const recorded = await awaitRecord(deps, request, lane, recording);
  const failedOver = 'failedOver' in recorded && recorded.failedOver;
  logAttempt(deps.log, context, request, sent, failedOver ? 'failed_over' : verdict.status);
  if ('status' in recorded) return recorded;
  if (!recorded.changed) return onRecord(deps, request);
  const facts = {
    statusCode: sent.kind === 'response' ? sent.statusCode : null,
    error: verdict.error?.summary ?? null,
  };
  if (failover && failedOver) return { status: 'failed_over', ...facts, takenOverBy: failover.deliveryId };
  // With the circuit open, there is no retry to wait for: the next step finds out where the delivery goes instead.
  if (verdict.status === 'retrying') {
    return { status: 'retrying', ...facts, waitMs: recorded.blocked ? 0 : verdict.waitMs };
  }
  return { status: verdict.status, ...facts };
}

/**
 * Waits until a result is recorded. The relay waits as long as it takes: who claims the delivery next would not know that the
 * attempt was made. A workflow does not have to, as it remembers the attempt itself.
 * @throws when a workflow of an earlier version has to try again; the result is kept all the same
 */
async function awaitRecord(
  deps: AttemptDeps,
  { deliveryId, attempt, recordsLater }: AttemptRequest,
  lane: Lane,
  { result, recorded }: Recording,
): Promise<RecordedResult | UnrecordedAttempt> {
  try {
    return await (lane === 'express' ? recorded : within(deps.awaitRecordMs, recorded, deps.ending));
  } catch (error) {
    if (isRefusedValue(error) || (lane === 'workflow' && !recordsLater)) throw error;
    deps.log.warn({ deliveryId, attempt, error: String(error) }, 'an attempt is to be recorded later');
    return unrecordedOutcome(result);
  }
}

function routeOf({ configs }: AttemptDeps, { routeId, routeVersion }: AttemptContext): Promise<RouteConfig | null> {
  return routeId === null || routeVersion === null ? Promise.resolve(null) : configs.route(routeId, routeVersion);
}

/** Only attempts of primary deliveries concern the circuit of their route. */
const isPrimary = ({ originalDestinationId }: AttemptContext) => originalDestinationId === null;

async function isBlockedNow(deps: AttemptDeps, context: AttemptContext): Promise<boolean> {
  const { routeId, deliveryId } = context;
  return routeId !== null && isPrimary(context) && (await isBlocked(deps.pool, routeId, deliveryId));
}

/** Whether the circuit has opened since the delivery was loaded, by attempts of this process. */
async function hasJustOpened(deps: AttemptDeps, context: AttemptContext, route: RouteConfig | null): Promise<boolean> {
  if (route === null || !isPrimary(context)) return false;
  const awaited = deps.pendingOpenings.awaited(route.id, route.circuitFailureThreshold);
  if (!awaited) return false;
  await awaited;
  if (await isBlockedNow(deps, context)) return true;
  deps.pendingOpenings.forget(route.id);
  return false;
}

/** What became of a delivery that the circuit of its route keeps from being attempted; null: it does so no more. */
async function divert(deps: AttemptDeps, context: AttemptContext, lane: Lane): Promise<AttemptOutcome | null> {
  const { deliveryId, eventId, routeId, statusCode, error } = context;
  if (routeId === null) return null;
  const diversions = await divertBlocked(deps.pool, [{ deliveryId, routeId, hasWorkflow: lane === 'workflow' }]);
  const diversion = diversions.get(deliveryId);
  if (!diversion) return null;
  deps.log.info({ deliveryId, eventId, routeId, ...diversion }, 'not attempted: the circuit of the route is open');
  if (diversion.status === 'held') return { status: 'held' };
  return { status: 'failed_over', statusCode, error, takenOverBy: diversion.takenOverBy };
}

type Ready = { destination: DestinationConfig; headers: Record<string, string>; body: Buffer; sourceSlug: string };
type NotReady = { ending: 'cancelled' | 'failed' | 'skipped'; reason: DescribedError };

/** What the attempt needs, or why there will be none. */
async function prepare(deps: AttemptDeps, context: AttemptContext): Promise<Ready | NotReady> {
  const destination =
    context.destinationVersion === null
      ? null
      : await deps.configs.destination(context.destinationId, context.destinationVersion);
  if (!destination) return { ending: 'cancelled', reason: openError(ownWords`The destination was deleted`) };
  if (!destination.enabled) return { ending: 'skipped', reason: openError(ownWords`The destination is disabled`) };
  if (context.sourceSlug === null || context.eventHeaders === null) {
    return { ending: 'cancelled', reason: openError(ownWords`The source of the event was deleted`) };
  }
  if (context.body === null) {
    const removed = ownWords`The payload was removed by the retention policy before it was delivered`;
    return { ending: 'failed', reason: openError(removed) };
  }
  return { destination, headers: context.eventHeaders, body: context.body, sourceSlug: context.sourceSlug };
}

/** The request to send, or why this destination cannot be sent one (it lacks the credentials of its authType). */
function buildRequest(
  deps: AttemptDeps,
  context: AttemptContext,
  ready: Ready,
  attempt: number,
  startedAt: Date,
): OutboundRequest | NotReady {
  try {
    return buildOutboundRequest({
      destination: ready.destination,
      event: { id: context.eventId, headers: ready.headers, body: ready.body },
      delivery: { id: context.deliveryId },
      attempt,
      source: { slug: ready.sourceSlug },
      headerPrefix: deps.headerPrefix,
      version: deps.version,
      nowMs: startedAt.getTime(),
      failover: failoverFacts(context),
    });
  } catch (error) {
    if (error instanceof MissingCredentialsError) return { ending: 'failed', reason: openError(error.summary) };
    const detail = error instanceof Error ? error.message : String(error);
    return {
      ending: 'failed',
      reason: { summary: ownWords`The request could not be made; the API tells why`, detail },
    };
  }
}

function failoverFacts({ originalDestinationId, failoverReason }: AttemptContext) {
  if (originalDestinationId === null) return undefined;
  return { originalDestination: originalDestinationId, failureReason: failoverReason ?? '' };
}

async function endWithoutAttempt(
  deps: AttemptDeps,
  context: AttemptContext,
  ending: NotReady['ending'],
  reason: DescribedError,
): Promise<AttemptOutcome> {
  const { organizationId, deliveryId } = context;
  await endDeliveries(deps.pool, ending, { organizationId, deliveryIds: [deliveryId], reason });
  const { summary } = reason;
  deps.log.info(
    { deliveryId, eventId: context.eventId, status: ending, reason: summary },
    'delivery ended without an attempt',
  );
  return ending === 'failed' ? { status: 'failed', statusCode: null, error: summary } : CLOSED;
}

/**
 * What stands in the records when recording changed nothing: the delivery was ended meanwhile, or the attempt was recorded
 * before. The latter is so when the database committed the result and its answer was lost, so that it was sent again; the
 * delivery is open then, and somebody has to go on with it.
 */
async function onRecord(deps: AttemptDeps, request: AttemptRequest): Promise<AttemptOutcome> {
  const context = await deps.contexts.submit(request);
  return context ? recordedOutcome(context) : CLOSED;
}

function answerFacts(sent: SendResult) {
  if (sent.kind === 'error') {
    return { statusCode: null, latency: sent.latency, latencyClass: null, responseHeaders: null, responseBody: null };
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
