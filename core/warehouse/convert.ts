// How a value becomes one of a column's type. docs/warehouses.md has the rules as a table.

export const COLUMN_TYPES = ['string', 'number', 'boolean', 'timestamp', 'json'] as const;
export type ColumnType = (typeof COLUMN_TYPES)[number];

/** A converted value, ready for JSON; `ok: false` when the value cannot become the type. */
export type Converted = { ok: true; value: unknown } | { ok: false };

const CANNOT: Converted = { ok: false };
const done = (value: unknown): Converted => ({ ok: true, value });

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const TRUE = new Set(['true', 'yes', '1']);
const FALSE = new Set(['false', 'no', '0']);

/**
 * Converts a JSON value.
 * @param value anything JSON can hold; null stays null, whatever the type
 */
export function convert(value: unknown, type: ColumnType): Converted {
  if (value === null) return done(null);
  switch (type) {
    case 'string':
      return toText(value);
    case 'number':
      return toNumber(value);
    case 'boolean':
      return toBoolean(value);
    case 'timestamp':
      return toTimestamp(value);
    case 'json':
      return done(value);
  }
}

function toText(value: unknown): Converted {
  return done(typeof value === 'string' ? value : JSON.stringify(value));
}

function toNumber(value: unknown): Converted {
  if (typeof value === 'number') return Number.isFinite(value) ? done(value) : CANNOT;
  if (typeof value !== 'string' || !NUMBER.test(value.trim())) return CANNOT;
  const number = Number(value);
  return Number.isFinite(number) ? done(number) : CANNOT;
}

function toBoolean(value: unknown): Converted {
  if (typeof value === 'boolean') return done(value);
  if (typeof value !== 'string' && typeof value !== 'number') return CANNOT;
  const word = String(value).trim().toLowerCase();
  if (TRUE.has(word)) return done(true);
  return FALSE.has(word) ? done(false) : CANNOT;
}

// Below this a number counts seconds (until the year 5138), from it on milliseconds (since 1973).
const FIRST_MILLISECONDS = 1e11;
const EARLIEST = Date.parse('0001-01-01T00:00:00Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');
const ISO = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2}(?:[.,]\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;

function toTimestamp(value: unknown): Converted {
  if (typeof value === 'number') return fromEpoch(value);
  if (typeof value !== 'string') return CANNOT;
  const text = value.trim();
  return NUMBER.test(text) ? fromEpoch(Number(text)) : fromIso(text);
}

function fromEpoch(number: number): Converted {
  return inRange(Math.abs(number) < FIRST_MILLISECONDS ? number * 1000 : number);
}

/** ISO 8601, or RFC 3339 with a space; a time without zone is UTC, a date alone its midnight in UTC. */
function fromIso(text: string): Converted {
  const [matched, date, time = '00:00', second = ':00', zone = 'Z'] = ISO.exec(text) ?? [];
  if (matched === undefined || date === undefined || !existsInCalendar(date)) return CANNOT;
  return inRange(Date.parse(`${date}T${time}${second.replace(',', '.')}${zone.toUpperCase()}`));
}

/** `Date.parse` would take 30 February for 2 March. */
function existsInCalendar(date: string): boolean {
  const parsed = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(date);
}

function inRange(ms: number): Converted {
  return ms >= EARLIEST && ms <= LATEST ? done(new Date(Math.round(ms)).toISOString()) : CANNOT;
}
