// The public ingest endpoint: verify, route, store, answer after the commit.
import type { IncomingMessage } from 'node:http';
import type Koa from 'koa';
import { BatcherFullError } from '../../core/fairness/batcher.ts';
import type { Settings } from '../../core/config/config.ts';
import { hopsOf, MAX_HOPS } from '../../core/http/headers.ts';
import type { Settle } from '../../core/fairness/backlog-room.ts';
import type { LimitName } from '../../core/fairness/organization-limits.ts';
import { othersFirst } from '../../core/process/event-loop.ts';
import { METHODS } from '../../core/delivery/delivery.ts';
import { eventsUnrouted } from '../../core/metrics/ingest.ts';
import type { Tracing } from '../../core/process/tracing.ts';
import { plural } from '../../core/text/words.ts';
import { isSlug } from '../../core/text/slugs.ts';
import { QueueFullError } from '../../core/fairness/concurrency.ts';
import { HANDSHAKE_METHODS } from '../../core/verification/handshakes.ts';
import { NO_KEYS } from '../../core/verification/published-keys.ts';
import type { SecretBox } from '../../db/encryption/secret-box.ts';
import type { NewEvent } from '../../db/hot-path/store-events.ts';
import type { Pool } from '../../db/connections/pool.ts';
import type { ProviderKeys } from '../../outbound/provider-keys.ts';
import { BodyError, type BodyRoom, noRoom, receiveBody, tooSlow } from '../http/receive-body.ts';
import type { ApiState } from '../request/context.ts';
import { ApiError, limitExceeded, UNTIL_CHANGED_SECONDS } from '../request/errors.ts';
import { acceptedAnswer, handshakeAnswer, type IngestAnswer, unavailable, writeAnswer } from './answer.ts';
import { beginTrace, endingSpan, type Received, receivedRequest } from './received.ts';
import type { Backlog } from './backlog.ts';
import { createEventWriter, type EventWriter, type WriteOutcome } from './event-writer.ts';
import type { RouteMatcher } from './route-matching.ts';
import type { acceptHandshakeSecret, Handshakes } from './handshakes.ts';
import { newEvent } from './new-event.ts';
import type { IngestIssues, Refusals } from './refusals.ts';
import type { Ended, OrganizationUse, IngestLimits } from './ingest-limits.ts';
import {
  createRoutingCache,
  type RoutingCache,
  type SourceReader,
  type SourceRouting,
  tooManyLookups,
} from './routing.ts';
import {
  asksForProof,
  authenticateWebhook,
  closedBy,
  confirmed,
  unknownSource,
  verifiedSource,
} from './verification.ts';

const PATH = /^\/ingest\/([^/]+)\/([^/]+)(\/.*)?$/s;
// Names without a source have one share of the memory together, so that nobody's organization pays for them.
const NO_ORGANIZATION = '';
export const INGEST_METHODS: readonly string[] = METHODS;
// A configuration may change again while an event is being rerouted; after this many changes in a row the sender has to
// retry.
const MAX_ROUTINGS = 5;

export interface IngestDeps {
  pool: Pool;
  settings: Pick<Settings, 'HOOKYARD_MAX_PAYLOAD_BYTES'>;
  secretBox: SecretBox;
  senderOf: SourceReader['senderOf'];
  backlog: Backlog;
  routeMatcher: RouteMatcher;
  ingestLimits: IngestLimits;
  refusals: Refusals;
  /** Undefined: traces are not sent. */
  tracing?: Tracing | undefined;
  handshakes: Handshakes;
  acceptSecret: typeof acceptHandshakeSecret;
  providerKeys: ProviderKeys;
  baseUrl: () => string;
  issues: Pick<IngestIssues, 'accepted'>;
}

