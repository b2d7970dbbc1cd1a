// The two groups every attempt shares with others that run at the same time: loading deliveries and recording results.
import { setTimeout as pause } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { Batcher, type BatcherOptions } from '../../core/fairness/batcher.ts';
import type { IssueSink } from '../../core/messages/issues.ts';
import { type Log, throttled } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { limitConcurrency, type Limiter } from '../../core/fairness/concurrency.ts';
import { type CountedAttempt, countAttemptsInCircuits } from '../../db/circuits/circuits.ts';
import {
  isLockTimeout,
  isRefusedValue,
  isStatementTimeout,
  isTransientDatabaseError,
  isWriteConflict,
} from '../../db/connections/database-errors.ts';
import { type AttemptContext, loadAttempts, loadPayload } from '../../db/hot-path/load-attempts.ts';
import {
  type AttemptResult,
  type ChangedDelivery,
  NOT_CAPTURED,
  recordResults,
} from '../../db/hot-path/record-results.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { countInIssues, countRecorded } from './record.ts';
import type { AttemptRequest } from '../types.ts';

const MAX_GROUP = 128;
// Payloads above this are loaded one by one, so that nobody in a group waits for the large ones of others.
const MOST_BYTES = 65_536;
const LARGE_AT_ONCE = 2;
const MAX_QUEUED = 10_000;
// Results of attempts that end close together share a commit.
const RECORD_SPACING_MS = 10;
// How long a result may wait so that others share its commit: recording ten costs twice as much as recording one. If
// the process is killed meanwhile, the attempts behind the waiting results are made again: at most MAX_LINGERING, which
// is less than a busy process has unrecorded anyway.
const LINGER_MS = 100;
const MAX_LINGERING = 16;
const RETRY_PAUSE_MS = 250;
// Maximum number of unrecorded results before new attempts stop; attempts in flight come on top.
const MAX_KEPT = 100;
const LAST_TRIES_MS = 2000;
// How often, and for how long, attempts are counted again while somebody holds the row of their circuit.
const LATE_COUNT_PAUSE_MS = 250;
const LATE_COUNT_FOR_MS = 60_000;
// Organizations whose results are recorded apart from others; the least recently used ones are dropped, and made again.
const MAX_SEPARATE = 1000;

/** No attempt is made, because too many results are unrecorded. */
export class ResultsFullError extends Error {
  override readonly name = 'ResultsFullError';
  constructor() {
    super('Attempt not sent: the database is not accepting results');
  }
}

export type ContextLoader = ReturnType<typeof createContextLoader>;

/**
 * Loads the inputs of attempts, one statement per group; if PostgreSQL refuses a value, each one alone. Large payloads
 * are left out: only an attempt that may be made needs them, and it takes memory for them first.
 */
export function createContextLoader(pool: Pool) {
  const loader = (maxItems: number) =>
    new Batcher({
      async run(requests: AttemptRequest[]) {
        const contexts = await loadAttempts(pool, requests, { mostBytes: MOST_BYTES });
        return requests.map((request) => contexts.get(request.deliveryId));
      },
      maxItems,
      concurrency: 4,
      maxQueued: MAX_QUEUED,
      ownerOf: ({ organizationId }) => organizationId,
    });
  const [together, alone] = [loader(MAX_GROUP), loader(1)];
  const large = new Batcher({
    run: (events: Pick<AttemptContext, 'eventId' | 'organizationId'>[]) =>
      Promise.all(events.map(({ eventId }) => loadPayload(pool, eventId))),
    maxItems: 1,
    concurrency: LARGE_AT_ONCE,
    maxQueued: MAX_QUEUED,
    ownerOf: ({ organizationId }) => organizationId,
  });
  return {
    submit(request: AttemptRequest): Promise<AttemptContext | undefined> {
      return together.submit(request).catch((error: unknown) => {
        if (!isRefusedValue(error)) throw error;
        return alone.submit(request);
      });
    },
    /** Loads a payload that is apart, in turns by organization; null: it was removed by the retention. */
    loadBody: (context: AttemptContext): Promise<Buffer | null> => large.submit(context),
  };
}

export interface RecordedResult {
  /** False: the delivery had been closed, deleted or recorded before. */
  changed: boolean;
  failedOver: boolean;
  blocked: boolean;
}

export interface Recording {
  result: AttemptResult;
  recorded: Promise<RecordedResult>;
}

export type ResultRecorder = ReturnType<typeof createResultRecorder>;

