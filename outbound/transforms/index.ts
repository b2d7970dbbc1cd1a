// Transforms for the attempt and the API: check code, run it on an event.
import { SandboxPool } from './pool.ts';
import type { TransformCode, TransformEvent, TransformProblem, TransformResult } from './types.ts';

export type { TransformCode, TransformEvent, TransformOutput, TransformProblem, TransformResult } from './types.ts';
export { SandboxUnavailableError } from './types.ts';

export interface Transforms {
  /**
   * Compiles code without running it on an event.
   * @param group see `run`
   * @returns what is wrong with it, or null
   * @throws SandboxUnavailableError when the sandbox cannot be used at the moment
   */
  check(transform: Pick<TransformCode, 'type' | 'code'>, group: string): Promise<TransformProblem | null>;
  /**
   * Runs a transform on an event; the same code and event give the same bytes, however often.
   * @param group shares the threads fairly with other groups; the id of a transform, or of an organization
   * @throws SandboxUnavailableError when the sandbox cannot be used at the moment; nothing is known of the transform
   */
  run(transform: TransformCode, event: TransformEvent, group: string): Promise<TransformResult>;
  /** Ends the threads; running jobs are rejected. */
  close(): Promise<void>;
}

/** @param threads how many transforms run at once; threads are started when there is something to run */
export function createTransforms(threads: number): Transforms {
  const pool = new SandboxPool(threads);
  return {
    async check({ type, code }, group) {
      const result = await pool.submit(
        { transform: { key: null, type, code, outputContentType: null }, event: null },
        group,
      );
      return result.ok ? null : result.problem;
    },
    run: (transform, event, group) => pool.submit({ transform, event }, group),
    close: () => pool.close(),
  };
}
