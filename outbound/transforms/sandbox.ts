// One transform inside one QuickJS of its own: its own WebAssembly memory, so that neither a limit nor a fault of one
// transform touches another. Nothing of the host is reachable from inside but one function that takes and gives texts
// and bytes.
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  RELEASE_SYNC,
} from 'quickjs-emscripten';
import { z } from 'zod';
import { threadCpuMs } from '../../core/process/event-loop.ts';
import {
  LIMITS,
  problems,
  type SandboxError,
  sandboxFailed,
  type TransformLanguage,
  type TransformProblem,
} from './language.ts';
import { NUMBERS, unmark } from './numbers.ts';
import { type EventSeed, loadPlatform, type PartName } from './platform/index.ts';

/**
 * Runs first in every context, and makes a transform a pure function of its event, so that a retry gives the same
 * bytes: the clock stands still at the time of receipt, and random numbers follow from the event's id. Gives a function
 * that sets both. It is short because the parsing of it is paid for every event.
 */
const CLOCK = `(() => {
  const { construct } = Reflect, RealDate = Date, define = Object.defineProperty;
  let now = 0, state = 0;
  function FixedDate(...parts) {
    if (new.target === undefined) return new RealDate(now).toString();
    return construct(RealDate, parts.length === 0 ? [now] : parts, new.target);
  }
  const hide = (object, name, value) => define(object, name, { value, writable: true, configurable: true });
  define(FixedDate, 'name', { value: 'Date' });
  define(FixedDate, 'prototype', { value: RealDate.prototype, writable: false });
  hide(FixedDate, 'now', () => now);
  hide(FixedDate, 'parse', RealDate.parse);
  hide(FixedDate, 'UTC', RealDate.UTC);
  hide(RealDate.prototype, 'constructor', FixedDate);
  hide(globalThis, 'Date', FixedDate);
  hide(Math, 'random', () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  });
  delete globalThis.WeakRef;
  delete globalThis.FinalizationRegistry;
  return (time, seed) => { now = time; state = seed; };
})()`;

/** No new members on what all objects inherit: for a context that is used again, after its library is loaded. */
const SEAL = `for (const name of Reflect.ownKeys(globalThis)) {
  const prototype = typeof globalThis[name] === 'function' ? globalThis[name].prototype : undefined;
  if (typeof prototype === 'object' && prototype !== null) Object.preventExtensions(prototype);
}`;

/** What reads results and errors. It lives in a context apart, so that a transform cannot change it. */
const HELPERS = `({
  /**
   * A letter for what a result is (nothing, text, JSON) and its JSON. print: shows numbers that a double does not hold.
   */
  output(value, print) {
    if (value === undefined || value === null) return 'N';
    const text = JSON.stringify(value, print && ((_key, member) => print(member)));
    if (text === undefined) return 'N';
    return (typeof value === 'string' ? 'T' : 'J') + text;
  },
  describe(error) {
    const read = (type, key) => {
      try {
        return typeof error[key] === type ? error[key] : null;
      } catch {
        return null;
      }
    };
    let place = null;
    try {
      const [line, column] = error.token.getPosition();
      if (typeof line === 'number' && typeof column === 'number') place = [line, column];
    } catch {}
    let message = read('string', 'message');
    if (message === null) message = typeof error === 'object' ? (JSON.stringify(error) ?? 'an object') : String(error);
    return JSON.stringify({
      name: read('string', 'name'),
      message: message.slice(0, 2000),
      stack: (read('string', 'stack') ?? '').slice(0, 8000),
      position: read('number', 'position'),
      place,
    });
  },
})`;

const PAGE_BYTES = 65_536;
// What this build of QuickJS needs at least.
const INITIAL_PAGES = 256;
// QuickJS's own limits come first: they end in an error that leaves the sandbox in order, the hard ones may not.
const SOFT_MEMORY_BYTES = LIMITS.memoryBytes - 12 * 1024 * 1024;
const STACK_BYTES = 256 * 1024;
const JOBS_AT_ONCE = 1000;

