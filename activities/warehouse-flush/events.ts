// The events of a file, read page by page, so that the payloads in memory stay few, each after the transform of its
// route.
import { setTimeout as delay } from 'node:timers/promises';
import { cancellationSignal } from '@temporalio/activity';
import pMap from 'p-map';
import { type DescribedError, openError, ownWords } from '../../core/text/error-summary.ts';
import { type AttemptContext, loadAttempts } from '../../db/hot-path/load-attempts.ts';
import type { BatchUnderWay } from '../../db/warehouse/batches.ts';
import { type BatchMember, readEvents } from '../../db/warehouse/members.ts';
import { NoTurnError, type StoredEvent } from '../../outbound/threads/index.ts';
import { type Ending, SOURCE_DELETED } from '../attempt/outcomes.ts';
import { applyTransform } from '../attempt/render.ts';
import { ROUTE_NOT_KEPT, routeOf } from '../attempt/route.ts';
import type { FlushDeps } from './prepare.ts';

const PAGE_EVENTS = 500;
const PAGE_BYTES = 2 * 1024 * 1024;
// Far below an organization's share of the queue for transforms, which all its batches and deliveries have together.
const TRANSFORMS_AT_ONCE = 16;

export type Prepared =
  | { deliveryId: string; event: StoredEvent }
  | { deliveryId: string; ending: 'cancelled' | 'failed'; reason: DescribedError };

/**
 * Pages of a file, in the order of its rows. The next one is read while the one before is used.
 * @throws TooSlowError, or when our own side is away
 */
export async function* preparedPages(
  deps: FlushDeps,
  batch: BatchUnderWay,
  members: BatchMember[],
): AsyncGenerator<Prepared[]> {
  const turns = new TransformTurns(members.length > 1);
  const pages = pagesOf(members);
  const begin = (): Promise<Prepared[]> | undefined => {
    const { value: page, done } = pages.next();
    if (done) return undefined;
    const reading = prepared(deps, batch, page, turns);
    // It is waited for below, perhaps later.
    reading.catch(() => undefined);
    return reading;
  };
  let next = begin();
  try {
    while (next !== undefined) {
      const page = await next;
      next = begin();
      yield page;
    }
  } finally {
    turns.end();
    await next?.catch(() => undefined);
  }
}

function* pagesOf(members: BatchMember[]): Generator<BatchMember[], void> {
  let page: BatchMember[] = [];
  let bytes = 0;
  for (const member of members) {
    const size = member.payloadSize ?? 0;
    if (page.length === PAGE_EVENTS || (page.length > 0 && bytes + size > PAGE_BYTES)) {
      yield page;
      page = [];
      bytes = 0;
    }
    page.push(member);
    bytes += size;
  }
  if (page.length > 0) yield page;
}

async function prepared(
  deps: FlushDeps,
  batch: BatchUnderWay,
  page: BatchMember[],
  turns: TransformTurns,
): Promise<Prepared[]> {
  const toTransform = page.filter(({ isTransformed }) => isTransformed);
  if (toTransform.length === 0) return asReceived(deps, batch, page);
  const contexts = await loadAttempts(deps.hotPool, toTransform);
  const transformed = await pMap(
    contexts.values(),
    (context) => turns.run(() => afterTransform(deps, batch, context)),
    { concurrency: TRANSFORMS_AT_ONCE },
  );
  const others = await asReceived(
    deps,
    batch,
    page.filter(({ isTransformed }) => !isTransformed),
  );
  const byId = new Map([...transformed, ...others].map((each) => [each.deliveryId, each]));
  // One that was deleted meanwhile has no row.
  return page.flatMap(({ deliveryId }) => byId.get(deliveryId) ?? []);
}

async function asReceived(
  { hotPool }: FlushDeps,
  { frozenAt }: BatchUnderWay,
  members: BatchMember[],
): Promise<Prepared[]> {
  const events = await readEvents(
    hotPool,
    members.map(({ eventId }) => eventId),
  );
  return members.map(({ deliveryId, eventId, sourceSlug, routeId, replayOf, receivedAt }): Prepared => {
    const event = events.get(eventId);
    if (!event || sourceSlug === null || receivedAt === null) return { deliveryId, ...SOURCE_DELETED };
    const body = event.text ?? event.bytes;
    if (body === null) return { deliveryId, ...PAYLOAD_REMOVED };
    const { id, headers } = event;
    return {
      deliveryId,
      event: { id, deliveryId, source: sourceSlug, routeId, replayOf, receivedAt, writtenAt: frozenAt, headers, body },
    };
  });
}

async function afterTransform(
  deps: FlushDeps,
  { frozenAt }: BatchUnderWay,
  context: AttemptContext,
): Promise<Prepared> {
  const { deliveryId, eventId, routeId, replayOf, sourceSlug, eventHeaders, body, receivedAt } = context;
  if (sourceSlug === null || eventHeaders === null || receivedAt === null) return { deliveryId, ...SOURCE_DELETED };
  if (body === null) return { deliveryId, ...PAYLOAD_REMOVED };
  const route = await routeOf(deps.configs, context);
  if (route === undefined) return { deliveryId, ending: 'failed', reason: ROUTE_NOT_KEPT };
  const content = await applyTransform(deps, context, route, { headers: eventHeaders, body, sourceSlug });
  if ('problem' in content) return { deliveryId, ending: 'failed', reason: content.problem };
  return {
    deliveryId,
    event: {
      id: eventId,
      deliveryId,
      source: sourceSlug,
      routeId,
      replayOf,
      receivedAt,
      writtenAt: frozenAt,
      headers: JSON.stringify(lowercased(content.headers)),
      body: content.body,
    },
  };
}

/** A transform sets headers in the usual letters; received ones are in lowercase already. */
function lowercased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

const PAYLOAD_REMOVED = {
  ending: 'failed',
  reason: openError(ownWords`The payload was removed by the retention policy before it was written`),
} as const satisfies Ending;

// Of one upload, whose activity has 180 s in all.
const LONGEST_MS = 90_000;

/** The transforms of the batch take longer than one upload may wait for. */
export class TooSlowError extends Error {}

/**
 * Waits of a batch for its organization's turn to run transforms. Rows that are made already stay in memory meanwhile:
 * an upload that began again would use the budget for the same rows again, and never end.
 */
class TransformTurns {
  readonly #until = performance.now() + LONGEST_MS;
  readonly #ended = new AbortController();
  readonly #signal = AbortSignal.any([cancellationSignal(), this.#ended.signal]);
  readonly #mayHalve: boolean;

  /** @param mayHalve whether the batch can be smaller; else it waits as long as it takes */
  constructor(mayHalve: boolean) {
    this.#mayHalve = mayHalve;
  }

  /** Repeats work until it gets its turn. @throws TooSlowError; or an AbortError after the end of the activity */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    for (;;) {
      this.#signal.throwIfAborted();
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof NoTurnError)) throw error;
        if (this.#mayHalve && performance.now() + error.waitMs > this.#until) throw new TooSlowError();
        await delay(error.waitMs, undefined, { signal: this.#signal });
      }
    }
  }

  end(): void {
    this.#ended.abort();
  }
}
