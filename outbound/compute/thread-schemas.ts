// Schemas in a thread: compiled in turns, and validated against the clock of the processor.
import type { SchemaCheck } from '../../core/filters/gate.ts';
import { SchemaCache, type StoredSchema } from '../../core/schemas/cached.ts';
import { threadCpuMs } from '../../core/process/threads.ts';
import type { TimedBudget } from '../../core/fairness/budget.ts';

/** What compiling takes of one turn, in ms; a single schema may take longer. */
const TURN_MS = 1000;

const cache = new SchemaCache();

/** Compiles what is not compiled yet. @returns false when the turn is over before all are */
export function compileFor(schemas: readonly StoredSchema[]): boolean {
  const before = threadCpuMs();
  for (const schema of schemas) {
    if (cache.find(schema) !== undefined) continue;
    if (threadCpuMs() - before > TURN_MS) return false;
    cache.compile(schema);
  }
  return true;
}

/** Failure policy: a payload that could not be validated does not match; its deliveries say why and can be replayed. */
export function checkerInThread(budget: TimedBudget): SchemaCheck {
  return (schema, request) => {
    budget.spend(1);
    const compiled = cache.find(schema);
    if (compiled === undefined) {
      const message = 'cannot be validated: the schemas of the routes of this source take too long to compile';
      return [{ path: '', message }];
    }
    const payload = request.payload();
    const before = threadCpuMs();
    const errors = compiled.validate(payload, request.size, budget.leftMs);
    budget.took(before);
    return errors;
  };
}