/** @param isAwaited whether others wait for this delivery to be recorded, before they can start */
export function createResultRecorder(
  pool: Pool,
  log: Log,
  issues: IssueSink,
  isAwaited: (deliveryId: string) => boolean = () => false,
) {
  const deps = { pool, log, issues, lateCounts: limitConcurrency(1) };
  const recorder = (options: Partial<BatcherOptions<OwnedResult, GroupResult>>) =>
    new Batcher({
      run: (results: OwnedResult[]) => recordGroup(deps, results),
      maxItems: MAX_GROUP,
      spacingMs: RECORD_SPACING_MS,
      concurrency: 1,
      maxQueued: Number.POSITIVE_INFINITY,
      ownerOf: ({ organizationId }) => organizationId,
      ...options,
    });
  const together = recorder({
    concurrency: 2,
    // A failure decides what happens to its delivery and its route next, and a workflow waits for its results.
    linger: {
      ms: LINGER_MS,
      maxItems: MAX_LINGERING,
      isUrgent: ({ result }) =>
        result.deliveryStatus !== 'delivered' || result.lane !== 'express' || isAwaited(result.deliveryId),
    },
  });
  // Results of ordering keys: one group after the other, so that no result is committed before an earlier one of its
  // key. Where PostgreSQL refuses a group, each is recorded alone, in any order: should the worker end just then, an
  // event that was accepted is sent again after a later one.
  const inOrder = recorder({});
  // Isolates organizations: a row that one keeps locked (a replay of many events, for example) holds up its own results
  // only.
  const separate = new LRUCache<string, typeof together>({ max: MAX_SEPARATE });
  function separated(organizationId: string): typeof together {
    const made = separate.get(organizationId) ?? recorder({});
    separate.set(organizationId, made);
    return made;
  }
  // Isolates a failed group: neither an unusual response nor a slow row may block the recording of others.
  const alone = recorder({
    run: (results) => recordSomehow(deps, results),
    maxItems: 1,
    concurrency: 2,
    spacingMs: 0,
  });
  const underWay = new Map<string, Recording>();
  let kept = 0;

  async function untilRecorded(owned: OwnedResult): Promise<RecordedResult> {
    const usual = owned.result.orderKey ? inOrder : together;
    let recorder = usual;
    let isKept = false;
    try {
      for (;;) {
        try {
          const { late, ...recorded } = await recorder.submit(owned);
          return late ? { ...recorded, blocked: await late } : recorded;
        } catch (error) {
          const passing = isTransientDatabaseError(error);
          if (!passing && recorder === alone) throw error;
          if (!passing || isStatementTimeout(error)) recorder = alone;
          else if (isLockTimeout(error) && recorder === usual) recorder = separated(owned.organizationId);
          // A lock is not the database's trouble: others are recorded, and continue.
          if (passing && !isWriteConflict(error) && !isLockTimeout(error) && !isKept) {
            isKept = true;
            kept += 1;
          }
          if (passing) await pause(RETRY_PAUSE_MS);
        }
      }
    } finally {
      if (isKept) kept -= 1;
    }
  }

  return {
    /**
     * Records a result, one statement and one commit with others. While the database is away, full or read-only it is
     * kept here and tried again, for as long as this process lives: the destination has the event. The recording is
     * rejected when the database refuses this one result for what it holds.
     */
    record(organizationId: string, result: AttemptResult): Recording {
      const { deliveryId } = result;
      const recorded = untilRecorded({ organizationId, result }).finally(() => {
        if (underWay.get(deliveryId) === recording) underWay.delete(deliveryId);
      });
      // A waiting caller gets the error; there may be none left.
      recorded.catch((error: unknown) =>
        log.error({ deliveryId, cause: causeOf(error) }, "PostgreSQL rejected an attempt's result"),
      );
      const recording = { result, recorded };
      underWay.set(deliveryId, recording);
      return recording;
    },
    underWay: (deliveryId: string) => underWay.get(deliveryId),
    /** Whether new attempts must stop, because too many results are unrecorded. */
    isFull: () => kept >= MAX_KEPT,
    /** Waits until everything is recorded, for two seconds at most; results that are unrecorded then are lost. */
    async idle(): Promise<void> {
      const recordings = [...underWay.values()].map(({ recorded }) => recorded);
      await Promise.race([Promise.allSettled(recordings), pause(LAST_TRIES_MS)]);
      if (underWay.size > 0) log.error({ results: underWay.size }, 'failed to record attempt results');
      await Promise.all([together.idle(), inOrder.idle(), alone.idle()]);
    },
  };
}

