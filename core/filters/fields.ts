// What the `field` of a condition means.
// Rules: FLT-04.
import { lookup, parsePath, type PathStep } from '../dotted-path.ts';

/** A webhook as a filter sees it. What is a function is read only when a condition asks for it. */
export interface FilteredRequest {
  method: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  query(): URLSearchParams;
  /** The parsed JSON, else the text, else base64 (core/payload.ts). */
  payload(): unknown;
}

/** Reads every value that a field leads to; none when it leads nowhere. */
export type FieldReader = (request: FilteredRequest) => readonly unknown[];

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
  const inPayload = root === 'payload' || root === 'body' ? rest : steps;
  return (request) => lookup(request.payload(), inPayload);
}

/** `headers` and `query` hold no deeper levels, so a name may have dots itself. Null when there is no name. */
function nameOf(steps: PathStep[]): string | null {
  const keys = steps.flatMap((step) => ('key' in step ? [step.key] : []));
  return keys.length > 0 && keys.length === steps.length ? keys.join('.') : null;
}

function headerReader(name: string): FieldReader {
  return ({ headers }) => (Object.hasOwn(headers, name) ? [headers[name]] : []);
}
