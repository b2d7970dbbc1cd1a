// What waits in the database for a worker besides deliveries: one look finds what is due (db/operations/due.ts), and
// runs the parts that have work. Between looks it rests until the next of them is due, but for a second at most while
// this process delivers or is notified, and for ten seconds when all is quiet. Whatever makes something due that would
// not be seen in time notifies (wake_workers).
import { type IssueSink, issueSubjects } from '../../core/messages/issues.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { type Log, throttled } from '../../core/process/log.ts';
import { PollLoop, type Pause } from '../../core/process/poll-loop.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { endHolds } from '../../db/delivery/ordering.ts';
import { takeLongBlocked, unblockedDestinations } from '../../db/issues/record-issues.ts';
import { type Due, type DueKind, whatIsDue } from '../../db/operations/due.ts';

const LOOK_MS = 1000;
const IDLE_LOOK_MS = 10_000;
const ACTIVE_FOR_MS = 60_000;
// Temporal takes about 5 signals a second for one workflow, so looks are at least this far apart, woken or not.
const SHORTEST_REST_MS = 200;
// So that of many workers not all find the same things due at the same moment.
const SPREAD_MS = 50;
const GAIN_SECONDS = 0.9;

export interface DuePart {
  /** A name for the log: `failed to process due work (<what>)`. */
  what: string;
  kinds: readonly DueKind[];
  /** Shortest time between its rounds, ms. */
  everyMs: () => number;
  isOn?: () => boolean;
  /** One round. @returns how soon the next one follows, whatever a look says, ms; null: when a look says so */
  round: () => Promise<number | null>;
  /** Ends at once what a round waits for, and what runs beside the rounds. */
  stop?: () => Promise<void>;
}

interface RunningPart extends DuePart {
  running: Promise<void> | null;
  /** By a monotonic clock, ms. */
  notBefore: number;
  againAt: number;
}

interface DueWorkDeps {
  /** That of the hot path: the look is planned once for each connection. */
  pool: Pool;
  recoverySeconds: number;
  /** Called when what a look says of the installation has changed. */
  onChange: (before: Due, now: Due) => void;
  log: Log;
}

export type DueWork = ReturnType<typeof lookAtDue> extends Promise<infer Made> ? Made : never;

/**
 * Resolves after the first look; without parts it only keeps `now` up to date. Failure policy: a failed first look is
 * thrown. Later, while the database or Temporal is away, what is due waits, what was known stays, and claims of which
 * nothing came expire.
 */
export async function lookAtDue({ pool, recoverySeconds, onChange, log }: DueWorkDeps) {
  const parts: RunningPart[] = [];
  let activeAt = performance.now();
  let isStopped = false;
  const isActive = () => performance.now() - activeAt < ACTIVE_FOR_MS;
  const look = () => whatIsDue(pool, { recoverySeconds, gainSeconds: isActive() ? GAIN_SECONDS : IDLE_LOOK_MS / 1000 });
  let now = await look();

  const loop = new PollLoop({
    async round() {
      const before = now;
      now = await look();
      onChange(before, now);
      return restUntil(parts.map((part) => startWhenDue(part, performance.now())));
    },
    onError(error) {
      throttled(log).warn({ cause: causeOf(error) }, 'failed to read due work; trying again');
      return { ms: LOOK_MS };
    },
  });

  function restUntil(next: number[]): Pause {
    const inMs = Math.min(...next) - performance.now() + Math.random() * SPREAD_MS;
    const ms = Math.min(Math.max(inMs, SHORTEST_REST_MS), isActive() ? LOOK_MS : IDLE_LOOK_MS);
    return { ms, wokenMs: SHORTEST_REST_MS };
  }

  /** @returns when it is due next, by a monotonic clock, ms */
  function startWhenDue(part: RunningPart, at: number): number {
    // When it ends, another look follows.
    if (part.running !== null || !isOn(part)) return Number.POSITIVE_INFINITY;
    const inMs = part.kinds.map((kind) => now.inMs[kind] ?? Number.POSITIVE_INFINITY);
    const due = Math.max(Math.min(at + Math.min(...inMs), part.againAt), part.notBefore);
    if (due > at) return due;
    part.running = run(part).finally(() => {
      part.running = null;
    });
    return Number.POSITIVE_INFINITY;
  }

  async function run(part: RunningPart): Promise<void> {
    part.againAt = Number.POSITIVE_INFINITY;
    try {
      let againMs = await part.round();
      while (againMs === 0 && !isStopped && isOn(part)) againMs = await part.round();
      const endedAt = performance.now();
      part.notBefore = endedAt + Math.min(part.everyMs(), againMs ?? Number.POSITIVE_INFINITY);
      if (againMs === null) return;
      part.againAt = endedAt + againMs;
      loop.wake();
    } catch (error) {
      part.notBefore = performance.now() + Math.max(LOOK_MS, part.everyMs());
      throttled(log).warn({ cause: causeOf(error) }, `failed to process due work (${part.what}); trying again`);
    }
  }

  return {
    get now(): Due {
      return now;
    },
    add(part: DuePart): void {
      parts.push({ ...part, running: null, notBefore: 0, againAt: Number.POSITIVE_INFINITY });
      loop.wake();
    },
    active(): void {
      const wasActive = isActive();
      activeAt = performance.now();
      if (!wasActive) loop.wake();
    },
    wake(): void {
      activeAt = performance.now();
      loop.wake();
    },
    async stop(): Promise<void> {
      isStopped = true;
      await loop.stop();
      await Promise.all(parts.flatMap(({ running, stop }) => [running, stop?.()]));
    },
  };
}

const isOn = (part: DuePart): boolean => part.isOn?.() !== false;

// So many workers look each at its own pace, and more of them as often together.
const AT_OWN_PACE = 4;
// As a multiple. When nearly all workers die at once, due work waits for so long at most.
const LONGEST = 5;

/**
 * How long a worker rests between rounds that each of them would make.
 * @param everyMs of a worker that is alone
 * @param workers that are alive
 * @returns ms
 */
export const sharedRest = (everyMs: number, workers: number): number =>
  everyMs * Math.min(LONGEST, Math.max(1, workers / AT_OWN_PACE));

// Ordering keys that a failed delivery blocks: the block ends after its time, and after some minutes it is an issue.

const EVERY_MS = 1000;
const MOST = 500;

export function dueOrdering(pool: Pool, issues: IssueSink): DuePart {
  return {
    what: 'blocked ordering keys',
    kinds: ['ordering'],
    everyMs: () => EVERY_MS,
    async round() {
      const ended = await endHolds(pool, MOST);
      const blocked = await takeLongBlocked(pool, MOST);
      for (const { organizationId, destinationId, deliveryId, eventId } of blocked) {
        const failure = { cause: 'RETRIES_EXHAUSTED', at: Date.now(), isFinal: true, eventId, deliveryId };
        issues.failed(issueSubjects.order(organizationId, destinationId), failure);
      }
      for (const { organizationId, destinationId } of await unblockedDestinations(pool))
        issues.worked(issueSubjects.order(organizationId, destinationId));
      return ended === MOST || blocked.length === MOST ? 0 : null;
    },
  };
}