export interface SandboxInput {
  id: string;
  /** JSON of the event without its payload. */
  facts: string;
  body: string;
  /** What NUMBERS is to know; null when all numbers of the payload are exact. */
  numbers: string | null;
  /** What the clock shows, in ms since 1970. */
  now: number;
  /** 32 bits from which random numbers follow. */
  seed: number;
}

export type SandboxResult = { ok: true; isText: boolean; text: string } | { ok: false; problem: TransformProblem };

/** A context with what was taken from it before the transform could change it, and the compiled transform. */
interface Room {
  vm: QuickJSContext;
  clock: QuickJSHandle;
  parse: QuickJSHandle;
  call: QuickJSHandle;
  transform: QuickJSHandle;
  /** What NUMBERS gave, once a payload needed it. */
  numbers: QuickJSHandle | null;
}
type Prepared = Omit<Room, 'transform'>;
type Failed = { ok: false; problem: TransformProblem };
type Opened = { ok: true; room: Room } | Failed;

const errorSchema: z.ZodType<SandboxError> = z.object({
  name: z.string().nullable(),
  message: z.string(),
  stack: z.string(),
  position: z.number().nullable(),
  place: z.tuple([z.number(), z.number()]).nullable(),
});

/**
 * Opens a sandbox for one transform; its library is loaded by then and the code is not compiled yet.
 * @param wasm QuickJS, compiled once per thread
 */
export async function openSandbox(
  wasm: WebAssembly.Module,
  language: TransformLanguage,
  code: string,
): Promise<Sandbox> {
  const memory = new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum: LIMITS.memoryBytes / PAGE_BYTES });
  const variant = newVariant(RELEASE_SYNC, { wasmModule: wasm, wasmMemory: memory });
  const quickJs = await newQuickJSWASMModuleFromVariant(variant);
  const runtime = quickJs.newRuntime({ memoryLimitBytes: SOFT_MEMORY_BYTES, maxStackSizeBytes: STACK_BYTES });
  return new Sandbox(runtime, memory, language, code);
}

export class Sandbox {
  readonly #runtime: QuickJSRuntime;
  readonly #memory: WebAssembly.Memory;
  readonly #language: TransformLanguage;
  readonly #code: string;
  readonly #parts: readonly PartName[] | null;
  #seed: EventSeed = { eventId: '', draws: 0 };
  readonly #helpers: { vm: QuickJSContext; functions: QuickJSHandle };
  /** A context with clock and library, not yet with the transform. */
  #prepared: Prepared | null;
  #warm: Opened | null = null;
  #interrupted = false;
  /** False after a limit was hit: it must not be used again. */
  usable = true;

  constructor(runtime: QuickJSRuntime, memory: WebAssembly.Memory, language: TransformLanguage, code: string) {
    this.#runtime = runtime;
    this.#memory = memory;
    this.#language = language;
    this.#code = code;
    this.#parts = language.platform(code);
    const vm = runtime.newContext();
    this.#helpers = { vm, functions: vm.unwrapResult(vm.evalCode(HELPERS, 'helpers.js')) };
    this.#prepared = this.#newContext();
  }

  get memoryBytes(): number {
    return this.#memory.buffer.byteLength;
  }

