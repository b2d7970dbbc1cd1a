// The public ingest endpoint: verify, route, store, answer after the commit.
// Rules: INGEST-01 to INGEST-11, INGEST-13, ERR-19, ERR-22, ERR-35.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type Koa from 'koa';
import { BatcherFullError } from '../../core/batcher.ts';
import type { Settings } from '../../core/config.ts';
import { hopsOf, MAX_HOPS } from '../../core/hops.ts';
import { METHODS } from '../../core/methods.ts';
import { isSlug } from '../../core/slugs.ts';
import { slackChallenge } from '../../core/signatures/index.ts';
import type { SecretBox } from '../../db/encryption/secret-box.ts';
import type { Pool } from '../../db/pool.ts';
import type { BodyMemoryBudget } from '../body-memory-budget.ts';
import type { ApiState } from '../context.ts';
import { ApiError } from '../errors.ts';
import { type BodyRules, BodyError, noRoom, receiveBody, tooSlow } from '../receive-body.ts';
import type { Backlog } from './backlog.ts';
import { createEventWriter, type EventWriter } from './event-writer.ts';
import { asksForProof, disabled, judge, unknownSource } from './judge.ts';
import { newEvent } from './new-event.ts';
import { Received } from './received.ts';
import { createRoutingCache, type RoutingCache, type SourceRouting } from './routing.ts';

const PATH = /^\/ingest\/([^/]+)\/([^/]+)(?:\/([^/]+))?$/;
// Names without a source have one share of the memory together, so that nobody's organization pays for them.
const NO_ORGANIZATION = '';
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
  const writer = createEventWriter(pool);

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
    const headers = flatHeaders(ctx.req.headers);
    refuseLoop(headers);
    const [, organizationSlug = '', sourceSlug = '', token = null] = match;
    const isKnown = await requireOpenSource(routing, organizationSlug, sourceSlug);
    // Before the body is read: refusals must be cheap, because an overload consists mostly of them.
    backlog.requireRoom();
    const { room, client, minBodyRate }: ApiState = ctx.state;
    const source = `${organizationSlug}/${sourceSlug}`;
    if (!room.enter({ client: client.client, source, organization: isKnown ? organizationSlug : NO_ORGANIZATION })) {
      throw unavailable('Too many webhooks of this source are under way');
    }
    const received = new Received({
      organizationSlug,
      sourceSlug,
      token,
      method: ctx.method,
      queryText: ctx.querystring,
      headers,
      body: await readBody(ctx.req, { limit: settings.HOOKYARD_MAX_PAYLOAD_BYTES, minRate: minBodyRate }, room),
      clientAddress: client.address,
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
    const { source, mac } = await verifiedSource(routing, received);
    const challenge = source.verification.type === 'slack' ? slackChallenge(received.body) : null;
    if (challenge !== null) return { challenge };
    const event = newEvent(source, received, { at: new Date(), mac });
    backlog.requireRoomFor(event.deliveries);
    const outcome = await writer.write(event).catch(refuseWhenFull);
    if (outcome.kind === 'stored') return { success: true, eventId: event.id };
    if (outcome.kind === 'duplicate') return { success: true, eventId: outcome.eventId, duplicate: true };
    routing.forget(received.organizationSlug, received.sourceSlug);
  }
  throw unavailable('The configuration of this source keeps changing');
}

// Before anything is looked up: a loop grows as fast as it is served, and the answer tells nothing about the source.
function refuseLoop(headers: Record<string, string>): void {
  if (hopsOf(headers) < MAX_HOPS) return;
  throw new ApiError(
    508,
    'LOOP_DETECTED',
    `This webhook has been through ${MAX_HOPS} Hookyards, so it goes round in a loop; look for a route that delivers to a source. Nothing was stored`,
  );
}

/**
 * Refuses early what needs no body to be refused: names that no source can have, and a disabled source that anyone may know of.
 * @returns whether there is a source by this name, as far as is known
 */
async function requireOpenSource(
  routing: RoutingCache,
  organizationSlug: string,
  sourceSlug: string,
): Promise<boolean> {
  if (!isSlug(organizationSlug) || !isSlug(sourceSlug)) throw unknownSource({ organizationSlug, sourceSlug });
  const known = await routing.get(organizationSlug, sourceSlug);
  if (known === null || known.enabled || asksForProof(known)) return known !== null;
  const current = await routing.getCurrent(organizationSlug, sourceSlug);
  if (current !== null && !current.enabled && !asksForProof(current)) throw disabled(sourceSlug);
  return current !== null;
}

/** The source and the right signature, after the request was verified. A cached source accepts, and only a current one refuses. */
async function verifiedSource(
  routing: RoutingCache,
  received: Received,
): Promise<{ source: SourceRouting; mac: Buffer | null }> {
  const { organizationSlug, sourceSlug } = received;
  const known = await routing.get(organizationSlug, sourceSlug);
  const verdict = judge(known, received);
  if (verdict.kind === 'accepted') return verdict;
  const current = await routing.getCurrent(organizationSlug, sourceSlug);
  const last = current === known ? verdict : judge(current, received);
  if (last.kind === 'accepted') return last;
  throw last.error;
}

/** Header names in lower case as Node reads them; several values of one name joined as RFC 9110, section 5.3 allows. */
function flatHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return flat;
}

async function readBody(request: IncomingMessage, rules: BodyRules, room: BodyMemoryBudget): Promise<Buffer> {
  try {
    return await receiveBody(request, rules, room);
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    if (error.reason === 'too_slow') throw tooSlow(rules.minRate, 'nothing was stored');
    if (error.reason === 'no_room') throw noRoom('nothing was stored, send it again');
    if (error.reason === 'incomplete') {
      throw new ApiError(400, 'INCOMPLETE_BODY', 'The request ended before its body was complete; nothing was stored');
    }
    // The client may still be sending, so the connection cannot be reused.
    throw new ApiError(413, 'PAYLOAD_TOO_LARGE', `The payload is larger than ${rules.limit} bytes`, undefined, {
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
