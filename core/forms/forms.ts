// What filters, schemas, field mappings, transforms and idempotency keys read of a body: beside JSON the fields of a
// form. The API shows a form as the text that it is (core/text/payload.ts), and its bytes travel as they came.
import { isUtf8 } from 'node:buffer';
import { isJsonText, viewPayload, viewText, withoutMark } from '../text/payload.ts';
import { type Form, formOf, formTypeOf, MAX_FIELDS, readMultipart } from './multipart.ts';

/** The bytes of a webhook, and what they were called. */
export interface TypedBody {
  body: Buffer;
  /** As received; undefined: nothing was said. */
  contentType: string | undefined;
}

/**
 * JSON, the fields of a form, else the text, else base64.
 * @param body its bytes, or what they say where that is known to be text
 * @param contentType as received
 */
export function readPayload(body: Buffer | string, contentType: string | undefined): unknown {
  if (typeof body === 'string')
    return isFormType(contentType) ? readPayload(Buffer.from(body), contentType) : viewText(body);
  return readForm(body, contentType) ?? viewPayload(body).payload;
}

/**
 * The fields of a form. JSON stays JSON, whatever it is called: `curl -d` calls it a form.
 * @returns null when the body is no form, is malformed, or has more fields than are read
 */
export function readForm(body: Buffer, contentType: string | undefined): Form | null {
  const type = formTypeOf(contentType);
  if (type === null) return null;
  // What begins with a delimiter is no JSON.
  if (type.kind === 'multipart') return readMultipart(body, type.boundary);
  if (!isUtf8(body)) return null;
  return isJsonText(withoutMark(body.toString('utf8'))) ? null : readUrlencoded(body);
}

/** Bytes of a field by which a sender proves itself. */
const SHORT_BYTES = 4096;
const BRACKETS: readonly (number | undefined)[] = [0x7b, 0x5b];

/**
 * The short fields of a form of any size, such as those by which its sender proves itself: little is made of what a
 * stranger sends.
 * @returns null as readForm
 */
export function readShortFields(body: Buffer, contentType: string | undefined): Form | null {
  const type = formTypeOf(contentType);
  if (type?.kind === 'multipart') return readMultipart(body, type.boundary, SHORT_BYTES);
  // JSON that is called a form.
  return type === null || BRACKETS.includes(body[0]) ? null : readShortUrlencoded(body, SHORT_BYTES);
}

export function readSample(payload: unknown, contentType: string | undefined): unknown {
  const isForm = typeof payload === 'string' && isFormType(contentType);
  return isForm ? readPayload(Buffer.from(payload), contentType) : payload;
}

export const isFormType = (contentType: string | undefined): boolean => formTypeOf(contentType) !== null;

/** The body of a sample that somebody tries: a text that its headers call a form is one, everything else is JSON. */
export function sampleContent(payload: unknown, headers: Readonly<Record<string, string>> = {}): TypedBody {
  const [, contentType] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type') ?? [];
  if (typeof payload === 'string' && isFormType(contentType)) return { body: Buffer.from(payload), contentType };
  return { body: Buffer.from(JSON.stringify(payload) ?? 'null'), contentType: 'application/json' };
}

// Forms as they stand in a body: `From=%2B4912&Body=Hello+you` (WHATWG URL, "application/x-www-form-urlencoded
// parsing"). Stricter than browsers: what is hardly a form stays a text.

/** Null: it is no form, or has too many fields. */
function readUrlencoded(body: Buffer): Form | null {
  // Some senders end it like a line.
  const text = withSpaces(body).replace(/\r?\n$/, '');
  if (!text.includes('=') || /\p{Cc}/u.test(text)) return null;
  // Not one more than are read: a body may be nothing but ampersands.
  const parts = text.split('&', MAX_FIELDS + 1);
  if (parts.length > MAX_FIELDS) return null;
  const fields: [string, string][] = [];
  for (const part of parts) {
    if (part === '') continue;
    const at = part.indexOf('=');
    const name = decoded(at === -1 ? part : part.slice(0, at));
    const value = decoded(at === -1 ? '' : part.slice(at + 1));
    if (name === null || value === null) return null;
    fields.push([name, value]);
  }
  return formOf(fields);
}

/**
 * The fields that are short, all together too: of the others nothing is made.
 * @param most bytes of a field; of all, 64 times as many
 */
function readShortUrlencoded(body: Buffer, most: number): Form | null {
  const parts: Buffer[] = [];
  let [at, fields, room] = [0, 0, 64 * most];
  while (at <= body.length) {
    fields += 1;
    if (fields > MAX_FIELDS) return null;
    const next = body.indexOf(AMPERSAND, at);
    const end = next === -1 ? body.length : next;
    if (end - at <= most) {
      parts.push(body.subarray(at, end), Buffer.from('&'));
      room -= end - at;
    }
    if (room < 0) return null;
    at = end + 1;
  }
  return readUrlencoded(Buffer.concat(parts).subarray(0, -1));
}

const [PLUS, SPACE, AMPERSAND] = [0x2b, 0x20, 0x26];

/**
 * The text with a space for each plus. Byte by byte: of a text that is made of them, `replaceAll` takes a hundred times
 * as long.
 */
function withSpaces(body: Buffer): string {
  const first = body.indexOf(PLUS);
  if (first === -1) return body.toString('utf8');
  const bytes = Buffer.from(body);
  for (let at = first; at < bytes.length; at += 1) if (bytes[at] === PLUS) bytes[at] = SPACE;
  return bytes.toString('utf8');
}

/** Null: an escape is none, or not UTF-8. */
function decoded(text: string): string | null {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
