// Decides whether an attempt may be made: the delivery is open, its organization is not suspended, its configuration
// exists, no circuit or pause blocks it, and its destination has a slot and its rate limit allows it.

import { LRUCache } from 'lru-cache';
import { isOpenStatus, type Lane } from '../../core/delivery/delivery.ts';
import { deliveryUrl } from '../../core/delivery/delivery-url.ts';
import type { Leave } from '../../core/fairness/fair-queue.ts';
import type { HeaderBytes } from '../../core/http/headers.ts';
import { openError, ownWords } from '../../core/text/error-summary.ts';
import { divertBlocked } from '../../db/circuits/held-deliveries.ts';
import { isBlocked } from '../../db/circuits/pauses.ts';
import { type AttemptContext, receivedAddress } from '../../db/hot-path/load-attempts.ts';
import type { DestinationConfig, RouteConfig } from '../config-cache.ts';
import type { AttemptOutcome, AttemptRequest } from '../types.ts';
import type { AttemptDeps } from './index.ts';
import { awaitSlot, type Permit, postpone, waitForResumption } from './rate-and-concurrency.ts';
import {
  CLOSED,
  DESTINATION_DELETED,
  DESTINATION_DISABLED,
  type Ending,
  endWithoutAttempt,
  recordedOutcome,
  SOURCE_DELETED,
  within,
} from './outcomes.ts';
import { ROUTE_NOT_KEPT, routeOf } from './route.ts';

/** The loaded data is outdated: the attempt starts over by loading the delivery. */
export const RELOAD = 'reload';

// An address may come to lead here after it was stored: by another HOOKYARD_PUBLIC_URL.
const LEADS_HERE = ownWords`Refused: the destination's URL is under HOOKYARD_PUBLIC_URL, so the delivery would come back as a webhook; to allow this, set the route's allowOwnAddress to true`;

const PAYLOAD_REMOVED: Ending = {
  ending: 'failed',
  reason: openError(ownWords`The payload was removed by the retention policy before it was delivered`),
};

// When there may be memory for its payload.
const PAYLOAD_MEMORY_MS = 10_000;
// How long an attempt waits until PostgreSQL has recorded the failures that may open its circuit, and when it comes
// back after that.
const OPENING_WAIT_MS = 2000;
const OPENING_PAUSE_MS = 1000;

export interface Holdings {
  permit: Permit;
  /** Null: it holds no memory for a large payload. */
  releaseBody: Leave | null;
}

export interface Admitted {
  context: AttemptContext;
  destination: DestinationConfig;
  /** Null: the delivery has none. */
  route: RouteConfig | null;
  headers: HeaderBytes;
  body: Buffer;
  sourceSlug: string;
}

export async function admit(
  deps: AttemptDeps,
  request: AttemptRequest,
  lane: Lane,
  held: Holdings,
): Promise<Admitted | AttemptOutcome | typeof RELOAD> {
  const context = await deps.contexts.submit(request);
  if (!context) return CLOSED;
  // Whoever ended it may have begun before it entered the outbox, and did not see its row: CLOSED removes that.
  const isOpen = isOpenStatus(context.status);
  if (lane === 'express' && !isOpen && context.status !== 'failed') return CLOSED;
  if (!isOpen || context.attemptCount >= request.attempt) return recordedOutcome(context);
  if (deps.isSuspended(context.organizationId)) return waitForResumption(deps.pool, context, lane);
  // A delivery that is no longer blocked, or has ended meanwhile, is loaded again.
  if (context.blocked) return (await divert(deps, context, lane)) ?? RELOAD;
  const required = await requireConfig(deps, context);
  if ('ending' in required) return endWithoutAttempt(deps, context, required);

  const { destination } = required;
  // Before it takes a permit of its destination, which others could use meanwhile.
  if (context.isBodyApart) {
    // An attempt that starts over is about the same payload.
    held.releaseBody ??= await deps.bodies.take(context.organizationId, {
      amount: context.payloadSize ?? 0,
      waitMs: deps.bodyWaitMs,
    });
    if (held.releaseBody === null) return awaitPayloadMemory(deps, context, lane);
  }
  const waiting = await held.permit.take(destination, context);
  if (waiting) return waiting;
  // Before the slot, which is that of the moment in which the request leaves.
  const body = context.isBodyApart ? await deps.contexts.loadBody(context) : context.body;
  if (body === null) return endWithoutAttempt(deps, context, PAYLOAD_REMOVED);
  const deferral = await awaitSlot(deps, context, destination, { request, lane });
  if (deferral) return deferral;
  // The circuit may have opened during the wait for the slot, or a pause begun.
  if (destination.rateLimitPerMinute !== null && (await isBlocked(deps.pool, context))) return RELOAD;
  return { ...required, context, body };
}

async function awaitPayloadMemory(
  { pool, log }: AttemptDeps,
  { organizationId, deliveryId, eventId, payloadSize }: AttemptContext,
  lane: Lane,
): Promise<AttemptOutcome> {
  const outcome = await postpone(pool, deliveryId, PAYLOAD_MEMORY_MS, 'slots', lane === 'workflow');
  const facts = { organizationId, deliveryId, eventId, payloadSize, waitMs: PAYLOAD_MEMORY_MS };
  log.info(facts, 'attempt postponed: no memory for the payload');
  return outcome;
}