export function createIngest(deps: IngestDeps) {
  const { pool, settings, secretBox, senderOf, routeMatcher } = deps;
  const { backlog, ingestLimits, refusals, handshakes, baseUrl, tracing } = deps;
  const routing = createRoutingCache(pool, { secretBox, senderOf, gateOf: routeMatcher.gateOf });
  const writer = createEventWriter(pool);

  async function middleware(ctx: Koa.Context, next: Koa.Next): Promise<void> {
    const match = PATH.exec(ctx.path);
    if (!match) return next();
    if (HANDSHAKE_METHODS.includes(ctx.method) && (await shakeHands(ctx, match))) return;
    if (!INGEST_METHODS.includes(ctx.method)) {
      const allowed = INGEST_METHODS.join(', ');
      const advice = HANDSHAKE_METHODS.includes(ctx.method)
        ? `; if the sender checks the URL with ${ctx.method}, set the source's provider or handshake, and make sure that the request contains the challenge`
        : '';
      throw new ApiError(405, 'METHOD_NOT_ALLOWED', `An ingest URL accepts only ${allowed}${advice}`, undefined, {
        Allow: allowed,
      });
    }
    const received = receivedRequest(ctx, match);
    refuseLoop(received);
    try {
      writeAnswer(ctx, await receive(ctx, received));
    } catch (error) {
      refusals.note(received, error);
      throw error;
    }
  }

  /**
   * Answers a provider that asks with a method that no webhook has.
   * @returns whether it was one; to everyone else this address has no such method, whatever there is behind it
   */
  async function shakeHands(ctx: Koa.Context, match: RegExpExecArray): Promise<boolean> {
    const received = receivedRequest(ctx, match);
    const { organizationSlug, sourceSlug } = received;
    if (!isSlug(organizationSlug) || !isSlug(sourceSlug)) return false;
    received.setBody(Buffer.alloc(0));
    const source = await routing.getForStranger(organizationSlug, sourceSlug).catch(refuseWhenFull);
    const outcome = await authenticateWebhook(source, received, { baseUrl: baseUrl(), keysOf: () => NO_KEYS });
    if (outcome.kind !== 'handshake') return false;
    handshakes.note(outcome.source.sourceId, outcome.reply, received.receivedAt);
    writeAnswer(ctx, handshakeAnswer(outcome.reply));
    return true;
  }

  async function receive(ctx: Koa.Context, received: Received): Promise<IngestAnswer> {
    await requireOpenSource(routing, received);
    const { source: known } = received;
    if (known !== null) ctx.state.source = { organizationId: known.organizationId, sourceId: known.sourceId };
    // Before the body is read: refusals must be cheap, because an overload consists mostly of them.
    backlog.requireRoom();
    const payloadBytes = await requireQuota(ctx.req, known);
    const { memory, client }: ApiState = ctx.state;
    const room = memory.forWebhook(client.client, known ? received.organizationSlug : NO_ORGANIZATION);
    ctx.state.room = room;
    received.setBody(await readBody(ctx.req, settings.HOOKYARD_MAX_PAYLOAD_BYTES, payloadBytes, room));
    await othersFirst(received.size);
    const accepting = () => accept({ ...deps, routing, writer }, received);
    return tracing ? endingSpan(received, accepting) : accepting();
  }

  /**
   * A source that asks for proof must look like one that does not exist, so its limits count after the proof.
   * @returns the largest payload, in bytes
   * @throws ApiError 429
   */
  async function requireQuota(request: IncomingMessage, source: SourceRouting | null): Promise<number> {
    if (source === null || asksForProof(source)) return Number.POSITIVE_INFINITY;
    backlog.requireShareOfDatabase(source);
    const use = await ingestLimits.of(source);
    use.requireRoom(Number(request.headers['content-length'] ?? 0));
    return use.limits.payloadBytes;
  }

  return {
    middleware,
    /** Waits until every request that was accepted has been stored. */
    close: () => writer.end(),
  };
}

interface Stores extends IngestDeps {
  routing: RoutingCache;
  writer: EventWriter;
}

async function accept(stores: Stores, received: Received): Promise<IngestAnswer> {
  const { routing, writer, backlog, ingestLimits, routeMatcher, tracing, issues } = stores;
  for (let round = 0; round < MAX_ROUTINGS; round += 1) {
    const authentic = await verifiedSource(stores, received);
    await othersFirst(received.size);
    const { source } = authentic;
    if (authentic.kind === 'handshake') {
      if (await stores.acceptSecret(stores, source, received, authentic.reply.remember)) {
        const reply = await confirmed(stores.providerKeys, source, authentic.reply);
        stores.handshakes.note(source.sourceId, reply, received.receivedAt);
        return handshakeAnswer(reply);
      }
      // Another secret came first.
      routing.forget(received.organizationSlug, received.sourceSlug);
      continue;
    }
    if (received.traceparent === undefined) beginTrace(tracing, source, received);
    const use = await ingestLimits.of(source);
    if (received.body.length > use.limits.payloadBytes) throw tooLarge(use.limits.payloadBytes, 'payloadBytes');
    // Before schemas and filters run.
    backlog.requireShareOfDatabase(source);
    use.requireRoom(received.body.length);
    const verified = { at: new Date(), mac: authentic.mac };
    const event = newEvent(source, received, verified, await routeMatcher.decide(source, received));
    await othersFirst(received.size);
    await requireFewDeliveries(ingestLimits, use, event.deliveries.length);
    const write = () => writer.write(event);
    const storing = () => received.span?.storing(write) ?? write();
    const outcome = await store(storing, use, backlog.takeRoomFor(use, event), event);
    if (outcome.kind === 'stale') {
      routing.forget(received.organizationSlug, received.sourceSlug);
      continue;
    }
    const isStored = outcome.kind === 'stored';
    issues.accepted(source, isStored ? event : null);
    if (isStored && event.deliveries.length === 0) eventsUnrouted.add({});
    const accepted = isStored ? { eventId: event.id } : { eventId: outcome.eventId, duplicate: true as const };
    const answer = acceptedAnswer(source, accepted);
    received.span?.accepted(answer.status, { id: accepted.eventId, isDuplicate: !isStored });
    return answer;
  }
  throw unavailable("This source's configuration keeps changing");
}

