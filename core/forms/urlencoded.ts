// Forms as they stand in a body: `From=%2B4912&Body=Hello+you` (WHATWG URL, "application/x-www-form-urlencoded parsing"). Stricter than
// browsers: what is hardly a form stays a text.
import { type Form, formOf, MAX_FIELDS } from './form-fields.ts';

/** Null: it is no form, or has too many fields. */
export function readUrlencoded(body: Buffer): Form | null {
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

/** The fields that are short, all together too: of the others nothing is made. @param most bytes of a field; of all, 64 times as many */
export function readShortUrlencoded(body: Buffer, most: number): Form | null {
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
  return readUrlencoded(Buffer.concat(parts));
}

const [PLUS, SPACE, AMPERSAND] = [0x2b, 0x20, 0x26];

/** The text with a space for each plus. Byte by byte: of a text that is made of them, `replaceAll` takes a hundred times as long. */
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
