// One logger per process: JSON lines on standard output. Payloads and secrets are never passed to it.
import { type Logger, pino } from 'pino';
import type { LogSettings } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { causeOf } from './log-cause.ts';

export type Log = Logger;

// A second line of defence: callers must not pass secrets in the first place.
const REDACTED_PATHS = [
  'authorization',
  'cookie',
  'headers.authorization',
  'headers.cookie',
  'headers["x-api-key"]',
  '*.headers.authorization',
  '*.headers["x-api-key"]',
];

/**
 * Makes the logger of a process.
 * @param role the process: `api` or `worker`, in every line
 */
export function createLog(settings: LogSettings, role: string): Log {
  const options = { level: settings.LOG_LEVEL, base: { role }, redact: REDACTED_PATHS };
  if (settings.HOOKYARD_LOG_FORMAT === 'text') {
    const readable = { ignore: 'role', translateTime: 'HH:MM:ss.l', colorize: process.stdout.isTTY === true };
    return pino({ ...options, transport: { target: 'pino-pretty', options: readable } });
  }
  return pino({
    ...options,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (level) => ({ level }) },
  });
}

/** Sends what Node itself would print as text to the log: its warnings, and the error that ends the process. */
export function logForNode(log: Log): void {
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message, stack }) =>
    throttled(log).warn({ warning: name, details: message, stack }, 'Node warning', `${name} ${message}`),
  );
  process.on('uncaughtException', (error, origin) => {
    log.fatal({ cause: causeOf(error), origin }, 'unhandled error; exiting');
    process.exit(1);
  });
  // Before the listener of pino, which writes what it has in its buffer.
  process.prependOnceListener('exit', () => throttled(log).flush());
}

export function exitWith(log: Log, error: unknown): never {
  const problems =
    error instanceof ConfigError ? error.problems : [error instanceof Error ? error.message : String(error)];
  for (const problem of problems) log.fatal(`cannot run: ${problem}`);
  process.exit(1);
}

const EVERY_MS = 60_000;
const LOOK_EVERY_MS = 1000;
const MOST_KINDS = 100;

/**
 * For lines that come many times a second while something is away: the first of a kind is written at once, its repeats
 * as one line a minute, with their number in `repeated`.
 */
export interface ThrottledLog {
  warn(facts: object, message: string, kind?: string): void;
  /** @param kind lines of one kind are repeats; by default the message and the code of its cause */
  error(facts: object, message: string, kind?: string): void;
  /** Writes what was counted until now. */
  flush(): void;
}

interface Line {
  level: 'warn' | 'error';
  facts: object;
  message: string;
}

type Written = Pick<Log, 'warn' | 'error'>;

// Lines of one process are repeats of each other, no matter which module writes them, and share one bound.
const made = new WeakMap<Written, ThrottledLog>();

export function throttled(log: Written): ThrottledLog {
  const known = made.get(log) ?? throttle(log);
  made.set(log, known);
  return known;
}

function throttle(log: Written): ThrottledLog {
  const repeats = new Repeats<Line>({
    everyMs: EVERY_MS,
    mostKinds: MOST_KINDS,
    write: ({ level, facts, message }, repeated) =>
      log[level](repeated === 0 ? facts : { ...facts, repeated }, message),
  });
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    repeats.look();
    if (!repeats.isIdle) return;
    clearInterval(timer);
    timer = undefined;
  }

  function take(line: Line, kind = `${line.message} ${codeOf(line.facts)}`): void {
    repeats.take(`${line.level} ${kind}`, line);
    timer ??= setInterval(look, LOOK_EVERY_MS).unref();
  }

  return {
    warn: (facts, message, kind) => take({ level: 'warn', facts, message }, kind),
    error: (facts, message, kind) => take({ level: 'error', facts, message }, kind),
    flush: () => repeats.flush(),
  };
}

// What has another cause now is news.
function codeOf(facts: { cause?: { code?: string } }): string {
  return facts.cause?.code ?? '';
}

export interface RepeatsOptions<Item> {
  /** How long repeats of a kind are only counted, ms. */
  everyMs: number;
  mostKinds: number;
  /** @param repeated how many came since this kind was last written; 0 for the first one */
  write: (item: Item, repeated: number) => void;
  /** By default the monotonic clock, ms. */
  now?: () => number;
}

const OTHERS = '';

interface Counted<Item> {
  since: number;
  last: Item;
  repeated: number;
}

export class Repeats<Item> {
  readonly #options: RepeatsOptions<Item>;
  readonly #now: () => number;
  readonly #kinds = new Map<string, Counted<Item>>();

  constructor(options: RepeatsOptions<Item>) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Whether nothing is remembered. While something is, `look` has to be called now and then. */
  get isIdle(): boolean {
    return this.#kinds.size === 0;
  }

  /** Writes the first of a kind, and counts the others. @param kind not empty */
  take(kind: string, item: Item): void {
    const place = this.#kinds.has(kind) || this.#kinds.size < this.#options.mostKinds ? kind : OTHERS;
    const known = this.#kinds.get(place);
    if (known === undefined) {
      this.#kinds.set(place, { since: this.#now(), last: item, repeated: 0 });
      this.#options.write(item, 0);
      return;
    }
    known.last = item;
    known.repeated += 1;
  }

  /** Writes the last of each kind that was repeated in an interval that is over; forgets kinds that were not. */
  look(): void {
    const now = this.#now();
    for (const [kind, counted] of this.#kinds) {
      if (now - counted.since < this.#options.everyMs) continue;
      if (counted.repeated === 0) this.#kinds.delete(kind);
      else this.#write(counted, now);
    }
  }

  /** Writes what was counted until now. */
  flush(): void {
    const now = this.#now();
    for (const counted of this.#kinds.values()) if (counted.repeated > 0) this.#write(counted, now);
  }

  #write(counted: Counted<Item>, now: number): void {
    const { last, repeated } = counted;
    counted.since = now;
    counted.repeated = 0;
    this.#options.write(last, repeated);
  }
}
