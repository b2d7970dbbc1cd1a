// What transforms take and give, as the attempt and the API see it.
// Rules: TFM-04, TFM-05, TFM-09.
import type { DescribedError } from '../../core/text/error-summary.ts';
import type { TransformType } from '../../core/config/transform-types.ts';

/** Code to run. `key` names it in the caches of warm sandboxes (id and version); null for code that is not stored. */
export interface TransformCode {
  key: string | null;
  type: TransformType;
  code: string;
  /** `Content-Type` of the result; null: application/json, or text/plain when the result is a string. */
  outputContentType: string | null;
}

/** The received event that a transform is a function of. */
export interface TransformEvent {
  id: string;
  /** The source's slug. */
  source: string;
  method: string;
  /** Below the address of the source, as received; empty without one. */
  path: string;
  /** The query string as received, without its question mark. */
  query: string;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
  receivedAt: Date;
}

/**
 * Why a transform gave no result. `code`: the code is wrong or threw; `time`, `memory`, `output`: a limit; `nothing`: it
 * gave null or undefined.
 */
export type TransformFailure = 'code' | 'time' | 'memory' | 'output' | 'nothing';

export interface TransformProblem {
  reason: TransformFailure;
  /** A sentence for the author of the transform. It may quote the code or the event: never for a log, a mail or Temporal. */
  message: string;
  /** In the code, from 1; null when it is not known. */
  line: number | null;
  column: number | null;
}

export interface TransformOutput {
  body: Uint8Array;
  contentType: string;
  /** Whether the result was a string, sent as it is; everything else is sent as JSON. */
  isText: boolean;
}

/** `durationMs`: what the code itself took, without waiting and loading. */
export type TransformResult = { durationMs: number } & (
  | { ok: true; output: TransformOutput }
  | { ok: false; problem: TransformProblem }
);

/** The limits of one run (docs/transforms.md); times in ms, sizes in bytes. */
export const LIMITS = {
  /** CPU time of the code before QuickJS interrupts it. */
  interruptMs: 500,
  /** CPU time of the code before the host ends the thread: native calls inside QuickJS are not interrupted. */
  terminateMs: 1000,
  /** Time on the clock before the host ends the thread, however little CPU time it got. */
  clockMs: 30_000,
  memoryBytes: 64 * 1024 * 1024,
  outputBytes: 10 * 1024 * 1024,
} as const;

export const problems = {
  time: {
    reason: 'time',
    message: `The transform took longer than ${LIMITS.interruptMs} ms`,
    line: null,
    column: null,
  },
  memory: {
    reason: 'memory',
    message: `The transform used more than ${LIMITS.memoryBytes / 1024 / 1024} MiB of memory, or called itself too deeply`,
    line: null,
    column: null,
  },
  output: {
    reason: 'output',
    message: `The result of the transform is larger than ${LIMITS.outputBytes / 1024 / 1024} MiB`,
    line: null,
    column: null,
  },
  nothing: {
    reason: 'nothing',
    message: 'The transform returned nothing; it must return an object, an array or a string',
    line: null,
    column: null,
  },
} as const satisfies Record<string, TransformProblem>;

/** A fault of the sandbox while the code was running: most likely brought about by the code. */
export function sandboxFailed(message: string): TransformProblem {
  return {
    reason: 'code',
    message: `The sandbox failed while it ran the transform: ${message}`,
    line: null,
    column: null,
  };
}

/** The sandbox cannot be used: too much waits, or a thread could not start. Nothing is known of the transform. */
export class SandboxUnavailableError extends Error {
  override readonly name = 'SandboxUnavailableError';
  // No property that a log would take with the error.
  readonly #detail: string;
  constructor({ summary, detail }: DescribedError) {
    super(summary);
    this.#detail = detail;
  }

  get detail(): string {
    return this.#detail;
  }
}

/** It is not the organization's turn: its budget is used up. Others are not concerned. */
export class NoTurnError extends SandboxUnavailableError {
  /** When to come back. */
  readonly waitMs: number;
  constructor(described: DescribedError, waitMs: number) {
    super(described);
    this.waitMs = waitMs;
  }
}

/** No thread was free for it in time. Nobody is over a limit. */
export class LateTurnError extends NoTurnError {}
