// What the `field` of a condition means.
// Rules: FLT-04, FLT-16.
import { type Budget, BudgetError } from '../fairness/budget.ts';
import { lookup, parsePath, type PathStep } from '../text/dotted-path.ts';

/** Most values that a field may lead to. */
const MAX_VALUES = 100_000;

/** A webhook as a filter sees it. What is a function is read only when a condition asks for it. */
export interface FilteredRequest {
  method: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** Below the address of the source, as received; empty without one. */
  path: string;
  query(): URLSearchParams;
  /** The parsed JSON, else the text, else base64 (core/text/payload.ts). */
  payload(): unknown;
}

/** Reads every value that a field leads to; none when it leads nowhere. @throws BudgetError */
export type FieldReader = (request: FilteredRequest, budget: Budget) => readonly unknown[];

/**
 * Finds out how to read a field.
 * @returns null when the text is no path
 */
export function fieldReader(field: string): FieldReader | null {
  const steps = parsePath(field);
  if (steps === null) return null;
  const [first, ...rest] = steps;
  const root = first !== undefined && 'key' in first ? first.key : null;
  const name = nameOf(rest);
  if (root === 'headers' && name !== null) return headerReader(name.toLowerCase());
  if (root === 'query' && name !== null) return (request) => request.query().getAll(name);
  if (root === 'method' && rest.length === 0) return (request) => [request.method];
  if (root === 'request' && name === 'path') return ({ path }) => (path === '' ? [] : [path]);
  const inPayload = root === 'payload' || root === 'body' ? rest : steps;
  return (request, budget) => {
    const values = lookup(request.payload(), inPayload, budget, MAX_VALUES);
    if (values.length > MAX_VALUES) throw new BudgetError(`${field} leads to more than ${MAX_VALUES} values`);
    return values;
  };
}

/** `headers` and `query` hold no deeper levels, so a name may have dots itself. Null when there is no name. */
function nameOf(steps: PathStep[]): string | null {
  const keys = steps.flatMap((step) => ('key' in step ? [step.key] : []));
  return keys.length > 0 && keys.length === steps.length ? keys.join('.') : null;
}

function headerReader(name: string): FieldReader {
  return ({ headers }) => (Object.hasOwn(headers, name) ? [headers[name]] : []);
}
