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

/** The digits of ids, in their order. */
export const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TEXT_LENGTH = 26;
const TIME_LENGTH = 10;
const MAX_TIME = 2 ** 48 - 1;
const TWO_20 = 2 ** 20;

// Two characters for each 10-bit number, so one lookup writes two characters.
const PAIRS: readonly string[] = Array.from(
  { length: 1024 },
  (_, n) => ALPHABET.charAt(n >> 5) + ALPHABET.charAt(n & 31),
);

const VALUES: ReadonlyMap<string, number> = new Map(Array.from(ALPHABET, (char, value) => [char, value]));

const pair = (bits: number): string => PAIRS[bits & 1023] ?? '';
const write20 = (bits: number): string => pair(bits >>> 10) + pair(bits);

function timeText(ms: number): string {
  if (!Number.isInteger(ms) || ms < 0 || ms > MAX_TIME)
    throw new RangeError(`An id needs a time in whole milliseconds since 1970, got ${ms}`);
  const low = ms % 2 ** 40;
  return pair(Math.floor(ms / 2 ** 40)) + write20(Math.floor(low / TWO_20)) + write20(low % TWO_20);
}

// Random bytes are drawn in blocks: one call of the generator serves hundreds of ids.
const pool = new Uint8Array(4096);
let poolUsed = pool.length;

/** A random whole number of 24 bits. */
function random24(): number {
  if (poolUsed + 3 > pool.length) {
    crypto.getRandomValues(pool);
    poolUsed = 0;
  }
  const bits = ((pool[poolUsed] ?? 0) << 16) | ((pool[poolUsed + 1] ?? 0) << 8) | (pool[poolUsed + 2] ?? 0);
  poolUsed += 3;
  return bits;
}

// RFC 9562, section 6.2, method 1: the 34 bits after the version (12 of rand_a, 22 of rand_b) are a counter inside one
// millisecond. It starts at a random number with the top bit clear, so 2^33 ids fit in a millisecond before it is full.
let lastMs = -1;
let lastTimeText = '';
let counter = 0;

/**
 * A new id; ids made by one process for the same millisecond sort in the order they were made.
 * @param prefix the kind of record
 * @param nowMs milliseconds since 1970
 * @throws RangeError when `nowMs` does not fit 48 bits
 */
export function newId(prefix: IdPrefix, nowMs: number = Date.now()): string {
  if (nowMs === lastMs) {
    counter += 1;
  } else {
    lastTimeText = timeText(nowMs);
    lastMs = nowMs;
    counter = (random24() & 0x1fff) * TWO_20 + (random24() >>> 4);
  }
  const high14 = Math.floor(counter / TWO_20);
  // version 7 (4 bits), 12 counter bits, variant 0b10 (2 bits), 2 counter bits
  const first20 = (7 << 16) | ((high14 >>> 2) << 4) | (2 << 2) | (high14 & 3);
  const tail = write20(first20) + write20(counter % TWO_20) + write20(random24() >>> 4) + write20(random24() >>> 4);
  return `${prefix}_${lastTimeText}${tail}`;
}

/** The smallest id text of a millisecond: a partition bound, or the lower end of a time range. */
export function idFloor(prefix: IdPrefix, ms: number): string {
  return `${prefix}_${timeText(ms)}${'0'.repeat(TEXT_LENGTH - TIME_LENGTH)}`;
}

/**
 * The time an id was made, in milliseconds since 1970.
 * @throws TypeError when the text does not end in 26 characters of an id
 */
export function idTime(id: string): number {
  const text = id.slice(-TEXT_LENGTH);
  if (!ID_TEXT.test(text)) throw new TypeError(`Not an id: ${id}`);
  let ms = 0;
  for (let i = 0; i < TIME_LENGTH; i += 1) ms = ms * 32 + (VALUES.get(text.charAt(i)) ?? 0);
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
  return VALUES.get(id.charAt(id.length - fromEnd)) ?? 0;
}

// The first character holds 3 bits below the two zero bits, so it is at most 7.
const ID_TEXT = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && ID_TEXT.test(text.slice(prefix.length + 1));
}

export const isWarehouseId = (destinationId: string): boolean => destinationId.startsWith('dst_wh_');
