// Events as they arrive, as server-sent events (HTML Living Standard, section 9.2). A stream lasts a minute; clients
// come back with `Last-Event-ID`, so that a process that ends and a broken connection are the same to them. Nothing is
// shown to a key that was revoked meanwhile.
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { withExample } from '../values.ts';
import { idFloor, idTime, isId } from '../../../core/text/ids.ts';
import { causeOf } from '../../../core/process/log-cause.ts';
import { throttled } from '../../../core/process/log.ts';
import { actingFor } from '../../../db/connections/by-organization.ts';
import { type Arrived, Arrivals, OVERLAP_MS } from '../../../db/history/events.ts';
import { isStillValid } from '../../../db/organizations/keys.ts';
import { type ApiDeps, type Context, callerOf, organizationId } from '../../request/context.ts';
import { ApiError, invalid } from '../../request/errors.ts';
import { operation } from '../../request/operation.ts';
import { eventFilterParams, showEvent } from './events.ts';

const LASTS_MS = 60_000;
const LOOK_EVERY_MS = 1000;
/** A comment is sent when nothing was for so long: proxies close what is quiet. */
const QUIET_MS = 15_000;
/** How far back `Last-Event-ID` may reach. */
const MOST_BEHIND_MS = 10 * 60_000;
const TYPE = 'text/event-stream';

/** Tells that older events were left out: the list has them. */
const GAP = 'event: gap\ndata: {}\n\n';

const { sourceId, routed } = eventFilterParams;
const streamSchema = z.object({ sourceId, routed });

export const eventStreamOperation = operation('streamEvents', 'get', '/api/organizations/{orgId}/events/stream', {
  tag: 'Events',
  summary: 'Stream events as they arrive',
  description:
    'Server-sent events, for requests that accept `text/event-stream`. A message of type `event` has the event ID and, as data, the event with the same fields as in the list. A message of type `gap` means that older events were skipped; read them from the list. The stream ends after a minute, or earlier (for example, when the API key is revoked). To continue, reconnect with the last ID as `Last-Event-ID`. Events received up to five seconds before the last one may be repeated.',
  query: streamSchema,
  answer: {
    description: 'The events as server-sent events.',
    content: { [TYPE]: { schema: withExample(z.string(), 'id: evt_...\nevent: event\ndata: {...}\n\n') } },
  },
  errors: { 406: ['NOT_ACCEPTABLE'] },
  async run(ctx, { query }) {
    // `*/*` is what clients send who do not know what they get.
    if (!ctx.get('Accept').toLowerCase().includes(TYPE))
      throw new ApiError(406, 'NOT_ACCEPTABLE', `This is a stream; send the header Accept: ${TYPE}`);
    const last = lastEventId(ctx);
    const gone = new AbortController();
    await hold(ctx, gone.signal);
    const now = Date.now();
    // What was received before the last event may have been stored after it.
    const sinceMs = last === null ? now : Math.max(idTime(last) - OVERLAP_MS, now - MOST_BEHIND_MS);
    const id = organizationId(ctx);
    const { key } = callerOf(ctx);
    const arrivals = new Arrivals(ctx.deps.pool, id, query, sinceMs);
    // The stream is read when the handler has ended.
    const next = async () => {
      const arrived = await actingFor(id, () => arrivals.next());
      // Afterwards: what arrived since the key was revoked is never shown.
      return (await isStillValid(ctx.deps.servicePool, id, key.id)) ? arrived : null;
    };
    const isBehind = last !== null && idTime(last) < now - MOST_BEHIND_MS;
    // Who has seen no event yet continues from here, too.
    const begins = last ?? idFloor('evt', now);
    const frames = follow(next, { deps: ctx.deps, signal: gone.signal, begins, isBehind });
    const body = Readable.from(frames);
    body.once('close', () => gone.abort());
    // The body of an answer that nobody reads any more is closed only when its generator comes to its next frame.
    ctx.res.once('close', () => gone.abort());
    ctx.set('Cache-Control', 'no-store');
    // Proxies that collect answers (nginx) pass this one on as it comes.
    ctx.set('X-Accel-Buffering', 'no');
    ctx.type = TYPE;
    return body;
  },
});

function lastEventId(ctx: Context): string | null {
  const last = ctx.get('Last-Event-ID');
  if (last === '') return null;
  if (isId('evt', last)) return last;
  throw invalid('Last-Event-ID', 'must be an event ID');
}

/** Counts the stream until it ends. @throws ApiError 429 */
function hold(ctx: Context, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const untilGone = () =>
      new Promise<void>((ended) => {
        signal.addEventListener('abort', () => ended(), { once: true });
        resolve();
      });
    ctx.deps.requests.run(callerOf(ctx).organization, 'runningStreams', untilGone).catch(reject);
  });
}

/** Null: the key is no longer valid. */
type Next = () => Promise<Arrived | null>;

interface Following {
  deps: Pick<ApiDeps, 'log' | 'isEnding'>;
  signal: AbortSignal;
  /** The id of the first frame, which has no event. */
  begins: string;
  /** Whether something may have been left out before the first look. */
  isBehind: boolean;
}

/** The frames of a stream. Failure policy: while the database is away it ends, and the client comes back. */
async function* follow(next: Next, { deps, signal, begins, isBehind }: Following): AsyncGenerator<string> {
  const endsAt = performance.now() + LASTS_MS;
  let sentAt = performance.now();
  yield `id: ${begins}\nretry: ${LOOK_EVERY_MS}\n\n${isBehind ? GAP : ''}`;
  while (performance.now() < endsAt && !signal.aborted && !deps.isEnding()) {
    const frames = await nextFrames(next, deps);
    if (frames === null) return;
    if (frames !== '' || performance.now() - sentAt > QUIET_MS) {
      yield frames || ':\n\n';
      sentAt = performance.now();
    }
    await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}

/** @returns null when the stream ends */
async function nextFrames(next: Next, { log }: Pick<ApiDeps, 'log'>): Promise<string | null> {
  try {
    const arrived = await next();
    if (arrived === null) return null;
    const { events, isCut } = arrived;
    const frames = events.map(
      (event) => `id: ${event.id}\nevent: event\ndata: ${JSON.stringify(showEvent(event))}\n\n`,
    );
    return (isCut ? GAP : '') + frames.join('');
  } catch (error) {
    throttled(log).warn({ cause: causeOf(error) }, 'event stream ended: failed to read events');
    return null;
  }
}
