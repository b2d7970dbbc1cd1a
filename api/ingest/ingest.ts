// The public ingest endpoint: verify, route, store, answer after the commit.
// Rules: INGEST-01 to INGEST-11, ERR-19, ERR-22.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type Koa from 'koa';
import { BatcherFullError } from '../../core/batcher.ts';
import type { Settings } from '../../core/config.ts';
import { METHODS } from '../../core/methods.ts';
import { slackChallenge, verifySignature } from '../../core/signatures/index.ts';
import type { SecretBox } from '../../db/encryption/secret-box.ts';
import type { NewEvent } from '../../db/hot-path/store-events.ts';
import type { Pool } from '../../db/pool.ts';
import type { BodyMemoryBudget } from '../body-memory-budget.ts';
import { ApiError } from '../errors.ts';
import { BodyError, noRoom, receiveBody } from '../receive-body.ts';
import type { Backlog } from './backlog.ts';
import { createEventWriter, type EventWriter } from './event-writer.ts';
import { newEvent } from './new-event.ts';
import { Received } from './received.ts';
import { createRoutingCache, type RoutingCache, type SourceRouting } from './routing.ts';
import type { WriteOutcome } from './write-group.ts';

const PATH = /^\/ingest\/([^/]+)\/([^/]+)$/;
export const INGEST_METHODS: readonly string[] = METHODS;
// A configuration may change again while an event is being rerouted; after this many changes in a row the sender has to retry.
const MAX_ROUTINGS = 5;

export interface IngestDeps {
  pool: Pool;
  settings: Pick<Settings, 'HOOKYARD_MAX_PAYLOAD_BYTES'>;
  secretBox: SecretBox;
  backlog: Backlog;
}

export interface Ingest {
  middleware: Koa.Middleware;
  /** Waits until every request that was accepted has been stored. */
  close(): Promise<void>;
}

/** Makes the ingest endpoint; requests for other paths pass through its middleware. */
export function createIngest({ pool, settings, secretBox, backlog }: IngestDeps): Ingest {
  const routing = createRoutingCache(pool, secretBox);
  const writer = createEventWriter(pool, () => backlog.alone);

  async function middleware(ctx: Koa.Context, next: Koa.Next): Promise<void> {
    const match = PATH.exec(ctx.path);
    if (!match) return next();
    if (!INGEST_METHODS.includes(ctx.method)) {
      const allowed = INGEST_METHODS.join(', ');
      throw new ApiError(405, 'METHOD_NOT_ALLOWED', `Webhooks are received with ${allowed}`, undefined, {
        Allow: allowed,
      });
    }
    const receivedAt = new Date();
    const [, organizationSlug = '', sourceSlug = ''] = match;
    await requireOpenSource(routing, organizationSlug, sourceSlug);
    // Before the body is read: refusals must be cheap, because an overload consists mostly of them.
    backlog.requireRoom();
    const room: BodyMemoryBudget = ctx.state.room;
    if (!room.enter(`${organizationSlug}/${sourceSlug}`)) {
      throw unavailable('Too many webhooks of this source are under way');
    }
    const received = new Received({
      organizationSlug,
      sourceSlug,
      method: ctx.method,
      queryText: ctx.querystring,
      headers: flatHeaders(ctx.req.headers),
      body: await readBody(ctx.req, settings.HOOKYARD_MAX_PAYLOAD_BYTES, room),
      receivedAt,
    });
    ctx.body = await accept({ routing, writer, backlog }, received);
  }

  return { middleware, close: () => writer.idle() };
}