  check(): SandboxResult {
    const opened = this.#guarded(() =>
      this.#open({ id: '', facts: '{}', body: 'null', numbers: null, now: 0, seed: 0 }),
    );
    return opened.ok ? { ok: true, isText: true, text: '' } : opened;
  }

  run(input: SandboxInput): SandboxResult {
    return this.#guarded(() => {
      const opened = this.#open(input);
      if (!opened.ok) return opened;
      const result = this.#call(opened.room, input);
      if (this.#language.freshContext) leave(opened.room);
      return result;
    });
  }

  /** Runs a step under the limits; what escapes QuickJS itself (a full memory, a full stack) ends the sandbox. */
  #guarded<T extends { ok: true } | Failed>(step: () => T): T | Failed {
    const startedAt = threadCpuMs();
    this.#interrupted = false;
    this.#runtime.setInterruptHandler(() => {
      if (threadCpuMs() - startedAt > LIMITS.interruptMs) this.#interrupted = true;
      return this.#interrupted;
    });
    let result: T | Failed;
    try {
      result = step();
    } catch (error) {
      this.usable = false;
      result = { ok: false, problem: escaped(error) };
    }
    if (this.#interrupted) result = { ok: false, problem: problems.time };
    if (!result.ok && (result.problem.reason === 'time' || result.problem.reason === 'memory')) this.usable = false;
    return result;
  }

  #open({ id, now, seed, numbers }: SandboxInput): Opened {
    this.#seed = { eventId: id, draws: 0 };
    if (this.#warm?.ok) {
      setClock(this.#warm.room, now, seed);
      if (numbers !== null) this.#learnNumbers(this.#warm.room);
    }
    if (this.#warm) return this.#warm;
    const prepared = this.#prepared ?? this.#newContext();
    this.#prepared = null;
    setClock(prepared, now, seed);
    if (numbers !== null) this.#learnNumbers(prepared);
    const compiled = this.#language.compile(prepared.vm, this.#code, prepared.call);
    const opened: Opened = compiled.ok
      ? { ok: true, room: { ...prepared, transform: compiled.transform } }
      : { ok: false, problem: this.#problemOf(compiled.error) };
    if (!this.#language.freshContext) this.#warm = opened;
    return opened;
  }

  #learnNumbers(room: Prepared): void {
    const { vm } = room;
    // Libraries go through the members of whatever they meet, and mean nothing by it.
    const isLoud = this.#language.library === null ? vm.true : vm.false;
    room.numbers ??= vm
      .unwrapResult(vm.evalCode(NUMBERS, 'numbers.js'))
      .consume((make) => vm.unwrapResult(vm.callFunction(make, vm.undefined, isLoud)));
  }

  #newContext(): Prepared {
    const vm = this.#runtime.newContext();
    const clock = vm.unwrapResult(vm.evalCode(CLOCK, 'clock.js'));
    const call = this.#parts === null ? vm.undefined : loadPlatform(vm, this.#parts, () => this.#seed);
    const { library } = this.#language;
    if (library !== null) {
      vm.unwrapResult(vm.evalCode(library(), 'library.js')).dispose();
      vm.unwrapResult(vm.evalCode(SEAL, 'seal.js')).dispose();
    }
    const json = vm.getProp(vm.global, 'JSON');
    const parse = json.consume((object) => vm.getProp(object, 'parse'));
    return { vm, clock, parse, call, numbers: null };
  }

  #call(room: Room, input: SandboxInput): SandboxResult {
    const { vm, transform } = room;
    const event = this.#eventOf(room, input);
    const called = event.consume((argument) => vm.callFunction(transform, vm.undefined, argument));
    if (called.error) return { ok: false, problem: this.#problemOf(called.error) };
    while (!this.#interrupted && this.#runtime.hasPendingJob()) {
      const jobs = this.#runtime.executePendingJobs(JOBS_AT_ONCE);
      if (jobs.error) jobs.error.dispose();
    }
    const state = vm.getPromiseState(called.value);
    if (state.type === 'rejected') return { ok: false, problem: this.#problemOf(state.error) };
    if (state.type === 'pending') return { ok: false, problem: { ...problems.nothing, message: NEVER_SETTLED } };
    const result = this.#resultOf(room, input, state.value);
    if (called.value.alive) called.value.dispose();
    return result;
  }

  #eventOf({ vm, parse, numbers }: Room, { facts, body, numbers: exactNumbers }: SandboxInput): QuickJSHandle {
    const parsed = (text: string) =>
      vm.newString(text).consume((handle) => vm.callFunction(parse, vm.undefined, handle));
    const event = vm.unwrapResult(parsed(facts));
    const payload = parsed(body);
    if (payload.error) {
      // No JSON: the payload is the text itself. Anything else that goes wrong here is a limit.
      if (this.#describe(payload.error).name !== 'SyntaxError')
        throw new RangeError("The payload does not fit in the sandbox's memory");
      vm.newString(body).consume((text) => vm.setProp(event, 'payload', text));
    } else {
      payload.value.consume((value) => vm.setProp(event, 'payload', value));
    }
    if (numbers !== null) fillNumbers(vm, numbers, event, exactNumbers ?? '');
    return event;
  }

  #resultOf({ vm, numbers }: Room, { seed }: SandboxInput, value: QuickJSHandle): SandboxResult {
    const print = numbers === null ? vm.undefined : vm.getProp(numbers, 'print');
    const output = print.consume((how) => this.#help('output', value, how));
    if (output.error) return { ok: false, problem: this.#problemOf(output.error) };
    const shown = output.value.consume((text) => this.#helpers.vm.getString(text));
    if (shown === 'N') return { ok: false, problem: problems.nothing };
    const isText = shown.startsWith('T');
    const json = numbers === null ? shown.slice(1) : unmark(shown.slice(1), seed);
    return { ok: true, isText, text: isText ? String(JSON.parse(json)) : json };
  }

  #problemOf(thrown: QuickJSHandle): TransformProblem {
    const error = this.#describe(thrown);
    if (error.name === LIMIT) return problems.memory;
    // Without memory for an error object, QuickJS throws null.
    const nothingLeft = error.name === null && error.message === 'null' && this.memoryBytes > SOFT_MEMORY_BYTES / 2;
    return nothingLeft ? problems.memory : this.#language.explain(error, this.#code);
  }

  #describe(thrown: QuickJSHandle): SandboxError {
    const described = this.#help('describe', thrown);
    // Only a limit can interrupt the helper itself: it catches what the thrown object does.
    if (described.error) throw new RangeError('The error could not be read');
    const text = described.value.consume((value) => this.#helpers.vm.getString(value));
    const error = errorSchema.parse(JSON.parse(text));
    return LIMIT_MESSAGES.test(error.message) ? { ...error, name: LIMIT } : error;
  }

  #help(name: 'output' | 'describe', argument: QuickJSHandle, ...more: QuickJSHandle[]) {
    const { vm, functions } = this.#helpers;
    return vm
      .getProp(functions, name)
      .consume((helper) => argument.consume((value) => vm.callFunction(helper, vm.undefined, value, ...more)));
  }
}

// QuickJS reports a full stack inside JSON.parse as a SyntaxError, and Liquid wraps errors of its own around them.
const LIMIT = 'limit';
const LIMIT_MESSAGES = /^(?:out of memory|stack overflow)\b/;

function setClock({ vm, clock }: Prepared, now: number, seed: number): void {
  vm.unwrapResult(vm.callFunction(clock, vm.undefined, vm.newNumber(now), vm.newNumber(seed))).dispose();
}

function fillNumbers(vm: QuickJSContext, numbers: QuickJSHandle, event: QuickJSHandle, exactNumbers: string): void {
  const [fill, text] = [vm.getProp(numbers, 'fill'), vm.newString(exactNumbers)];
  vm.unwrapResult(vm.callFunction(fill, vm.undefined, event, text)).dispose();
  fill.dispose();
  text.dispose();
}

function leave({ vm, clock, parse, call, transform, numbers }: Room): void {
  for (const handle of [clock, parse, call, transform, numbers, vm]) handle?.dispose();
}

const NEVER_SETTLED =
  'The transform returned a promise that never resolves: transforms have no timers and no network access';

/** What an error that came out of QuickJS means: a full memory, a full stack of the host, or a fault in the sandbox. */
function escaped(error: unknown): TransformProblem {
  const { name, message } = error instanceof Error ? error : { name: '', message: String(error) };
  if (['RangeError', 'RuntimeError', 'QuickJSUnwrapError'].includes(name)) return problems.memory;
  return sandboxFailed(message);
}
