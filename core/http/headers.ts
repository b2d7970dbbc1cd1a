// Custom headers of a destination, and merging of headers.
import { isUtf8 } from 'node:buffer';

export const MAX_CUSTOM_HEADERS = 50;
/** Of names and values together. */
export const MAX_CUSTOM_HEADER_BYTES = 16 * 1024;

// RFC 9110, section 5.6.2 (token) and 5.5 (field value: visible characters, space, tab, and the bytes 0x80 to 0xff, of
// which the UTF-8 of everything else is made).
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const FIELD_VALUE = /^[\t\x20-\x7e\xa0-\u{10ffff}]*$/u;

// Headers of one connection (RFC 9110, section 7.6.1), and those the HTTP client computes itself.
export const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export function isHeaderValue(value: string): boolean {
  return FIELD_VALUE.test(value) && value.isWellFormed();
}

// RFC 9110, section 8.3.1: type "/" subtype and parameters.
const TOKEN_TEXT = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
// Text in quotes without quotes or backslashes in it.
const QUOTED_TEXT = '"[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]*"';
const MEDIA_TYPE = new RegExp(`^${TOKEN_TEXT}/${TOKEN_TEXT}(?: *; *${TOKEN_TEXT}=(?:${TOKEN_TEXT}|${QUOTED_TEXT}))*$`);
const MAX_MEDIA_TYPE_LENGTH = 255;

export function isMediaType(value: string): boolean {
  return value.length <= MAX_MEDIA_TYPE_LENGTH && MEDIA_TYPE.test(value);
}

/**
 * The name of a header as receivers may see it that get their headers by CGI's rules (RFC 3875, section 4.1.18) or by
 * those of their kin: these cannot tell `Content_Length` from `Content-Length`.
 */
export function foldedName(name: string): string {
  const lower = name.toLowerCase();
  return lower.includes('_') ? lower.replaceAll('_', '-') : lower;
}

function isSetByHookyard(folded: string): boolean {
  return CONNECTION_HEADERS.has(folded) || folded.startsWith('proxy-') || folded === HOPS_HEADER.toLowerCase();
}

/** What is wrong with the name of a header that a user wants to be sent, or null. */
export function checkHeaderName(name: string): string | null {
  if (!TOKEN.test(name)) return "must be a header name: only letters, digits and !#$%&'*+-.^_`|~";
  // The name of an object's prototype cannot be a key of a plain record.
  if (name === '__proto__' || isSetByHookyard(foldedName(name))) return `must not be ${name}, which is reserved`;
  return null;
}

type HeaderProblem = { name: string; message: string };

export function checkCustomHeaders(headers: Readonly<Record<string, string>>): HeaderProblem[] {
  const problems: HeaderProblem[] = [];
  const seen = new Set<string>();
  let bytes = 0;
  for (const [name, value] of Object.entries(headers)) {
    const nameProblem = checkHeaderName(name);
    if (nameProblem !== null) problems.push({ name, message: nameProblem });
    if (!isHeaderValue(value)) {
      problems.push({ name, message: 'must not contain line breaks or control characters' });
    }
    if (seen.has(name.toLowerCase()))
      problems.push({ name, message: 'is set twice; header names are not case-sensitive' });
    seen.add(name.toLowerCase());
    bytes += name.length + Buffer.byteLength(value);
  }
  if (seen.size > MAX_CUSTOM_HEADERS) {
    problems.push({ name: '', message: `must contain at most ${MAX_CUSTOM_HEADERS} headers` });
  }
  if (bytes > MAX_CUSTOM_HEADER_BYTES) {
    problems.push({
      name: '',
      message: `must contain at most ${MAX_CUSTOM_HEADER_BYTES} bytes of names and values in total`,
    });
  }
  return problems;
}

/** Names ignore case and the later value, with its spelling of the name, wins. */
export function mergeHeaders(...sets: Readonly<Record<string, string>>[]): Record<string, string> {
  const merged = Object.create(null) as Record<string, string>;
  const spelling = new Map<string, string>();
  for (const set of sets) {
    for (const name of Object.keys(set)) {
      const lower = name.toLowerCase();
      const earlier = spelling.get(lower);
      if (earlier !== undefined && earlier !== name) delete merged[earlier];
      spelling.set(lower, name);
      merged[name] = set[name] ?? '';
    }
  }
  return merged;
}

// Values of headers, as bytes and as text. Node and undici read and write a value as one character for each byte, so
// that it travels unchanged whatever it is. What shows, compares or transforms it reads its text: UTF-8 where the bytes
// are valid, else Latin-1, which was the rule before UTF-8 (RFC 9110, section 5.5).

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

const MAX_CHARACTERS = 200;

/** A `User-Agent` as records have it. */
export const recordedAgent = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?').slice(0, MAX_CHARACTERS);

// Counts the Hookyards that a webhook has been through, so that a loop of deliveries ends by itself.

/**
 * On every delivery, whatever `HOOKYARD_HEADER_PREFIX` says: a loop may lead through installations with different
 * prefixes.
 */
export const HOPS_HEADER = 'X-Hookyard-Hops';
/**
 * A webhook that has passed through this many Hookyard instances is refused. By then a route with two destinations that
 * loop has made 2^5 deliveries.
 */
export const MAX_HOPS = 5;

const LOWER_NAME = HOPS_HEADER.toLowerCase();

/** At most `MAX_HOPS`. @param received names in lower case */
export function hopsOf(received: Readonly<Record<string, string>>): number {
  const value = received[LOWER_NAME];
  if (value === undefined) return 0;
  // A proxy may have joined several of them. What is no number was not written by a Hookyard.
  const counts = value.split(',').map((part) => (/^\s*\d+\s*$/.test(part) ? Number(part) : 0));
  return Math.min(MAX_HOPS, Math.max(...counts));
}
