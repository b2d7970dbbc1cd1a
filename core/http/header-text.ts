// Values of headers, as bytes and as text. Node and undici read and write a value as one character for each byte, so
// that it travels unchanged whatever it is. What shows, compares or transforms it reads its text: UTF-8 where the bytes
// are valid, else Latin-1, which was the rule before UTF-8 (RFC 9110, section 5.5).
import { isUtf8 } from 'node:buffer';

/** Names in lower case; of each value one character for each byte. */
export type HeaderBytes = Record<string, string>;

const BEYOND_ASCII = /[^\0-\x7f]/;

/** The text of a value. @param bytes one character for each */
export function valueText(bytes: string): string {
  if (!BEYOND_ASCII.test(bytes)) return bytes;
  const buffer = Buffer.from(bytes, 'latin1');
  return isUtf8(buffer) ? buffer.toString('utf8') : bytes;
}

/** The UTF-8 of a text, as one character for each byte. */
export function valueBytes(text: string): string {
  return BEYOND_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

/** Any name may come, those of an object's prototype too. */
const empty = () => Object.create(null) as HeaderBytes;

/** The texts of headers. The same object where all are ASCII. */
export const headerTexts = (headers: Readonly<HeaderBytes>): Record<string, string> => mapped(headers, valueText);

/** Headers that somebody wrote as texts, as they are sent. The same object where all are ASCII. */
export const headerBytes = (texts: Readonly<Record<string, string>>): HeaderBytes => mapped(texts, valueBytes);

function mapped(headers: Readonly<Record<string, string>>, change: (value: string) => string): Record<string, string> {
  if (!Object.values(headers).some((value) => BEYOND_ASCII.test(value))) return headers;
  const changed = empty();
  for (const [name, value] of Object.entries(headers)) changed[name] = change(value);
  return changed;
}

/**
 * Headers as they were received, every repeat of a name joined with commas (RFC 9110, section 5.3), cookies with
 * semicolons (RFC 6265, section 4.2.1). Node's own `headers` drop repeats of some names, and make lists of others.
 * @param raw names and values in turn
 */
export function receivedHeaders(raw: readonly string[]): HeaderBytes {
  const headers = empty();
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase();
    const value = raw[at + 1] ?? '';
    const before = headers[name];
    headers[name] = before === undefined ? value : before + (name === 'cookie' ? '; ' : ', ') + value;
  }
  return headers;
}
