// JavaScript: a module that exports a function by default, or a script that defines a function `transform`.
import { type AnyNode, type Identifier, parse } from 'acorn';
import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten';
import { type CompileResult, placeOf, type TransformLanguage, type TransformProblem } from './language.ts';
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
    // Read as a module first, which is strict and knows `export`. A script that only defines `transform` is read as
    // such.
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
      const text = `The module ${module} cannot be imported: transforms cannot use modules`;
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
  const text =
    'The code must have a function as its default export: export default function (event) { return event.payload; }';
  return { ok: false, error: vm.newError({ name: NO_FUNCTION, message: text }) };
}

// Names of browsers and Node that JavaScript here does not have: code that uses one is refused when it is stored, where
// it would otherwise fail with every event that comes to that line.

const HINTS: readonly [names: string, hint: string][] = [
  [
    'fetch XMLHttpRequest WebSocket EventSource Request Response Headers',
    'transforms have no network access; make the request in the service that receives the delivery',
  ],
  [
    'setTimeout setInterval setImmediate clearTimeout clearInterval requestAnimationFrame',
    'transforms have no timers, and their clock does not advance',
  ],
  [
    'require module exports process __dirname __filename Deno Bun',
    'transforms do not run in Node; use crypto for hashes and Buffer for bytes, without an import',
  ],
  ['console alert', 'transforms cannot show output; to see a value when you test the transform, return it'],
  [
    'document window self localStorage sessionStorage navigator DOMParser XMLSerializer',
    'transforms do not run in a browser',
  ],
  ['FormData Blob File FileReader', 'to send a form, return String(new URLSearchParams(fields))'],
  ['performance', 'use Date.now(), which always returns the time of receipt'],
  ['Temporal', 'use Date and Intl'],
  ['WeakRef FinalizationRegistry', 'its results would differ from run to run'],
  [
    'WebAssembly Worker SharedWorker MessageChannel AbortController AbortSignal ReadableStream CompressionStream DecompressionStream Event EventTarget',
    'transforms can use only the globals listed in the documentation',
  ],
];
const MISSING: ReadonlyMap<string, string> = new Map(
  HINTS.flatMap(([names, hint]) => names.split(' ').map((name): [string, string] => [name, hint])),
);

/**
 * The first use of a name that is missing. Code that declares the name anywhere, or asks for its type, is not judged.
 */
function findMissingName(code: string): TransformProblem | null {
  const uses = new Map<string, Identifier>();
  const excused = new Set<string>();
  for (const { node, binds } of identifiersOf(code)) {
    if (binds) excused.add(node.name);
    else if (MISSING.has(node.name) && !uses.has(node.name)) uses.set(node.name, node);
  }
  const first = [...uses.values()].filter(({ name }) => !excused.has(name)).toSorted((a, b) => a.start - b.start)[0];
  if (first?.loc == null) return null;
  const { line, column } = first.loc.start;
  return {
    reason: 'code',
    message: `${first.name} is not available: ${MISSING.get(first.name)}`,
    line,
    column: column + 1,
  };
}

interface Found {
  node: Identifier;
  /** Whether it declares, assigns or asks for the type; otherwise it uses. */
  binds: boolean;
}

/** Members that hold names, not identifiers, unless they are computed. */
const NAMES: Readonly<Record<string, string>> = {
  ...{ MemberExpression: 'property', Property: 'key', MethodDefinition: 'key', PropertyDefinition: 'key' },
  ...{ LabeledStatement: 'label', BreakStatement: 'label', ContinueStatement: 'label' },
  ...{ ImportSpecifier: 'imported', ExportSpecifier: 'exported', MetaProperty: 'meta' },
};
/** Members in which names are bound. */
const BINDINGS: Readonly<Record<string, readonly string[]>> = {
  VariableDeclarator: ['id'],
  FunctionDeclaration: ['id', 'params'],
  FunctionExpression: ['id', 'params'],
  ArrowFunctionExpression: ['params'],
  ClassDeclaration: ['id'],
  ClassExpression: ['id'],
  CatchClause: ['param'],
  ImportSpecifier: ['local'],
  ImportDefaultSpecifier: ['local'],
  ImportNamespaceSpecifier: ['local'],
  AssignmentExpression: ['left'],
};
/** Of patterns, members whose names are bound as well. */
const INSIDE: Readonly<Record<string, readonly string[]>> = {
  ObjectPattern: ['properties'],
  Property: ['value'],
  ArrayPattern: ['elements'],
  RestElement: ['argument'],
  AssignmentPattern: ['left'],
};

/**
 * Without recursion, so that deep code costs no stack. QuickJS has compiled the code; what acorn cannot read has none.
 */
function* identifiersOf(code: string): Generator<Found> {
  const rest: { node: AnyNode; binds: boolean }[] = [];
  const program = parsed(code);
  if (program !== null) rest.push({ node: program, binds: false });
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { node, binds } = next;
    if (node.type === 'Identifier') yield { node, binds };
    const isTypeof = node.type === 'UnaryExpression' && node.operator === 'typeof';
    for (const [key, member] of Object.entries(node)) {
      if (NAMES[node.type] === key && !('computed' in node && node.computed)) continue;
      const inside =
        isTypeof ||
        (BINDINGS[node.type]?.includes(key) ?? false) ||
        (binds && (INSIDE[node.type]?.includes(key) ?? false));
      for (const each of Array.isArray(member) ? (member as unknown[]) : [member as unknown]) {
        if (isNode(each)) rest.push({ node: each, binds: inside });
      }
    }
  }
}

const isNode = (value: unknown): value is AnyNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

function parsed(code: string): AnyNode | null {
  for (const sourceType of ['module', 'script'] as const) {
    try {
      return parse(code, { sourceType, ecmaVersion: 'latest', locations: true, allowAwaitOutsideFunction: true });
    } catch {
      // Not as this, or at all.
    }
  }
  return null;
}