/**
 * Waits, if attempts of this process may be about to open the circuit.
 * @returns null: it is closed; RELOAD: it has opened since the delivery was loaded; or that nobody can tell yet
 */
export async function awaitOpening(
  deps: AttemptDeps,
  context: AttemptContext,
  route: RouteConfig | null,
  lane: Lane,
): Promise<AttemptOutcome | typeof RELOAD | null> {
  if (route === null || !context.inCircuit) return null;
  const awaited = deps.pendingOpenings.awaited(route.id, route.circuitFailureThreshold);
  if (!awaited) return null;
  const isKnown = await within(OPENING_WAIT_MS, awaited).then(
    () => true,
    () => false,
  );
  if (await isBlocked(deps.pool, context)) return RELOAD;
  if (!isKnown) return postpone(deps.pool, context.deliveryId, OPENING_PAUSE_MS, 'circuit', lane === 'workflow');
  deps.pendingOpenings.forget(route.id);
  return null;
}

/** The outcome of a delivery that the circuit of its route blocks, or a pause; null: it is no longer blocked. */
async function divert(deps: AttemptDeps, context: AttemptContext, lane: Lane): Promise<AttemptOutcome | null> {
  const { deliveryId, eventId, routeId, destinationId, statusCode, error } = context;
  const blocked = { ...context, hasWorkflow: lane === 'workflow' };
  const diversion = (await divertBlocked(deps.pool, [blocked])).get(deliveryId);
  if (!diversion) return null;
  const facts = { deliveryId, eventId, routeId, ...diversion };
  if (diversion.status === 'held' && diversion.pausedBy !== undefined) {
    deps.log.info({ ...facts, destinationId }, 'not attempted: the route or destination is paused');
    return diversion;
  }
  deps.log.info(facts, "not attempted: the route's circuit breaker is open");
  if (diversion.status === 'held') return { status: 'held' };
  return { status: 'failed_over', statusCode, error, takenOverBy: diversion.takenOverBy };
}

async function requireConfig(
  deps: AttemptDeps,
  context: AttemptContext,
): Promise<Omit<Admitted, 'context' | 'body'> | Ending> {
  const destination =
    context.destinationVersion === null
      ? null
      : await deps.configs.destination(context.organizationId, context.destinationId, context.destinationVersion);
  if (!destination) return DESTINATION_DELETED;
  if (!destination.enabled) return DESTINATION_DISABLED;
  const route = await routeOf(deps.configs, context);
  if (route === undefined) return { ending: 'failed', reason: ROUTE_NOT_KEPT };
  const url = deliveryUrl(destination, receivedAddress(context));
  if (destination.leadsHere(url) && !route?.allowOwnAddress) {
    return { ending: 'failed', reason: openError(LEADS_HERE) };
  }
  if (context.sourceSlug === null || context.eventHeaders === null) return SOURCE_DELETED;
  if (context.body === null && !context.isBodyApart) return PAYLOAD_REMOVED;
  const { eventHeaders: headers, sourceSlug } = context;
  return { destination, route, headers, sourceSlug };
}

// Circuits that this process is about to open: a route has reached its failure threshold, and the last failures are
// being recorded. Attempts of the route that are ready to be sent wait for the recording, so that none is sent after
// the threshold, however long the commit takes: those that have waited for some time come back later. Other workers see
// the open circuit when they load deliveries (db/hot-path/load-attempts.ts).

interface Streak {
  failures: number;
  /** Unrecorded results of the streak; at most as many as attempts in flight. */
  unrecorded: Set<Promise<unknown>>;
}

// Maximum number of failing routes to remember; attempts of the least recently used one no longer wait.
const MAX_ROUTES = 10_000;

export class PendingOpenings {
  readonly #streaks = new LRUCache<string, Streak>({ max: MAX_ROUTES });

  /**
   * Call it when one has failed.
   * @param recorded settles when PostgreSQL has stored it, or refuses it for what it holds
   */
  failed(routeId: string, recorded: Promise<unknown>): void {
    const streak = this.#streaks.get(routeId) ?? { failures: 0, unrecorded: new Set() };
    this.#streaks.set(routeId, streak);
    streak.failures += 1;
    streak.unrecorded.add(recorded);
    const forget = () => streak.unrecorded.delete(recorded);
    recorded.then(forget, forget);
  }

  /**
   * Settles when the failures that may open the circuit of a route are recorded; undefined when there is nothing to
   * wait for.
   * @param failureThreshold consecutive failures that open it
   */
  awaited(routeId: string, failureThreshold: number): Promise<unknown> | undefined {
    const streak = this.#streaks.get(routeId);
    if (!streak || streak.failures < failureThreshold || streak.unrecorded.size === 0) return undefined;
    return Promise.allSettled(streak.unrecorded);
  }

  /** The circuit of a route does not open: an attempt has succeeded, or it was reset. */
  forget(routeId: string): void {
    this.#streaks.delete(routeId);
  }
}
