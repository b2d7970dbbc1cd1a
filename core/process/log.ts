// One logger per process: JSON lines on standard output. Payloads and secrets are never passed to it.
import { type Logger, pino } from 'pino';
import type { LogSettings } from '../config/config.ts';
import { ConfigError } from '../config/secret-files.ts';
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

/** @param role the process: `api` or `worker`, in every line */
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
    throttled(log).warn({ warning: name, details: message, stack }, 'Node.js warning', `${name} ${message}`),
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
const OTHERS = '';

interface Line {
  level: 'warn' | 'error';
  facts: { cause?: { code?: string } };
  message: string;
}

interface Counted {
  since: number;
  last: Line;
  repeated: number;
}

type Written = Pick<Log, 'warn' | 'error'>;

// Lines of one process are repeats of each other, no matter which module writes them, and share one bound.
const made = new WeakMap<Written, ThrottledLog>();

export function throttled(log: Written): ThrottledLog {
  const known = made.get(log) ?? new ThrottledLog(log);
  made.set(log, known);
  return known;
}

/**
 * For lines that come many times a second while something is away: the first of a kind is written at once, its repeats
 * as one line a minute, with their number in `repeated`.
 */
class ThrottledLog {
  readonly #log: Written;
  readonly #kinds = new Map<string, Counted>();
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Written) {
    this.#log = log;
  }

  /** @param kind lines of one kind are repeats; by default the message and the code of its cause */
  warn(facts: object, message: string, kind?: string): void {
    this.#take({ level: 'warn', facts, message }, kind);
  }

  error(facts: object, message: string, kind?: string): void {
    this.#take({ level: 'error', facts, message }, kind);
  }

  flush(): void {
    for (const counted of this.#kinds.values()) if (counted.repeated > 0) this.#write(counted);
  }

  #take(line: Line, kind = `${line.message} ${line.facts.cause?.code ?? ''}`): void {
    const own = `${line.level} ${kind}`;
    const place = this.#kinds.has(own) || this.#kinds.size < MOST_KINDS ? own : OTHERS;
    const known = this.#kinds.get(place);
    if (known === undefined) {
      this.#kinds.set(place, { since: performance.now(), last: line, repeated: 0 });
      this.#log[line.level](line.facts, line.message);
      this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
      return;
    }
    known.last = line;
    known.repeated += 1;
  }

  /** Writes the last of each kind that was repeated in an interval that is over; forgets kinds that were not. */
  #look(): void {
    for (const [kind, counted] of this.#kinds) {
      if (performance.now() - counted.since < EVERY_MS) continue;
      if (counted.repeated === 0) this.#kinds.delete(kind);
      else this.#write(counted);
    }
    if (this.#kinds.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #write(counted: Counted): void {
    const { last, repeated } = counted;
    counted.since = performance.now();
    counted.repeated = 0;
    this.#log[last.level]({ ...last.facts, repeated }, last.message);
  }
}
