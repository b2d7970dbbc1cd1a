// How a stored body is shown and hashed. The bytes themselves are never changed.
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { parseExact } from './exact-json.ts';

/** An event's `payload`; `payloadEncoding` is present only when the bytes are not text. */
export type PayloadView = { payload: unknown; payloadEncoding?: 'base64' };

/**
 * JSON that nests deeper than this is treated as text. V8 parses any depth, but filters, schemas, mappings and answers
 * walk what was parsed by recursion, and a sender must not be able to exhaust their stack.
 */
export const MAX_NESTING = 500;

/**
 * Shows a body as the JSON it parses to, numbers with the digits they came with, else as its text, else (not UTF-8) in
 * base64.
 */
export function viewPayload(bytes: Buffer): PayloadView {
  if (!isUtf8(bytes)) return { payload: bytes.toString('base64'), payloadEncoding: 'base64' };
  return { payload: viewText(bytes.toString('utf8')) };
}

export function viewText(text: string): unknown {
  try {
    const payload = parseExact(withoutMark(text));
    return hasManyLevels(text) && nestsTooDeeply(payload) ? text : payload;
  } catch {
    return text;
  }
}

/** RFC 8259, section 8.1: a parser may ignore a byte order mark. */
export const withoutMark = (text: string): string => (text.startsWith('\ufeff') ? text.slice(1) : text);

/** Whether a body that is UTF-8 is JSON as everything here sees it: it parses, and does not nest too deeply. */
export function isJsonText(text: string): boolean {
  try {
    const payload: unknown = JSON.parse(text);
    return !(hasManyLevels(text) && nestsTooDeeply(payload));
  } catch {
    return false;
  }
}

/**
 * Whether a text has more opening brackets than levels are allowed, a cheap test, so that most texts need no full scan.
 */
function hasManyLevels(text: string): boolean {
  const brackets = /[[{]/g;
  for (let count = 0; brackets.test(text); count += 1) if (count >= MAX_NESTING) return true;
  return false;
}

function nestsTooDeeply(value: unknown): boolean {
  let level = nested([value]);
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth >= MAX_NESTING) return true;
    level = level.flatMap((parent) => nested(Object.values(parent)));
  }
  return false;
}

function nested(values: unknown[]): object[] {
  return values.filter((value) => typeof value === 'object' && value !== null);
}

export function hashPayload(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