/** Verifies and stores one webhook; the answer's body. */
async function accept(
  { routing, writer, backlog }: { routing: RoutingCache; writer: EventWriter; backlog: Backlog },
  received: Received,
): Promise<object> {
  for (let round = 0; round < MAX_ROUTINGS; round += 1) {
    const source = await verifiedSource(routing, received);
    const challenge = source.verification.type === 'slack' ? slackChallenge(received.body) : null;
    if (challenge !== null) return { challenge };
    const event = newEvent(source, received, new Date());
    const outcome = await store({ writer, backlog }, source, event);
    if (outcome.kind === 'stored') return { success: true, eventId: event.id };
    if (outcome.kind === 'duplicate') return { success: true, eventId: outcome.eventId, duplicate: true };
    routing.forget(received.organizationSlug, received.sourceSlug);
  }
  throw unavailable('The configuration of this source keeps changing');
}

async function store(
  { writer, backlog }: { writer: EventWriter; backlog: Backlog },
  source: SourceRouting,
  event: NewEvent,
): Promise<WriteOutcome> {
  const ended = backlog.takeRoomFor(source, event.deliveries);
  let isStored = false;
  try {
    const outcome = await writer.write(event).catch(refuseWhenFull);
    isStored = outcome.kind === 'stored';
    return outcome;
  } finally {
    ended(isStored);
  }
}

async function requireOpenSource(routing: RoutingCache, organizationSlug: string, sourceSlug: string): Promise<void> {
  let source = await routing.get(organizationSlug, sourceSlug);
  if (source && !source.enabled) source = await routing.getCurrent(organizationSlug, sourceSlug);
  requireOpen(source, organizationSlug, sourceSlug);
}

function requireOpen(
  source: SourceRouting | null,
  organizationSlug: string,
  sourceSlug: string,
): asserts source is SourceRouting {
  if (!source) {
    throw new ApiError(
      404,
      'RESOURCE_NOT_FOUND',
      `No source receives webhooks at /ingest/${organizationSlug}/${sourceSlug}; send to the webhookUrl of a source`,
    );
  }
  if (!source.enabled)
    throw new ApiError(403, 'SOURCE_DISABLED', `The source ${sourceSlug} is disabled; nothing was stored`);
}

/** The source, after the request was verified. A request is never refused because of an outdated secret in the cache. */
async function verifiedSource(routing: RoutingCache, received: Received): Promise<SourceRouting> {
  const { organizationSlug, sourceSlug } = received;
  const known = await routing.get(organizationSlug, sourceSlug);
  requireOpen(known, organizationSlug, sourceSlug);
  if (verify(known, received).valid) return known;
  const current = await routing.getCurrent(organizationSlug, sourceSlug);
  requireOpen(current, organizationSlug, sourceSlug);
  const verification = verify(current, received);
  if (verification.valid) return current;
  throw new ApiError(401, 'INVALID_SIGNATURE', `${verification.reason}; nothing was stored`);
}

function verify(source: SourceRouting, received: Received) {
  return verifySignature(source.verification, {
    headers: received.headers,
    body: received.body,
    nowMs: received.receivedAt.getTime(),
  });
}

/** Header names in lower case as Node reads them; several values of one name joined as RFC 9110, section 5.3 allows. */
function flatHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return flat;
}

async function readBody(request: IncomingMessage, limit: number, room: BodyMemoryBudget): Promise<Buffer> {
  try {
    return await receiveBody(request, limit, room);
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    if (error.reason === 'no_room') throw noRoom('nothing was stored, send it again');
    if (error.reason === 'incomplete') {
      throw new ApiError(400, 'INCOMPLETE_BODY', 'The request ended before its body was complete; nothing was stored');
    }
    // The client may still be sending, so the connection cannot be reused.
    throw new ApiError(413, 'PAYLOAD_TOO_LARGE', `The payload is larger than ${limit} bytes`, undefined, {
      Connection: 'close',
    });
  }
}

function refuseWhenFull(error: unknown): never {
  if (error instanceof BatcherFullError) throw unavailable('More webhooks are waiting to be stored than may');
  throw error;
}

function unavailable(reason: string): ApiError {
  return new ApiError(503, 'UNAVAILABLE', `${reason}; nothing was stored, send it again`, undefined, {
    'Retry-After': '1',
  });
}
