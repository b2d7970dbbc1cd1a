// A deadline for synchronous code: the engine interrupts what runs longer, be it a loop or a regular expression.
import { createContext, Script } from 'node:vm';

/** The code ran longer than it may. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError';
}

// The function is called from a script, because only scripts can be given a deadline; it runs in its own realm as ever.
const caller = new Script('run()');
const context = createContext({ run: (): void => undefined });

/**
 * Runs a synchronous function. Costs about half a millisecond (a watchdog thread), so it is for work that may be long.
 * @param limitMs after this it is interrupted, wherever it is
 * @throws TimeLimitError, or what the function throws
 */
export function withinTime<T>(limitMs: number, work: () => T): T {
  const outcome: { value?: T } = {};
  context.run = () => {
    outcome.value = work();
  };
  try {
    caller.runInContext(context, { timeout: limitMs });
  } catch (error) {
    throw isTimeout(error) ? new TimeLimitError(`not done within ${limitMs} ms`) : error;
  }
  return outcome.value as T;
}

// The engine makes this error in the script's own realm, so it is no instance of our Error.
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
