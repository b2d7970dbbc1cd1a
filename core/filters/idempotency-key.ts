// The idempotency key that a webhook carries in its payload.
// Rules: INGEST-11, INGEST-12.
import type { Budget } from '../fairness/budget.ts';
import { lookupPath } from '../text/dotted-path.ts';

/**
 * The text of the first value at a path; undefined when there is none. Different values have different texts.
 * @throws BudgetError
 */
export function keyInPayload(payload: unknown, path: string, budget: Budget): string | undefined {
  return keyText(lookupPath(payload, path, budget)[0]);
}

// Matches the JSON of anything but a string, or the JSON of a string.
const LIKE_JSON = /^(?:["[{]|true$|false$|-?\d[\d.eE+-]*$)/;

/**
 * Different values map to different strings. An ordinary string maps to itself. A string that could be confused with another value's JSON (`"1"` and `1`), or that UTF-8 cannot hold, maps to its JSON.
 */
function keyText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') return JSON.stringify(value);
  return LIKE_JSON.test(value) || !value.isWellFormed() ? JSON.stringify(value) : value;
}
