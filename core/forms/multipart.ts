// Forms in parts, as those with files are sent (RFC 7578). It reads each byte about once, and ends at the first part
// too many.
import { isUtf8 } from 'node:buffer';
import { valueText } from '../http/headers.ts';

/** A file, or a field that is no text. */
export interface FilePart {
  filename?: string;
  contentType: string;
  /** Bytes of its content. */
  size: number;
  /** The content, when it is not too large: as text, or in base64 when it is none. */
  text?: string;
  base64?: string;
}

export type FormValue = string | FilePart;

/** By name; a name that comes several times has a list. Nothing nests: `a[b]` is a name like any other. */
export type Form = Record<string, FormValue | FormValue[]>;

/** Most fields that are read: for a stranger nothing is made of more of them. */
export const MAX_FIELDS = 1000;

export function formOf(fields: readonly (readonly [name: string, value: FormValue])[]): Form {
  const values = new Map<string, FormValue[]>();
  for (const [name, value] of fields) {
    const known = values.get(name);
    if (known) known.push(value);
    else values.set(name, [value]);
  }
  // Own members only, also of a field called `__proto__`.
  return Object.fromEntries([...values].map(([name, all]) => [name, all.length === 1 ? (all[0] ?? '') : all]));
}

/** Bytes of one file, and of all files of a form, whose content is read; of others only name, type and size are. */
const MAX_FILE_BYTES = 256 * 1024;
const MAX_FILES_BYTES = 1024 * 1024;
const MAX_HEAD_BYTES = 8 * 1024;

const CRLF = Buffer.from('\r\n');
const END_OF_HEAD = Buffer.from('\r\n\r\n');
const [DASH, SPACE, TAB] = [0x2d, 0x20, 0x09];

interface Head {
  name: string;
  filename: string | undefined;
  contentType: string | undefined;
}

/**
 * @param most bytes of a part that is read; of a longer one nothing is
 * @returns null when it is malformed, or has too many parts
 */
export function readMultipart(body: Buffer, boundary: string, most = Number.POSITIVE_INFINITY): Form | null {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  const fields: [string, FormValue][] = [];
  let room = MAX_FILES_BYTES;
  let parts = 0;
  for (let at = afterFirst(body, delimiter); at !== null; ) {
    if (body[at] === DASH && body[at + 1] === DASH) return formOf(fields);
    if (parts === MAX_FIELDS) return null;
    parts += 1;
    const head = headAt(body, afterPadding(body, at));
    if (head === null) return null;
    const end = body.indexOf(delimiter, head.end);
    if (end === -1) return null;
    const content = body.subarray(head.end, end);
    at = end + delimiter.length;
    if (content.length > most) continue;
    const value = readValue(content, head, room);
    if (typeof value !== 'string' && (value.text ?? value.base64) !== undefined) room -= content.length;
    fields.push([head.name, value]);
  }
  return null;
}

/** Behind the first delimiter, before which anything may stand (RFC 2046, section 5.1.1). */
function afterFirst(body: Buffer, delimiter: Buffer): number | null {
  const first = delimiter.subarray(CRLF.length);
  if (body.subarray(0, first.length).equals(first)) return first.length;
  const at = body.indexOf(delimiter);
  return at === -1 ? null : at + delimiter.length;
}

function afterPadding(body: Buffer, from: number): number {
  let at = from;
  while (body[at] === SPACE || body[at] === TAB) at += 1;
  return at;
}

/** @param at the line end behind a delimiter */
function headAt(body: Buffer, at: number): (Head & { end: number }) | null {
  const length = body.subarray(at, at + MAX_HEAD_BYTES).indexOf(END_OF_HEAD);
  if (length === -1 || !body.subarray(at, at + CRLF.length).equals(CRLF)) return null;
  const head = readHead(valueText(body.toString('latin1', at + CRLF.length, at + length)));
  return head && { ...head, end: at + length + END_OF_HEAD.length };
}

