// JavaScript: a module that exports a function by default, or a script that defines a function `transform`.
import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten';
import { type CompileResult, placeOf, type TransformLanguage } from './language.ts';
import { findMissingName } from './missing-names.ts';
import { partsFor } from './platform/index.ts';

const FILE = 'transform.js';
const NO_FUNCTION = 'NoFunctionError';
// Whether code that exports no function was meant as a module.
const EXPORTS = /\b(?:export|import)\b/;

export const javascript: TransformLanguage = {
  library: null,
  freshContext: true,
  platform: partsFor,
  findMissing: findMissingName,
  numbers: 'mixed',
  compile(vm, code) {
    // Read as a module first, which is strict and knows `export`. A script that only defines `transform` is read as such.
    const asModule = vm.evalCode(code, FILE, { type: 'module' });
    if (asModule.error) return { ok: false, error: asModule.error };
    const exported = defaultExport(vm, asModule.value);
    if (exported) return exported;
    if (EXPORTS.test(code)) return noFunction(vm);
    const asScript = vm.evalCode(code, FILE);
    if (asScript.error) return { ok: false, error: asScript.error };
    asScript.value.dispose();
    const named = vm.unwrapResult(vm.evalCode("typeof transform === 'function' ? transform : undefined"));
    return vm.typeof(named) === 'function' ? { ok: true, transform: named } : noFunction(vm);
  },
  explain({ name, message, stack }, code) {
    const module = /^could not load module '(.*)'$/.exec(message)?.[1];
    if (module !== undefined) {
      const text = `The module ${module} cannot be imported: a transform has nothing but the language itself`;
      return { reason: 'code', message: text, ...placeOf(code, code.indexOf(module)) };
    }
    // `at <eval> (transform.js:2:14)` or, for a syntax error, `at transform.js:2:14`.
    const place = /\btransform\.js:(\d+):(\d+)/.exec(stack);
    return {
      reason: 'code',
      message: name === null || name === NO_FUNCTION ? message : `${name}: ${message}`,
      line: place ? Number(place[1]) : name === NO_FUNCTION ? 1 : null,
      column: place ? Number(place[2]) : name === NO_FUNCTION ? 1 : null,
    };
  },
};

/** The function that an evaluated module exports by default, what it threw instead, or null when there is neither. */
function defaultExport(vm: QuickJSContext, evaluated: QuickJSHandle): CompileResult | null {
  // A module with a top-level await is a promise, any other one its exports.
  const jobs = vm.runtime.executePendingJobs();
  if (jobs.error) return { ok: false, error: jobs.error };
  const state = vm.getPromiseState(evaluated);
  if (state.type === 'rejected') return { ok: false, error: state.error };
  if (state.type === 'pending') return null;
  const exported = vm.getProp(state.value, 'default');
  if (!state.notAPromise) state.value.dispose();
  evaluated.dispose();
  if (vm.typeof(exported) === 'function') return { ok: true, transform: exported };
  exported.dispose();
  return null;
}

function noFunction(vm: QuickJSContext): CompileResult {
  const text = 'The code must export a function by default: export default function (event) { return event.payload; }';
  return { ok: false, error: vm.newError({ name: NO_FUNCTION, message: text }) };
}
