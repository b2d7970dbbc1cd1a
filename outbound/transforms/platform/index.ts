// What browsers and Node have and QuickJS does not: texts in other encodings, hashes, addresses, languages and time
// zones. The code of it stands inside the sandbox and asks the host through one function, in texts and bytes. No object
// of the host is reachable from inside; an answer depends on nothing but the question and the event, and a question is
// bounded.
import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten';
import { bytes } from './bytes.ts';
import { hashes } from './hashes.ts';
import { intl } from './intl.ts';
import { type EventSeed, type Operation, type Part, RangeProblem, values } from './values.ts';
import { urls } from './urls.ts';

export type { EventSeed } from './values.ts';

/** In the order in which they are loaded: later ones use the earlier ones. */
const PARTS = { bytes, hashes, urls, values, intl } as const satisfies Record<string, Part>;
export type PartName = keyof typeof PARTS;

const OPERATIONS = new Map<string, Operation>(
  Object.values(PARTS).flatMap(({ operations }) => Object.entries(operations)),
);
// A question is JSON, in which a byte may take six characters.
const MAX_QUESTION = 24 * 1024 * 1024;
const MAX_BYTES = 12 * 1024 * 1024;

/**
 * The parts that JavaScript code mentions by the names of their globals, null: none. Nothing else is loaded for every
 * event.
 */
export function partsFor(code: string): PartName[] | null {
  const parts = (Object.keys(PARTS) as PartName[]).filter((name) => PARTS[name].mentioned.test(code));
  return parts.length === 0 ? null : parts;
}

/**
 * Loads parts into a new context.
 * @param seed what random numbers follow from, read at every question
 * @returns the function (operation, arguments, bytes) => answer
 */
export function loadPlatform(vm: QuickJSContext, parts: readonly PartName[], seed: () => EventSeed): QuickJSHandle {
  const script = `(host) => {\n${CALL}\n${parts.map((name) => `(${PARTS[name].script})(call, define);`).join('\n')}\nreturn call;\n}`;
  return vm
    .unwrapResult(vm.evalCode(`(${script})`, 'platform.js'))
    .consume((load) =>
      hostFunction(vm, seed).consume((host) => vm.unwrapResult(vm.callFunction(load, vm.undefined, host))),
    );
}

const CALL = `
  const { stringify, parse } = JSON, errors = { TypeError, RangeError }, make = Object.defineProperty;
  const define = (name, value, on = globalThis) => make(on, name, { value, writable: true, configurable: true, enumerable: false });
  const call = (operation, args, buffer) => {
    const answer = host(stringify([operation, ...args]), buffer);
    if (typeof answer !== 'string') return answer;
    if (answer[0] !== 'E') return parse(answer.slice(1));
    const [name, message] = parse(answer.slice(1));
    const error = new (errors[name] ?? Error)(message);
    if (errors[name] === undefined) error.name = name;
    throw error;
  };`;

function hostFunction(vm: QuickJSContext, seed: () => EventSeed): QuickJSHandle {
  return vm.newFunction('host', (question, buffer) => {
    const given = buffer === undefined || vm.typeof(buffer) === 'undefined' ? null : copyOf(vm, buffer);
    const answer = answerTo(vm.getString(question), given, seed());
    return typeof answer === 'string' ? vm.newString(answer) : vm.newArrayBuffer(Uint8Array.from(answer).buffer);
  });
}

function copyOf(vm: QuickJSContext, buffer: QuickJSHandle): Uint8Array {
  return vm.getArrayBuffer(buffer).consume(({ value: inside }) => {
    if (inside.byteLength > MAX_BYTES) throw new RangeError(`The data is longer than ${MAX_BYTES} bytes`);
    return Uint8Array.from(inside);
  });
}

/** Bytes, or a letter and JSON: V a value, E the name and the message of an error. */
function answerTo(question: string, given: Uint8Array | null, seed: EventSeed): string | Uint8Array {
  try {
    if (question.length > MAX_QUESTION) throw new RangeProblem('The text is too long');
    const [name, ...args] = JSON.parse(question) as [string, ...unknown[]];
    const operation = OPERATIONS.get(name);
    if (operation === undefined) throw new TypeError(`No such operation: ${name}`);
    const answer = operation(args, given ?? new Uint8Array(0), seed);
    return answer instanceof Uint8Array ? answer : `V${JSON.stringify(answer ?? null)}`;
  } catch (error) {
    const { name, message } = error instanceof Error ? error : { name: 'Error', message: 'The function failed' };
    return `E${JSON.stringify([name, message])}`;
  }
}