function readHead(text: string): Head | null {
  const headers = new Map<string, string>();
  // A line that begins with a space continues with the one before.
  for (const line of text.replace(/\r\n[ \t]+/g, ' ').split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).toLowerCase();
    if (!/^[!-9;-~]+$/.test(name) || headers.has(name)) return null;
    headers.set(name, line.slice(colon + 1).trim());
  }
  const disposition = headers.get('content-disposition') ?? '';
  if (!/^form-data[ \t]*;/i.test(disposition)) return null;
  const parameters = parametersOf(disposition);
  const name = parameterOf(parameters, 'name');
  if (name === undefined) return null;
  return {
    name,
    filename: parameterOf(parameters, 'filename'),
    contentType: headers.get('content-type'),
  };
}

// RFC 8187: `filename*=UTF-8''%E2%82%AC.txt`. RFC 7578, section 4.2, forbids it in forms, but some senders use it.
const EXTENDED = /^(utf-8|iso-8859-1)'[^']*'((?:[^%]|%[0-9a-f]{2})*)$/i;

function parameterOf(parameters: ReadonlyMap<string, string>, name: string): string | undefined {
  const [, charset = '', escaped] = EXTENDED.exec(parameters.get(`${name}*`) ?? '') ?? [];
  if (escaped !== undefined) {
    const bytes = escaped.replace(/%([0-9a-f]{2})/gi, (_escape, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    return charset.toLowerCase() === 'utf-8' ? valueText(bytes) : bytes;
  }
  const plain = parameters.get(name);
  return plain === undefined ? undefined : unescaped(plain);
}

// HTML, "Multipart form data": browsers escape these three, and nothing else.
const ESCAPED: Readonly<Record<string, string>> = { '%22': '"', '%0D': '\r', '%0A': '\n' };
const unescaped = (text: string): string => text.replace(/%(?:22|0D|0A)/g, (code) => ESCAPED[code] ?? code);

/** @param room bytes that the contents of files may still take */
function readValue(content: Buffer, { filename, contentType }: Head, room: number): FormValue {
  const isText = isUtf8(content);
  if (filename === undefined && isText) return content.toString('utf8');
  const part: FilePart = {
    ...(filename !== undefined && { filename }),
    // RFC 7578, section 4.4.
    contentType: contentType ?? 'text/plain',
    size: content.length,
  };
  if (content.length > Math.min(MAX_FILE_BYTES, room)) return part;
  return isText ? { ...part, text: content.toString('utf8') } : { ...part, base64: content.toString('base64') };
}

// What a content type says of a form (RFC 9110, section 8.3; RFC 2046, section 5.1.1).

export type FormType = { kind: 'urlencoded' } | { kind: 'multipart'; boundary: string };

// `; name=value` or `; name="value"`. Some senders put spaces around the equals sign.
const PARAMETER = /;[ \t]*([!#$%&'*+.^_`|~\w-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g;
// RFC 2046: 1 to 70 of these, and no space at the end.
const BOUNDARY = /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/;
const READ_CHARSETS = ['utf-8', 'utf8', 'us-ascii'];

/** Null: it is no form, or one that cannot be read. Of a header that came several times the first value counts. */
export function formTypeOf(contentTypes: string | undefined): FormType | null {
  const contentType = firstOf(contentTypes ?? '');
  const [type = ''] = contentType.split(';', 1);
  switch (type.trim().toLowerCase()) {
    case 'application/x-www-form-urlencoded': {
      const charset = parametersOf(contentType).get('charset') || 'utf-8';
      return READ_CHARSETS.includes(charset.toLowerCase()) ? { kind: 'urlencoded' } : null;
    }
    case 'multipart/form-data': {
      const boundary = parametersOf(contentType).get('boundary') ?? '';
      return BOUNDARY.test(boundary) ? { kind: 'multipart', boundary } : null;
    }
    default:
      return null;
  }
}

/** What stands before a comma that is not in quotes. */
function firstOf(values: string): string {
  let isQuoted = false;
  for (let at = 0; at < values.length; at += 1) {
    const character = values[at];
    if (character === ',' && !isQuoted) return values.slice(0, at);
    if (character === '"') isQuoted = !isQuoted;
    if (character === '\\' && isQuoted) at += 1;
  }
  return values;
}

/** The parameters behind a value of a header, names in lower case; of a repeated one the first counts. */
function parametersOf(value: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of value.matchAll(PARAMETER)) {
    const key = name.toLowerCase();
    if (!found.has(key)) found.set(key, quoted?.replace(/\\(["\\])/g, '$1') ?? plain);
  }
  return found;
}