// Before anything is looked up: a loop grows as fast as it is served, and the answer tells nothing about the source.
function refuseLoop({ headerBytes }: Received): void {
  if (hopsOf(headerBytes) < MAX_HOPS) return;
  throw new ApiError(
    508,
    'LOOP_DETECTED',
    `This webhook has passed through ${MAX_HOPS} Hookyard instances, so it is in a loop and was not stored; look for a route that delivers to a source`,
  );
}

/** Stores an event once there is room for it, counted in the use of its organization. @throws ApiError 429, 503 */
async function store(
  write: () => Promise<WriteOutcome>,
  use: OrganizationUse,
  settle: Settle,
  event: NewEvent,
): Promise<WriteOutcome> {
  let end: ((ended: Ended) => void) | undefined;
  try {
    end = use.take(event.body.length);
    const outcome = await write();
    end(outcome.kind === 'stale' ? null : outcome.kind);
    settle(outcome.kind === 'stored');
    return outcome;
  } catch (error) {
    end?.(null);
    settle(false);
    if (error instanceof BatcherFullError) throw unavailable('Too many webhooks are waiting to be stored');
    throw error;
  }
}

async function requireFewDeliveries(
  ingestLimits: IngestLimits,
  use: OrganizationUse,
  deliveries: number,
): Promise<void> {
  if (deliveries <= use.limits.deliveriesPerEvent) return;
  await ingestLimits.learnLimits(use);
  const most = use.limits.deliveriesPerEvent;
  if (deliveries <= most) return;
  const what = `This webhook would create ${plural(deliveries, 'delivery')}, more than the maximum of ${most}, so nothing was stored; disable some routes, then send the webhook again`;
  throw limitExceeded('deliveriesPerEvent', what, UNTIL_CHANGED_SECONDS);
}

/**
 * Refuses early what needs no body to be refused: names that no source can have, and a disabled source that anyone may
 * know of. The source of this name, as far as is known, is then that of the request.
 */
async function requireOpenSource(routing: RoutingCache, received: Received): Promise<void> {
  const { organizationSlug, sourceSlug } = received;
  if (!isSlug(organizationSlug) || !isSlug(sourceSlug)) throw unknownSource(received);
  const known = await routing.get(organizationSlug, sourceSlug);
  received.source = known;
  if (known === null || closedBy(known, sourceSlug) === null || asksForProof(known)) return;
  const current = await routing.getCurrent(organizationSlug, sourceSlug);
  received.source = current;
  const closed = current && !asksForProof(current) ? closedBy(current, sourceSlug) : null;
  if (closed !== null) throw closed;
}

/** @param ofService the limit of every organization, in bytes */
async function readBody(
  request: IncomingMessage,
  ofService: number,
  payloadBytes: number,
  room: BodyRoom,
): Promise<Buffer> {
  try {
    return await receiveBody(request, Math.min(ofService, payloadBytes), room);
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    if (error.reason === 'too_slow') throw tooSlow('nothing was stored');
    if (error.reason === 'no_room') throw noRoom('nothing was stored, so send the webhook again');
    if (error.reason === 'incomplete') {
      throw new ApiError(400, 'INCOMPLETE_BODY', 'The request ended before its body was complete; nothing was stored');
    }
    throw payloadBytes < ofService ? tooLarge(payloadBytes, 'payloadBytes') : tooLarge(ofService);
  }
}

function tooLarge(bytes: number, limit?: LimitName): ApiError {
  const message = `The payload is larger than ${bytes} bytes${limit ? ` (limit ${limit})` : ''}`;
  // The client may still be sending, so the connection cannot be reused.
  return new ApiError(413, 'PAYLOAD_TOO_LARGE', message, undefined, { Connection: 'close' }, limit);
}

function refuseWhenFull(error: unknown): never {
  if (error instanceof QueueFullError) throw tooManyLookups();
  throw error;
}
