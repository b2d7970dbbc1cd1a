// Log lines that come many times a second while something is away: the first of a kind is written at once, its repeats as one line
// a minute, with their number in `repeated`.
import type { Log } from './log.ts';
import { Repeats } from './repeats.ts';

const EVERY_MS = 60_000;
const LOOK_EVERY_MS = 1000;
const MOST_KINDS = 100;

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

/** The throttled form of a logger: the same one for each call. */
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
