import { KIND, type Nodes, scan, stringEnd } from './payload/JsonTree.tsx';

// JSON whose numbers keep their digits: a double holds about 15. Those that need more stay texts of JSON
// (JSON.rawJSON), which JSON.stringify writes as they were; a browser without it rounds, as JSON.parse does everywhere.
type RawJson = (text: string) => unknown;
const rawJson = (JSON as { rawJSON?: RawJson }).rawJSON;
const SAFE_DIGITS = 15;

export function exactJson(text: string): unknown {
  if (!rawJson) return JSON.parse(text);
  return JSON.parse(text, (_key: string, value: unknown, context?: { source?: string }) => {
    if (typeof value !== 'number' || context?.source === undefined || isExact(value, context.source)) return value;
    return rawJson(context.source);
  });
}

function isExact(value: number, source: string): boolean {
  return Number.isFinite(value) && source.replace(/[eE].*$/, '').replace(/\D/g, '').length <= SAFE_DIGITS;
}

/** JSON with a line for each member; any other text as it is. */
export function indented(text: string): string {
  const parsed = jsonOrNothing(text);
  return parsed ? JSON.stringify(parsed.value, null, 2) : text;
}

/** Undefined for a text that is no JSON. */
export function jsonOrNothing(text: string): { value: unknown } | undefined {
  try {
    return { value: exactJson(text) };
  } catch {
    return undefined;
  }
}

// Where in a JSON text something is: the line of what a JSON pointer (RFC 6901) leads to.

/** The line, from 1 on; of the innermost thing that is there. */
export function lineOfPointer(text: string, pointer: string): number {
  const nodes = scan(text);
  let at = 0;
  for (const part of nodes ? pointer.split('/').slice(1) : []) {
    const next = nodes && memberAt(text, nodes, at, part.replaceAll('~1', '/').replaceAll('~0', '~'));
    if (next === undefined) break;
    at = next;
  }
  return text.slice(0, nodes?.start[at]).split('\n').length;
}

/** The node of a member of an object or array. */
function memberAt(text: string, nodes: Nodes, parent: number, name: string): number | undefined {
  const end = nodes.next[parent] ?? 0;
  let place = 0;
  for (let at = parent + 1; at < end; at = nodes.next[at] ?? end, place += 1) {
    const key = nodes.kind[parent] === KIND.object ? keyAt(text, nodes.key[at] ?? 0) : String(place);
    if (key === name) return at;
  }
  return undefined;
}

/** A key, which begins behind its quote. */
const keyAt = (text: string, start: number) => JSON.parse(text.slice(start - 1, stringEnd(text, start))) as string;
