// Transforms for the attempt and the API: check code, run it on an event.
import { transformDuration, transformFailures } from '../../core/metrics/services.ts';
import { SandboxPool } from './sandbox-pool.ts';
import type { Job } from './sandbox-thread.ts';
import {
  SandboxUnavailableError,
  type TransformCode,
  type TransformEvent,
  type TransformProblem,
  type TransformResult,
} from './types.ts';

export type { TransformCode, TransformEvent, TransformOutput, TransformProblem, TransformResult } from './types.ts';
export { LateTurnError, NoTurnError, SandboxUnavailableError } from './types.ts';

export interface Transforms {
  /**
   * Compiles code without running it on an event.
   * @returns what is wrong with it, or null
   * @throws as `run`
   */
  check(transform: Pick<TransformCode, 'type' | 'code'>, organizationId: string): Promise<TransformProblem | null>;
  /**
   * Runs a transform on an event; the same code and event give the same bytes, however often.
   * @throws SandboxUnavailableError when the sandbox cannot be used at the moment; nothing is known of the transform.
   * NoTurnError when it is to come back later. What `budgetOf` throws
   */
  run(transform: TransformCode, event: TransformEvent, organizationId: string): Promise<TransformResult>;
  /** Ends the threads; running jobs are rejected. */
  close(): Promise<void>;
}

/** Processor time that the transforms of an organization may use in a minute, ms; Infinity: no limit. */
export type BudgetOf = (organizationId: string) => Promise<number>;

/** @param threads how many transforms run at once; threads are started when there is something to run */
export function createTransforms(threads: number, budgetOf: BudgetOf): Transforms {
  const pool = new SandboxPool(threads);
  const submit = async (job: Job, organizationId: string) =>
    pool.submit(job, organizationId, await budgetOf(organizationId));
  return {
    async check({ type, code }, organizationId) {
      const result = await submit(
        { transform: { key: null, type, code, outputContentType: null }, event: null },
        organizationId,
      );
      return result.ok ? null : result.problem;
    },
    async run(transform, event, organizationId) {
      const result = await submit({ transform, event }, organizationId).catch((error: unknown) => {
        if (error instanceof SandboxUnavailableError) transformFailures.add({ cause: 'sandbox' });
        throw error;
      });
      transformDuration.observe({ language: transform.type }, result.durationMs / 1000);
      if (!result.ok) transformFailures.add({ cause: result.problem.reason });
      return result;
    },
    close: () => pool.close(),
  };
}
