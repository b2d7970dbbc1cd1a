// The express lane: the relay makes first attempts itself, with the same function as the workflow's activity, and starts a
// workflow only if more is left to do. The delivery's row stays in the outbox until the delivery has ended or has a workflow.
// After a crash, the relay that claims the row continues from the recorded attempt, or makes it again.
//
// A workflow is started when its organization has a turn (core/workflow-turns.ts). Until then the delivery waits here, with its row; if
// its retry is due before, the relay makes that too. So a flood of deliveries that fail costs rows, not histories, and its retries
// are not late.
import type { AttemptOutcome, AttemptRequest } from '../activities/types.ts';
import { retryDelay } from '../core/backoff.ts';
import type { Log } from '../core/log.ts';
import { causeOf } from '../core/log-cause.ts';
import { throttled } from '../core/throttled-log.ts';
import type { WorkflowTurns } from '../core/workflow-turns.ts';
import { LRUCache } from 'lru-cache';
import { ResultsFullError } from '../activities/attempt/results.ts';
import { isTransientDatabaseError } from '../db/database-errors.ts';
import { type OutboxRow, putBack, removeQueued } from '../db/hot-path/claim.ts';
import type { Pool } from '../db/pool.ts';
import { actingFor } from '../db/pool-turns.ts';
import { type ResumePoint, resumePoints } from '../db/reconciliation/reconciliation.ts';
import type { FirstAttempt, ResumedDelivery } from '../workflows/messages.ts';
import type { StartPolicy } from './start-policies.ts';

// Pause after an attempt that could not be made: while the database is down, another one would fail too.
const ERROR_REST_MS = 1000;
// Failed tries of one delivery while the database is up; it blocks a place that others need.
const MOST_TRIES = 3;
// Maximum number of remembered deliveries; the least recently used are dropped, which costs one more try at most.
const MOST_REMEMBERED = 10_000;
/** How long a delivery waits for a turn of its organization, unless its retry is due before. Then its workflow is started all the same. */
export const LONGEST_WAIT_MS = 30_000;
// How long one that has failed waits. Its workflow would only wait for a replay, which does not need it.
const FAILED_WAIT_MS = 1000;

/** From where a workflow goes on. */
export interface StartFrom {
  first?: FirstAttempt;
  resumed?: ResumedDelivery;
}

export interface ExpressDeps {
  pool: Pool;
  turns: Pick<WorkflowTurns, 'wait' | 'spend'>;
  /**
   * Makes and records one attempt; while the database is unavailable, the result is kept in memory. `unrecorded`: the database
   * refuses the result; the workflow handles that. @throws when our own infrastructure is unavailable and nothing was sent
   */
  attempt: (request: AttemptRequest) => Promise<AttemptOutcome>;
  /** Starts the delivery's workflow; false when one was started before. */
  startWorkflow: (row: OutboxRow, policy: StartPolicy, from: StartFrom) => Promise<boolean>;
  /** Takes a place for the next attempt of a delivery. @returns false when there is none now */
  again: (deliveryId: string) => boolean;
  /** Ends a delivery whose workflow was terminated by an operator. @returns whether its workflow runs */
  lookAfter: (row: OutboxRow) => Promise<boolean>;
  /** Called when a delivery no longer needs its place. */
  done: (deliveryId: string) => void;
  /** How long running attempts get at the end, ms. */
  drainMs: number;
  log: Log;
}

export interface Express {
  /** Makes the first attempt of a delivery, or goes on from recorded ones, and handles the outcome. */
  run(row: OutboxRow, policy: StartPolicy, point?: ResumePoint): void;
  /** Whether this process is making it now. */
  isRunning(deliveryId: string): boolean;
  /** Resolves when no attempt is running, or on timeout; another relay repeats unfinished attempts. */
  drain(): Promise<void>;
}