interface OwnedResult {
  organizationId: string;
  result: AttemptResult;
}

interface RecordDeps {
  pool: Pool;
  log: Log;
  issues: IssueSink;
  lateCounts: Limiter;
}

/** `late`: its circuit is locked; `blocked` is known then. */
type GroupResult = RecordedResult & { late?: Promise<boolean> };

async function recordGroup(deps: RecordDeps, owned: OwnedResult[]): Promise<GroupResult[]> {
  const { pool, log, issues } = deps;
  const distinct = new Map(owned.map(({ result }) => [result.deliveryId, result]));
  const changed = await recordResults(pool, [...distinct.values()]).catch((error: unknown) => {
    throttled(log).warn(
      { results: owned.length, cause: causeOf(error) },
      'failed to record a group of attempt results',
    );
    throw error;
  });
  countRecorded(distinct.values(), changed);
  countInIssues(issues, owned, changed);
  const { blocked, late } = await countInCircuits(deps, distinct, changed);
  return owned.map(({ result: { deliveryId } }) => {
    const delivery = changed.get(deliveryId);
    const isIn = (routes: Set<string>) => delivery?.routeId != null && routes.has(delivery.routeId);
    const recorded = { changed: delivery !== undefined, failedOver: delivery?.failedOver ?? false };
    const isCounted = delivery?.countsInCircuit === true;
    return { ...recorded, blocked: isIn(blocked), ...(late && isCounted && { late: late.then(isIn) }) };
  });
}

/** A result that PostgreSQL refuses is recorded without its captured data. */
async function recordSomehow(deps: RecordDeps, owned: OwnedResult[]): Promise<GroupResult[]> {
  try {
    return await recordGroup(deps, owned);
  } catch (error) {
    if (isTransientDatabaseError(error)) throw error;
    const deliveryIds = owned.map(({ result }) => result.deliveryId);
    deps.log.error(
      { deliveryIds, cause: causeOf(error) },
      'recording an attempt without its captured headers and body',
    );
    const bare = owned.map((each) => ({ ...each, result: { ...each.result, ...NOT_CAPTURED } }));
    return recordGroup(deps, bare);
  }
}

/**
 * Counts the results of a group in the circuits of its routes; most groups have nothing to count. Failure policy: if
 * the database fails between a result and its count, the count is lost, not the result. A circuit then opens one
 * failure later, and a lost probe is followed by another. While circuits are locked, nothing is lost.
 * @returns routes whose circuit is not closed now; `late`: those of which that is known later
 */
async function countInCircuits(
  deps: RecordDeps,
  results: Map<string, AttemptResult>,
  changed: Map<string, ChangedDelivery>,
): Promise<{ blocked: Set<string>; late?: Promise<Set<string>> }> {
  const attempts = [...changed].flatMap(([deliveryId, { routeId, destinationId, countsInCircuit }]) => {
    const result = results.get(deliveryId);
    if (!result || !countsInCircuit || routeId === null) return [];
    const { completedAt, deliveryStatus } = result;
    return [{ routeId, deliveryId, destinationId, completedAt, success: deliveryStatus === 'delivered' }];
  });
  if (attempts.length === 0) return { blocked: new Set() };
  try {
    return { blocked: await countAttemptsInCircuits(deps.pool, attempts) };
  } catch (error) {
    if (isLockTimeout(error)) return { blocked: new Set(), late: countLater(deps, attempts) };
    return { blocked: notCounted(deps, attempts, error) };
  }
}

/** Counts attempts when their circuits are free, at most a minute later. Nobody else's results wait for them. */
async function countLater(deps: RecordDeps, attempts: CountedAttempt[]): Promise<Set<string>> {
  const until = performance.now() + LATE_COUNT_FOR_MS;
  for (;;) {
    await pause(LATE_COUNT_PAUSE_MS);
    try {
      return await deps.lateCounts(() => countAttemptsInCircuits(deps.pool, attempts));
    } catch (error) {
      if (!isLockTimeout(error) || performance.now() > until) return notCounted(deps, attempts, error);
    }
  }
}

function notCounted({ log }: RecordDeps, attempts: CountedAttempt[], error: unknown): Set<string> {
  throttled(log).warn(
    { attempts: attempts.length, cause: causeOf(error) },
    'failed to count attempts in the circuit breakers of their routes',
  );
  return new Set();
}
