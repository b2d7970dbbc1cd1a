// The threads for filters, schemas and mappings.
import type { Log } from '../../core/process/log.ts';
import { NoThreadError, ThreadPool, type ThreadWork, WAIT_DEADLINE_MS, WorkEndedError } from '../thread-pool.ts';
import { ComputeBusyError, ComputeOverrunError, type ResultOf, type Task } from './types.ts';

// Well above the budgets that tasks keep to by themselves: only what no budget sees comes here.
const DEADLINE = { cpuMs: 20_000, wallMs: 60_000 };
// Parsed JSON takes up to fifty times its bytes.
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 64 };

const BUSY: Record<NoThreadError['reason'], string> = {
  late: `Filters and schemas did not get their turn within ${WAIT_DEADLINE_MS / 1000} s`,
  ending: 'The process is ending',
  silent: 'A thread for filters and schemas did not answer in time',
  died: 'A thread for filters and schemas ended',
};

/** Work for a thread. */
export interface Job extends ThreadWork<Task> {
  kind: Task['kind'];
}

export class ComputePool {
  readonly #pool: ThreadPool<Task, ResultOf<Task['kind']>>;
  readonly #log: Pick<Log, 'warn'>;

  /** @param threads how many run at once, 1 or more */
  constructor(threads: number, log: Pick<Log, 'warn'>) {
    const script = new URL('./compute-thread.ts', import.meta.url);
    this.#pool = new ThreadPool({ threads, script, resourceLimits: RESOURCE_LIMITS, deadline: DEADLINE });
    this.#log = log;
  }

  /**
   * Runs a job when it is the turn of its organization.
   * @throws ComputeBusyError, ComputeOverrunError
   */
  async run<Kind extends Task['kind']>(job: Job & { kind: Kind }): Promise<ResultOf<Kind>> {
    try {
      return (await this.#pool.run(job)).result as ResultOf<Kind>;
    } catch (error) {
      if (error instanceof NoThreadError) throw new ComputeBusyError(BUSY[error.reason]);
      if (!(error instanceof WorkEndedError)) throw error;
      const { kind, organizationId } = job;
      this.#log.warn({ kind, organizationId, reason: error.reason }, 'work of an organization was ended');
      throw new ComputeOverrunError(error.reason, error.message);
    }
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
