// What a transform language is. A new one is a name in core/config/transform-types.ts, a file like javascript.ts and a
// line in run.ts; the conformance suite (test/conformance/transforms.test.ts) has a row for each.
import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten';
import type { TransformType } from '../../core/config/transform-types.ts';
import type { NumberForm } from './numbers.ts';
import type { PartName } from './platform/index.ts';

export interface TransformLanguage {
  /** Reads the language's library, a script that runs inside QuickJS; null when QuickJS itself is enough. */
  library: (() => string) | null;
  /**
   * Whether every event gets its own context, because code of this language could leave state in it. Otherwise the
   * context stays warm: loading a library costs 15 to 25 ms.
   */
  freshContext: boolean;
  /** The parts of the platform that this code gets as globals; null: it gets none and does not ask the host. */
  platform(code: string): readonly PartName[] | null;
  /** What the code uses and the sandbox lacks, looked for when the code is stored; on the host, which only reads it. */
  findMissing?(code: string): TransformProblem | null;
  /** What becomes of numbers that a double does not hold. */
  numbers: NumberForm;
  /**
   * @param call asks the host (platform/index.ts); undefined inside the sandbox if `platform` is null
   * @returns the function (event) => result or promise, and the sandbox's own error when the code is wrong
   */
  compile(vm: QuickJSContext, code: string, call: QuickJSHandle): CompileResult;
  explain(error: SandboxError, code: string): TransformProblem;
}

export type CompileResult = { ok: true; transform: QuickJSHandle } | { ok: false; error: QuickJSHandle };

/** An error described by the prelude; everything in it comes from the sandbox and is untrusted text. */
export interface SandboxError {
  name: string | null;
  message: string;
  stack: string;
  position: number | null;
  place: [number, number] | null;
}

export function placeOf(code: string, offset: number): { line: number; column: number } {
  const before = code.slice(0, Math.max(0, offset)).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** @param adapter script text of a function (code, call) => (event) => result, evaluated inside the sandbox */
export function compileWith(adapter: string): TransformLanguage['compile'] {
  return (vm, code, call) =>
    vm.unwrapResult(vm.evalCode(adapter, 'adapter.js')).consume((compile) => {
      const compiled = vm.newString(code).consume((text) => vm.callFunction(compile, vm.undefined, text, call));
      return compiled.error ? { ok: false, error: compiled.error } : { ok: true, transform: compiled.value };
    });
}

// What transforms take and give, as the attempt and the API see it.

/** Code to run. `key` names it in the caches of warm sandboxes (id and version); null for code that is not stored. */
export interface TransformCode {
  key: string | null;
  type: TransformType;
  code: string;
  /** `Content-Type` of the result; null: application/json, or text/plain when the result is a string. */
  outputContentType: string | null;
}

export interface TransformEvent {
  id: string;
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
 * Why a transform gave no result. `code`: the code is wrong or threw; `time`, `memory`, `output`: a limit; `nothing`:
 * it gave null or undefined.
 */
export type TransformFailure = 'code' | 'time' | 'memory' | 'output' | 'nothing';

export interface TransformProblem {
  reason: TransformFailure;
  /**
   * A sentence for the author of the transform. It may quote the code or the event: never for a log, a mail or
   * Temporal.
   */
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

/** The limits of one run (docs/guide/transforms.md); times in ms, sizes in bytes. */
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

const problem = <Reason extends TransformFailure>(reason: Reason, message: string) => ({
  ...{ reason, message, line: null, column: null },
});

const MIB = 1024 * 1024;

export const problems = {
  time: problem('time', `The transform took longer than ${LIMITS.interruptMs} ms`),
  memory: problem(
    'memory',
    `The transform used more than ${LIMITS.memoryBytes / MIB} MiB of memory, or recursed too deeply`,
  ),
  output: problem('output', `The transform's result is larger than ${LIMITS.outputBytes / MIB} MiB`),
  nothing: problem('nothing', 'The transform returned nothing; it must return an object, an array or a string'),
} as const satisfies Record<string, TransformProblem>;

/** A fault of the sandbox while the code was running: most likely brought about by the code. */
export const sandboxFailed = (message: string): TransformProblem =>
  problem('code', `The sandbox failed while running the transform: ${message}`);
