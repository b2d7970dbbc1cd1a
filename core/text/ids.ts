// Identifiers: a prefix and a UUIDv7 (RFC 9562, section 5.7) in lowercase Crockford base32, for example
// `evt_06f3k2v8q0e7...`. 128 bits with two zero bits on top fill 26 characters, so the first 10 are exactly the 48-bit
// millisecond timestamp and the text sorts (collation "C") by time of creation.

export type IdPrefix =
  | 'dst'
  | 'dst_wh'
  | 'rte'
  | 'src'
  | 'evt'
  | 'dlv'
  | 'tfm'
  | 'flt'
  | 'sch'
  | 'org'
  | 'key'
  | 'bat'
  | 'req'
  | 'rpl'
  | 'aud'
  | 'ref'
  | 'alc'
  | 'alm'
  | 'iss';

export const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TEXT_LENGTH = 26;
const TIME_LENGTH = 10;
const MAX_TIME = 2 ** 48 - 1;

function digits(bits: number, length: number): string {
  let text = '';
  for (let rest = bits; text.length < length; rest = Math.floor(rest / 32)) text = ALPHABET.charAt(rest % 32) + text;
  return text;
}

function timeText(ms: number): string {
  if (!Number.isInteger(ms) || ms < 0 || ms > MAX_TIME)
    throw new RangeError(`An ID requires a time in whole milliseconds since 1970, got ${ms}`);
  return digits(ms, TIME_LENGTH);
}

/** @param bits at most 48: the last 48 bits of a UUID are random, and Node prepares many UUIDs at once. */
function randomBits(bits: number): number {
  return Number.parseInt(crypto.randomUUID().slice(-12), 16) % 2 ** bits;
}

// RFC 9562, section 6.2, method 1: the 34 bits after the version (12 of rand_a, 22 of rand_b) are a counter inside one
// millisecond. It starts at a random number with the top bit clear, so 2^33 ids fit in a millisecond before it is full.
let lastMs = -1;
let counter = 0;

/** Ids made by one process for the same millisecond sort in the order they were made. @throws RangeError when the time does not fit 48 bits */
export function newId(prefix: IdPrefix, nowMs: number = Date.now()): string {
  counter = nowMs === lastMs ? counter + 1 : randomBits(33);
  lastMs = nowMs;
  // Version 7 (4 bits), 12 counter bits, variant 0b10 (2 bits), 22 counter bits.
  const middle = 7 * 2 ** 36 + Math.floor(counter / 2 ** 22) * 2 ** 24 + 2 * 2 ** 22 + (counter % 2 ** 22);
  return `${prefix}_${timeText(nowMs)}${digits(middle, 8)}${digits(randomBits(40), 8)}`;
}

/** The smallest id text of a millisecond: a partition bound, or the lower end of a time range. */
export function idFloor(prefix: IdPrefix, ms: number): string {
  return `${prefix}_${timeText(ms)}${'0'.repeat(TEXT_LENGTH - TIME_LENGTH)}`;
}

/** When it was made, ms since 1970. @throws TypeError when the text does not end in 26 characters of an id */
export function idTime(id: string): number {
  const text = id.slice(-TEXT_LENGTH);
  if (!ID_TEXT.test(text)) throw new TypeError(`Not an ID: ${id}`);
  let ms = 0;
  for (let i = 0; i < TIME_LENGTH; i += 1) ms = ms * 32 + ALPHABET.indexOf(text.charAt(i));
  return ms;
}

/** An upper bound, not part of it, of the range of ids that ends with this id. */
export const idAfter = (id: string): string => `${id}!`;

/** The time of an id, or of such a bound, ms; null for a bound that stands before every id. */
export function boundTime(bound: string): number | null {
  const id = bound.replace(/!$/, '');
  return ID_TEXT.test(id.slice(-TEXT_LENGTH)) ? idTime(id) : null;
}

/** The shard of an id, 0 to 63: the last 6 of its random bits, the same in every process and for ever. */
export function shardOf(id: string): number {
  return ((randomBitsOf(id, 2) & 1) << 5) | randomBitsOf(id, 1);
}

/** The five bits of a character of an id. @param fromEnd 1 is the last one; up to 8 they are random */
function randomBitsOf(id: string, fromEnd: number): number {
  return ALPHABET.indexOf(id.charAt(id.length - fromEnd));
}

// The first character holds 3 bits below the two zero bits, so it is at most 7.
const ID_TEXT = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && ID_TEXT.test(text.slice(prefix.length + 1));
}

export const isWarehouseId = (destinationId: string): boolean => destinationId.startsWith('dst_wh_');
