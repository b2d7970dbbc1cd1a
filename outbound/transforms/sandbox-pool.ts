// The host's side of the sandbox: its threads, and the budgets of organizations.
import { named, openError, ownWords } from '../../core/text/error-summary.ts';
import { NoThreadError, ThreadPool, WAIT_DEADLINE_MS, WorkEndedError } from '../thread-pool.ts';
import { Budgets } from './budgets.ts';
import type { Job } from './sandbox-thread.ts';
import {
  LateTurnError,
  LIMITS,
  NoTurnError,
  problems,
  SandboxUnavailableError,
  sandboxFailed,
  type TransformProblem,
  type TransformResult,
} from './types.ts';

// Beside QuickJS's own memory, which is outside of these: texts on their way in and out.
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 32, stackSizeMb: 16 };
const DEADLINE = { cpuMs: LIMITS.terminateMs, wallMs: LIMITS.clockMs };
const OVER_BUDGET = openError(ownWords`The organization has used its transformMsPerMinute`);
const ENDING = openError(ownWords`The process is ending`);
const LATE = openError(ownWords`The transform did not get its turn within ${WAIT_DEADLINE_MS / 1000} s`);
// When there may be a thread again.
const LATE_WAIT_MS = 5000;

/** Runs jobs on its own threads; the first job starts the first thread. */
export class SandboxPool {
  readonly #pool: ThreadPool<Job, TransformResult>;
  readonly #budgets = new Budgets();

  /** @param threads how many run at once, 1 or more */
  constructor(threads: number) {
    const script = new URL('./sandbox-thread.ts', import.meta.url);
    this.#pool = new ThreadPool({ threads, script, resourceLimits: RESOURCE_LIMITS, deadline: DEADLINE });
  }

  /**
   * Runs a job when a thread is free.
   * @param budget processor time that the organization may use in a minute, ms
   * @throws SandboxUnavailableError when no thread can be started; NoTurnError when the organization has to wait
   */
  async submit({ transform, event }: Job, organizationId: string, budget: number): Promise<TransformResult> {
    this.#requireBudget(organizationId, budget);
    // By CPU time, which does not grow with the load that others make.
    const charge = (cpuMs: number) => this.#budgets.charge(organizationId, cpuMs, budget, performance.now());
    const task = () => {
      this.#requireBudget(organizationId, budget);
      // The bytes are copied once and handed over: a Buffer may be a view of a much larger allocation.
      const body = event && new Uint8Array(event.body);
      return {
        task: { transform, event: event && body && { ...event, body } },
        handedOver: body ? [body.buffer as ArrayBuffer] : [],
      };
    };
    try {
      const { result, cpuMs } = await this.#pool.run({ organizationId, key: transform.key, task });
      charge(cpuMs);
      return result;
    } catch (error) {
      if (error instanceof NoThreadError) throw unavailable(error);
      if (!(error instanceof WorkEndedError)) throw error;
      charge(LIMITS.terminateMs);
      return { ok: false, problem: problemOf(error), durationMs: LIMITS.terminateMs };
    }
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  #requireBudget(organizationId: string, budget: number): void {
    const waitMs = this.#budgets.waitMs(organizationId, budget, performance.now());
    if (waitMs > 0) throw new NoTurnError(OVER_BUDGET, waitMs);
  }
}

/** Why a thread ended while the code of a transform was running in it. */
function problemOf({ reason, message }: WorkEndedError): TransformProblem {
  return reason === 'error' ? sandboxFailed(message) : problems[reason];
}

function unavailable({ reason, cause }: NoThreadError): SandboxUnavailableError {
  if (reason === 'late') return new LateTurnError(LATE, LATE_WAIT_MS);
  if (reason === 'ending') return new SandboxUnavailableError(ENDING);
  const failed = ownWords`The sandbox for transforms failed`;
  if (!(cause instanceof Error))
    return new SandboxUnavailableError(openError(ownWords`${failed}: it did not answer in time`));
  // It may quote the event.
  return new SandboxUnavailableError({
    summary: ownWords`${failed} (${named(cause.name)})`,
    detail: `${failed}: ${cause.message}`,
  });
}
