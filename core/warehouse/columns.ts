// How a value becomes one of a column's type. docs/guide/warehouses.md has the rules as a table.
import { type DecimalForm, isJsonNumber, jsonNumber, unscaled } from '../text/exact-json.ts';
import { epochMs, parseTimestamp } from '../text/timestamps.ts';
import { wellFormed } from './rows.ts';

export const COLUMN_TYPES = ['string', 'number', 'decimal', 'boolean', 'timestamp', 'json'] as const;
export type ColumnType = (typeof COLUMN_TYPES)[number];

export type Converted = { ok: true; value: unknown } | { ok: false };

const CANNOT: Converted = { ok: false };
const done = (value: unknown): Converted => ({ ok: true, value });

// More than JSON takes: a plus sign, zeros that lead, a point without digits on one side.
const NUMBER = /^([+-]?)0*(\d*)(?:\.(\d*))?([eE][+-]?\d+)?$/;
// Longer texts are not treated as numbers.
const MAX_NUMBER_LENGTH = 1000;
const TRUE = new Set(['true', 'yes', '1']);
const FALSE = new Set(['false', 'no', '0']);

/** @param value anything JSON can hold; null stays null, whatever the type @param form of a decimal */
export function convert(value: unknown, type: ColumnType, form?: DecimalForm): Converted {
  if (value === null) return done(null);
  switch (type) {
    case 'string':
      return toText(value);
    case 'number':
      return toNumber(value);
    case 'decimal':
      return toDecimal(value, form);
    case 'boolean':
      return toBoolean(value);
    case 'timestamp':
      return toTimestamp(value);
    case 'json':
      return done(value);
  }
}

function toText(value: unknown): Converted {
  return done(typeof value === 'string' ? value : wellFormed(JSON.stringify(value)));
}

/** With all its digits; but not beyond the range of a double, which a reader of the file could not parse. */
function toNumber(value: unknown): Converted {
  const number = numberIn(value);
  return isJsonNumber(number) && Number.isFinite(Number(number)) ? done(number) : CANNOT;
}

/** With all its digits, which the form must have. */
function toDecimal(value: unknown, form: DecimalForm | undefined): Converted {
  const number = numberIn(value);
  return isJsonNumber(number) && form && unscaled(String(number), form) !== null ? done(number) : CANNOT;
}

const numberIn = (value: unknown): unknown => (typeof value === 'string' ? readNumber(value.trim()) : value);

function readNumber(text: string) {
  if (text.length > MAX_NUMBER_LENGTH || !/\d/.test(text)) return null;
  const [matched, sign, whole = '', fraction = '', exponent = ''] = NUMBER.exec(text) ?? [];
  // `.e5` and the like: the only digits are those of the exponent, or zeros that lead.
  if (matched === undefined || !/^[+-]?\.?\d/.test(text)) return null;
  const digits = `${whole === '' ? '0' : whole}${fraction === '' ? '' : `.${fraction}`}`;
  return jsonNumber(`${sign === '-' ? '-' : ''}${digits}${exponent}`);
}

function toBoolean(value: unknown): Converted {
  if (typeof value === 'boolean') return done(value);
  if (typeof value !== 'string' && typeof value !== 'number') return CANNOT;
  const word = String(value).trim().toLowerCase();
  if (TRUE.has(word)) return done(true);
  return FALSE.has(word) ? done(false) : CANNOT;
}

const EARLIEST = Date.parse('0001-01-01T00:00:00Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

function toTimestamp(value: unknown): Converted {
  if (isJsonNumber(value)) return inRange(epochMs(Number(value)));
  if (typeof value !== 'string') return CANNOT;
  const text = value.trim();
  const ms = parseTimestamp(text);
  if (ms !== null) return inRange(ms);
  const number = readNumber(text);
  return number === null ? CANNOT : inRange(epochMs(Number(number)));
}

function inRange(ms: number): Converted {
  return ms >= EARLIEST && ms <= LATEST ? done(new Date(Math.round(ms)).toISOString()) : CANNOT;
}
