// What a transform language is. A new one is a name in core/config/transform-types.ts, a file like javascript.ts, a line in languages.ts
// and its row in test/conformance/transforms.test.ts.
import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten';
import type { NumberForm } from './numbers.ts';
import type { PartName } from './platform/index.ts';
import type { TransformProblem } from './types.ts';

export interface TransformLanguage {
  /** Reads the language's library, a script that runs inside QuickJS; null when QuickJS itself is enough. */
  library: (() => string) | null;
  /**
   * Whether every event gets its own context, because code of this language could leave state in it. Otherwise the context stays
   * warm: loading a library costs 15 to 25 ms.
   */
  freshContext: boolean;
  /** The parts of the platform that this code gets as globals; null: it gets none and does not ask the host. */
  platform(code: string): readonly PartName[] | null;
  /** What the code uses and the sandbox lacks, looked for when the code is stored; on the host, which only reads it. */
  findMissing?(code: string): TransformProblem | null;
  /** What becomes of numbers that a double does not hold. */
  numbers: NumberForm;
  /**
   * Compiles the code of a transform inside the sandbox.
   * @param call asks the host (platform/index.ts); undefined inside the sandbox if `platform` is null
   * @returns the function (event) => result or promise, and the sandbox's own error when the code is wrong
   */
  compile(vm: QuickJSContext, code: string, call: QuickJSHandle): CompileResult;
  /** Puts an error of this language into words and finds its place in the code. */
  explain(error: SandboxError, code: string): TransformProblem;
}

export type CompileResult = { ok: true; transform: QuickJSHandle } | { ok: false; error: QuickJSHandle };

/** An error described by the prelude; everything in it comes from the sandbox and is untrusted text. */
export interface SandboxError {
  name: string | null;
  message: string;
  stack: string;
  /** Offset in the code, as JSONata gives it. */
  position: number | null;
  /** Line and column, as Liquid's tokens give it. */
  place: [number, number] | null;
}

/** The line and column, from 1, of an offset in a text. */
export function placeOf(code: string, offset: number): { line: number; column: number } {
  const before = code.slice(0, Math.max(0, offset)).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/**
 * Compiles with a library.
 * @param adapter script text of a function (code, call) => (event) => result, evaluated inside the sandbox
 */
export function compileWith(adapter: string): TransformLanguage['compile'] {
  return (vm, code, call) =>
    vm.unwrapResult(vm.evalCode(adapter, 'adapter.js')).consume((compile) => {
      const compiled = vm.newString(code).consume((text) => vm.callFunction(compile, vm.undefined, text, call));
      return compiled.error ? { ok: false, error: compiled.error } : { ok: true, transform: compiled.value };
    });
}
