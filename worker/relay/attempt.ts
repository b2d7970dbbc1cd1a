// The express lane: the relay makes first attempts itself, with the same function as the workflow's activity, and
// starts a workflow only if more is left to do. The delivery's row stays in the outbox until the delivery has ended or
// has a workflow. After a crash, the relay that claims the row continues from the recorded attempt, or makes it again.
//
// A workflow is started in its organization's turn (core/fairness/workflow-permits.ts). Until then the delivery waits
// here, with its slot and its row: an organization whose deliveries fail by the hundreds waits for itself, and Temporal
// stays free for others.
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { ResultsFullError } from '../../activities/attempt/results.ts';
import type { OrderedAttempt } from '../../activities/attempt/index.ts';
import type { AttemptOutcome, AttemptRequest } from '../../activities/types.ts';
import { retryDelay } from '../../core/delivery/backoff.ts';
import { type Log, throttled } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { actingFor } from '../../db/connections/by-organization.ts';
import { isTransientDatabaseError } from '../../db/connections/database-errors.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { type OutboxRow, removeQueued, type StartPolicy } from '../../db/hot-path/claim.ts';
import type { FirstAttempt } from '../../workflows/signals-and-queries.ts';

// Pause after an attempt that could not be made: while the database is down, another one would fail too.
const ERROR_REST_MS = 1000;
// Failed tries of one delivery while the database is up; it blocks a slot that others need.
const MOST_TRIES = 3;
// Maximum number of remembered deliveries; the least recently used are dropped, which costs one more try at most.
const MOST_REMEMBERED = 10_000;

export interface ExpressDeps {
  pool: Pool;
  /**
   * Makes and records one attempt; while the database is unavailable, the result is kept in memory. `unrecorded`: the
   * database refuses the result; the workflow handles that. @throws when our own infrastructure is unavailable and
   * nothing was sent
   */
  attempt: (request: AttemptRequest, inOrder?: OrderedAttempt) => Promise<AttemptOutcome>;
  /** Waits for its organization's turn at Temporal. @returns false when the relay ends */
  inTurn: (row: OutboxRow) => Promise<boolean>;
  /** Starts the delivery's workflow; false when one was started before. */
  startWorkflow: (row: OutboxRow, policy: StartPolicy, first: FirstAttempt | undefined) => Promise<boolean>;
  /** Ends a delivery whose workflow was terminated by an operator. @returns whether its workflow runs */
  lookAfter: (row: OutboxRow) => Promise<boolean>;
  /** Called when a delivery no longer needs its slot. */
  done: (deliveryId: string) => void;
  /** How long running attempts get at the end, ms. */
  drainMs: number;
  log: Log;
}

export type Express = ReturnType<typeof createExpress>;

export function createExpress(deps: ExpressDeps) {
  const running = new Map<string, Promise<void>>();
  /** Failed tries so far; `handed over`: its workflow was started, but its row could not be removed. */
  const remembered = new LRUCache<string, number | 'handed over'>({ max: MOST_REMEMBERED });

  async function deliver(row: OutboxRow, policy: StartPolicy, inOrder: OrderedAttempt | undefined): Promise<void> {
    const { deliveryId } = row;
    try {
      if (remembered.get(deliveryId) === 'handed over') return await handOver(row, policy, undefined);
      const outcome = await deps.attempt(firstAttempt(row, policy), inOrder);
      if (isLeftToDo(outcome)) {
        // In order: until the one before is recorded, this one has no row, and must not fail or wait in a workflow.
        await inOrder?.turnToRecord(false);
        await handOver(row, policy, outcome);
      }
      // It was ended while it entered the outbox, and nobody else would remove its row.
      if (outcome.status === 'closed') await removeQueued(deps.pool, row);
      remembered.delete(deliveryId);
    } catch (error) {
      await afterError(row, policy, error);
    }
  }

  /**
   * Retries while the database is down, which affects all deliveries. Problems of a single delivery (its credentials
   * cannot be decrypted, its code fails) are left to its workflow, which retries with backoff and holds no slot here.
   */
  async function afterError(row: OutboxRow, policy: StartPolicy, error: unknown): Promise<void> {
    const { deliveryId } = row;
    const facts = { deliveryId, cause: causeOf(error) };
    const before = remembered.get(deliveryId) ?? 0;
    if (before === 'handed over') {
      const line = "the workflow continues the delivery; the delivery's outbox entry will be removed";
      throttled(deps.log).warn(facts, line);
    } else if (isTransientDatabaseError(error) || error instanceof ResultsFullError) {
      throttled(deps.log).warn(facts, 'failed to complete the first attempt; trying again');
    } else {
      remembered.set(deliveryId, before + 1);
      await afterOwnError(row, policy, error, before + 1);
    }
    await delay(ERROR_REST_MS);
  }

  async function afterOwnError(row: OutboxRow, policy: StartPolicy, error: unknown, tries: number): Promise<void> {
    const { deliveryId } = row;
    const isLast = tries >= MOST_TRIES;
    deps.log.warn(
      { deliveryId, tries, cause: causeOf(error) },
      isLast
        ? 'failed to complete the first attempt; handing the delivery over to its workflow'
        : 'failed to complete the first attempt; trying again',
    );
    if (!isLast) return;
    await handOver(row, policy, undefined).catch((reason: unknown) =>
      deps.log.warn({ deliveryId, cause: causeOf(reason) }, 'failed to hand over the delivery to its workflow'),
    );
  }

  /**
   * The workflow continues from the result of the first attempt. The row is removed once Temporal has the workflow. At
   * the end of this relay it stays for the next one.
   */
  async function handOver(row: OutboxRow, policy: StartPolicy, outcome: FirstAttempt | undefined): Promise<void> {
    if (!(await deps.inTurn(row))) return;
    const started = await deps.startWorkflow(row, policy, outcome);
    // If it was started before, by a relay that then died, it is running, or an operator has terminated it.
    if (started) remembered.set(row.deliveryId, 'handed over');
    if (started || (await deps.lookAfter(row))) await removeQueued(deps.pool, row);
    remembered.delete(row.deliveryId);
  }

  return {
    /** @returns when the attempt is recorded, or could not be made */
    run(row: OutboxRow, policy: StartPolicy, inOrder?: OrderedAttempt): Promise<void> {
      const { deliveryId } = row;
      const attempt = actingFor(row.organizationId, () => deliver(row, policy, inOrder)).finally(() => {
        running.delete(deliveryId);
        deps.done(deliveryId);
      });
      running.set(deliveryId, attempt);
      return attempt;
    },
    isRunning: (deliveryId: string) => running.has(deliveryId),
    /** Resolves when no attempt is running, or on timeout; another relay repeats unfinished attempts. */
    async drain(): Promise<void> {
      await Promise.race([Promise.all(running.values()), delay(deps.drainMs, undefined, { ref: false })]);
    },
  };
}

function firstAttempt(row: OutboxRow, { retryPolicy }: StartPolicy): AttemptRequest {
  const { organizationId, deliveryId, eventId } = row;
  const pause = retryPolicy.maxRetries < 1 ? null : retryDelay(retryPolicy, 1, Math.random());
  return { organizationId, deliveryId, eventId, attempt: 1, retryDelay: pause };
}

/** Held deliveries wait in the database, and failed-over deliveries have a successor; neither needs a workflow. */
function isLeftToDo(outcome: AttemptOutcome): outcome is FirstAttempt {
  return ['retrying', 'failed', 'deferred', 'unrecorded'].includes(outcome.status);
}