export function createExpress(deps: ExpressDeps): Express {
  const running = new Map<string, Promise<void>>();
  /** Failed tries so far; `handed over`: its workflow was started, but its row could not be removed. */
  const remembered = new LRUCache<string, number | 'handed over'>({ max: MOST_REMEMBERED });

  async function deliver(row: OutboxRow, policy: StartPolicy, point: ResumePoint | undefined): Promise<void> {
    const { deliveryId } = row;
    try {
      if (remembered.get(deliveryId) === 'handed over') return await handOver(row, policy, {});
      await attemptAll(row, policy, point);
      remembered.delete(deliveryId);
    } catch (error) {
      await afterError(row, policy, error);
    }
  }

  /** Makes attempts until the delivery has ended, has a workflow, or is back in the queue. */
  async function attemptAll(row: OutboxRow, policy: StartPolicy, point: ResumePoint | undefined): Promise<void> {
    let waitMs = point?.waitMs;
    for (let attempt = (point?.attempts ?? 0) + 1; ; attempt += 1) {
      if (waitMs !== undefined && !(await isDueHere(row, policy, waitMs))) return;
      const outcome = await deps.attempt(requestOf(row, policy, attempt));
      // It was ended while it entered the outbox, and nobody else would remove its row.
      if (outcome.status === 'closed') return removeQueued(deps.pool, row);
      if (!isLeftToDo(outcome)) return;
      if (outcome.status === 'failed') return afterFailure(row, policy, fromOf(attempt, outcome));
      if (outcome.status !== 'retrying') {
        deps.turns.spend(row.organizationId);
        return handOver(row, policy, fromOf(attempt, outcome));
      }
      if ((await deps.turns.wait(row.organizationId, 0)) === 'turn') {
        return handOver(row, policy, fromOf(attempt, outcome));
      }
      waitMs = outcome.waitMs;
    }
  }

  /**
   * Waits until the workflow may be started, which is done then, or the retry is due.
   * @returns whether the relay is to make the retry now
   */
  async function isDueHere(row: OutboxRow, policy: StartPolicy, waitMs: number): Promise<boolean> {
    const { deliveryId, organizationId } = row;
    const turn = await deps.turns.wait(organizationId, Math.min(waitMs, LONGEST_WAIT_MS));
    // The relay that claims the row goes on.
    if (turn === 'ended') return false;
    if (turn === 'none' && waitMs <= LONGEST_WAIT_MS) {
      if (deps.again(deliveryId)) return true;
      await putBack(deps.pool, row);
      return false;
    }
    if (turn === 'none') deps.turns.spend(organizationId);
    // It may have been cancelled meanwhile, or its retry asked for now.
    const resumed = (await resumePoints(deps.pool, [deliveryId])).get(deliveryId);
    if (resumed) await handOver(row, policy, { resumed });
    else await removeQueued(deps.pool, row);
    return false;
  }

  async function afterFailure(row: OutboxRow, policy: StartPolicy, from: StartFrom): Promise<void> {
    const { deliveryId, organizationId } = row;
    const turn = await deps.turns.wait(organizationId, FAILED_WAIT_MS);
    if (turn === 'turn') return handOver(row, policy, from);
    if (turn === 'ended') return;
    throttled(deps.log).warn({ organizationId, deliveryId }, 'failed without a workflow: too many of its organization fail');
    await removeQueued(deps.pool, row);
  }

  /**
   * Retries while the database is down, which affects all deliveries. Problems of a single delivery (its credentials cannot be
   * decrypted, its code fails) are left to its workflow, which retries with backoff and holds no place here.
   */
  async function afterError(row: OutboxRow, policy: StartPolicy, error: unknown): Promise<void> {
    const { deliveryId } = row;
    const before = remembered.get(deliveryId) ?? 0;
    if (before === 'handed over') {
      throttled(deps.log).warn(
        { deliveryId, cause: causeOf(error) },
        'its workflow goes on, and its place in the queue is to be removed',
      );
    } else if (isTransientDatabaseError(error) || error instanceof ResultsFullError) {
      throttled(deps.log).warn({ deliveryId, cause: causeOf(error) }, 'first attempt to be made again');
    } else {
      remembered.set(deliveryId, before + 1);
      await afterOwnError(row, policy, error, before + 1);
    }
    await new Promise((resolve) => setTimeout(resolve, ERROR_REST_MS));
  }

  async function afterOwnError(row: OutboxRow, policy: StartPolicy, error: unknown, tries: number): Promise<void> {
    const { deliveryId } = row;
    const isLast = tries >= MOST_TRIES;
    deps.log.warn(
      { deliveryId, tries, err: error },
      isLast ? 'first attempt is left to a workflow' : 'first attempt to be made again',
    );
    if (!isLast) return;
    await handOver(row, policy, {}).catch((reason: unknown) =>
      deps.log.warn({ deliveryId, cause: causeOf(reason) }, 'the delivery could not be left to its workflow'),
    );
  }

  /** The workflow continues from recorded results. The row is removed once Temporal has the workflow. */
  async function handOver(row: OutboxRow, policy: StartPolicy, from: StartFrom): Promise<void> {
    const started = await deps.startWorkflow(row, policy, from);
    // If it was started before, by a relay that then died, it is running, or an operator has terminated it.
    if (started) remembered.set(row.deliveryId, 'handed over');
    if (started || (await deps.lookAfter(row))) await removeQueued(deps.pool, row);
    remembered.delete(row.deliveryId);
  }

  return {
    run(row, policy, point) {
      const { deliveryId } = row;
      const attempt = actingFor(row.organizationId, () => deliver(row, policy, point)).finally(() => {
        running.delete(deliveryId);
        deps.done(deliveryId);
      });
      running.set(deliveryId, attempt);
    },
    isRunning: (deliveryId) => running.has(deliveryId),
    async drain() {
      let timer: NodeJS.Timeout | undefined;
      const over = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, deps.drainMs);
      });
      await Promise.race([Promise.all(running.values()), over]);
      clearTimeout(timer);
    },
  };
}

function requestOf(
  { deliveryId, eventId }: OutboxRow,
  { retryPolicy }: StartPolicy,
  attempt: number,
): AttemptRequest {
  const delay = attempt > retryPolicy.maxRetries ? null : retryDelay(retryPolicy, attempt, Math.random());
  return { deliveryId, eventId, attempt, retryDelay: delay };
}

/** Held deliveries wait in the database, and failed-over deliveries have a successor; neither needs a workflow. */
function isLeftToDo(outcome: AttemptOutcome): outcome is FirstAttempt {
  return ['retrying', 'failed', 'deferred', 'unrecorded'].includes(outcome.status);
}

/** Only of the first attempt, and of one that it has to record, a workflow is given the outcome. Others it finds recorded. */
function fromOf(attempt: number, outcome: FirstAttempt): StartFrom {
  if (attempt === 1 || outcome.status === 'unrecorded') return { first: outcome };
  if (outcome.status === 'retrying') {
    const { waitMs, statusCode, error } = outcome;
    return { resumed: { attempts: attempt, waitMs, statusCode, error } };
  }
  const known = outcome.status === 'failed' ? outcome : { statusCode: null, error: null };
  const waitMs = outcome.status === 'deferred' ? outcome.waitMs : 0;
  return { resumed: { attempts: attempt - 1, waitMs, statusCode: known.statusCode, error: known.error } };
}
