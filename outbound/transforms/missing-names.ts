// Names of browsers and Node that JavaScript here does not have: code that uses one is refused when it is stored, where it would
// otherwise fail with every event that comes to that line.
// Rules: TFM-15.
import { type AnyNode, type Identifier, parse } from 'acorn';
import type { TransformProblem } from './types.ts';

const HINTS: readonly [names: string, hint: string][] = [
  [
    'fetch XMLHttpRequest WebSocket EventSource Request Response Headers',
    'a transform has no network; deliver to a service that asks others',
  ],
  [
    'setTimeout setInterval setImmediate clearTimeout clearInterval requestAnimationFrame',
    'a transform has no timers, and its clock stands still',
  ],
  [
    'require module exports process __dirname __filename Deno Bun',
    'a transform is not in Node. Hashes are in crypto, bytes in Buffer, without an import',
  ],
  ['console alert', 'nobody would read it; return what you want to see when you test the transform'],
  [
    'document window self localStorage sessionStorage navigator DOMParser XMLSerializer',
    'a transform is not in a browser',
  ],
  ['FormData Blob File FileReader', 'return the text of a form: String(new URLSearchParams(fields))'],
  ['performance', 'the clock stands still at the time of receipt: Date.now()'],
  ['Temporal', 'use Date and Intl'],
  ['WeakRef FinalizationRegistry', 'their results would differ from run to run'],
  [
    'WebAssembly Worker SharedWorker MessageChannel AbortController AbortSignal ReadableStream CompressionStream DecompressionStream Event EventTarget',
    'a transform has only what the documentation lists',
  ],
];
const MISSING: ReadonlyMap<string, string> = new Map(
  HINTS.flatMap(([names, hint]) => names.split(' ').map((name): [string, string] => [name, hint])),
);

/** The first use of a name that is missing. Code that declares the name anywhere, or asks for its type, is not judged. */
export function findMissingName(code: string): TransformProblem | null {
  const uses = new Map<string, Identifier>();
  const excused = new Set<string>();
  for (const { node, binds } of identifiersOf(code)) {
    if (binds) excused.add(node.name);
    else if (MISSING.has(node.name) && !uses.has(node.name)) uses.set(node.name, node);
  }
  const first = [...uses.values()].filter(({ name }) => !excused.has(name)).toSorted((a, b) => a.start - b.start)[0];
  if (first?.loc == null) return null;
  const { line, column } = first.loc.start;
  return { reason: 'code', message: `${first.name} is missing: ${MISSING.get(first.name)}`, line, column: column + 1 };
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

/** Without recursion, so that deep code costs no stack. QuickJS has compiled the code; what acorn cannot read has none. */
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
