// JSON without rounding. JavaScript's number is a double: of 9007199254740993 it makes ...992, of 1e999 Infinity, which
// prints as null. Here such a number becomes an `ExactNumber`, which keeps its text; every other one stays a number.
import { randomBytes } from 'node:crypto';
import { type Budget, NO_LIMIT } from '../fairness/budget.ts';

declare global {
  interface JSON {
    /** ECMAScript proposal "JSON.parse source text access", in Node since 21; TypeScript 7.0 does not declare it. */
    rawJSON(text: string): object;
  }
}

/**
 * A JSON number that no double prints with the same value, or only with an exponent that it does not have (1e+21).
 * JSON.stringify prints it as it was written.
 */
export class ExactNumber {
  readonly #text: string;
  #key: string | null | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** `decimalKey` of it, found once: numbers are compared in pairs. */
  get key(): string | null {
    if (this.#key === undefined) this.#key = decimalKey(this.#text);
    return this.#key;
  }

  toString(): string {
    return this.#text;
  }

  toJSON(): object {
    return JSON.rawJSON(this.#text);
  }
}

export type JsonNumber = number | ExactNumber;

export const isJsonNumber = (value: unknown): value is JsonNumber =>
  typeof value === 'number' || value instanceof ExactNumber;

/** The number that a text is as JSON. @param text a JSON number */
export function jsonNumber(text: string): JsonNumber {
  const double = Number(text);
  return isPrintedBy(double, text) ? double : new ExactNumber(text);
}

/** Whether a double prints a number: the same value, and plain digits as plain digits, which are an id. */
function isPrintedBy(double: number, text: string): boolean {
  const printed = String(double);
  if (printed === text) return true;
  if (!Number.isFinite(double) || (PLAIN.test(text) && text !== '-0')) return false;
  return decimalKey(printed) === decimalKey(text);
}

export function compareNumbers(a: JsonNumber, b: JsonNumber): number {
  // Doubles that print two numbers are in the order of these.
  if (typeof a === 'number' && typeof b === 'number') return Math.sign(a - b);
  return compareDecimals(String(a), String(b));
}

// A number with at least 16 digits, or with an exponent of three: all others are printed by their doubles. Where
// numbers can stand, so that ids in quotes do not count.
const MAY_BE_INEXACT = /(?:^|[[:,\s])-?(?:\d[\d.]{15}|\d[\d.]*[eE][+-]?\d{3})/;
// (`{15,}` would fill the stack of the regular expression with a very long number.)
const CANDIDATE = /-?\d[-+.\deE]{15}[-+.\deE]*|-?\d[\d.]*[eE][+-]?\d{3}\d*/g;
const PLAIN = /^-?\d+$/;
/** Whether a text may be JSON with a number that is not exact: quick, and wrong only when it says yes. */
const mayBeInexact = (text: string): boolean => MAY_BE_INEXACT.test(text);

/**
 * Parses JSON. Costs as much as JSON.parse; two to three times as much for a text with a number that may not be exact,
 * and up to ten times as much for one that is made of nothing else.
 * @throws SyntaxError
 */
export function parseExact(text: string): unknown {
  let value: unknown = JSON.parse(text);
  if (!mayBeInexact(text)) return value;
  // A reviver would give the texts of numbers too; it takes fifty times as long as parsing (Node 24), and recursion.
  const mark = markFor(text);
  const numbers: ExactNumber[] = [];
  const marked = markInexact(text, mark, numbers);
  if (numbers.length === 0) return value;
  // Frees the first one, so that both are not in memory together.
  value = null;
  value = unmark(JSON.parse(marked), mark, numbers);
  if (typeof value === 'object' && value !== null) withExactNumbers.add(value);
  return value;
}

const withExactNumbers = new WeakSet();

/** Whether the result of `parseExact` holds such a number; constant time. */
export function holdsExactNumbers(parsed: unknown): boolean {
  return (
    parsed instanceof ExactNumber || (typeof parsed === 'object' && parsed !== null && withExactNumbers.has(parsed))
  );
}

/**
 * What strings begin with that stand for numbers. The short one, because a body can hold millions of numbers, and V8
 * keeps equal strings of up to ten characters once; a text that does not contain it, and spells no letter as an escape,
 * has no string like it. Nobody who sends JSON knows the long one.
 */
function markFor(text: string): string {
  return text.includes(SHORT_MARK) || text.includes('\\u00') ? LONG_MARK : SHORT_MARK;
}
const LONG_MARK = randomBytes(9).toString('base64url');
const SHORT_MARK = LONG_MARK.slice(0, 4);

/**
 * Valid JSON with strings in place of the numbers that are not exact: the mark, and where the number is in the list.
 */
function markInexact(text: string, mark: string, numbers: ExactNumber[]): string {
  const isInString = stringsOf(text);
  // One object for all numbers of one text: a body can repeat it a million times.
  const known = new Map<string, string>();
  return text.replace(CANDIDATE, (number, at: number) => {
    if (isInString(at)) return number;
    const before = known.get(number);
    if (before !== undefined) return before;
    if (isPrintedBy(Number(number), number)) return number;
    const marked = `"${mark}${numbers.length.toString(36)}"`;
    numbers.push(new ExactNumber(number));
    known.set(number, marked);
    return marked;
  });
}

/** @returns whether a position is inside a string; to be asked from the left to the right */
function stringsOf(text: string): (at: number) => boolean {
  let opens = text.indexOf('"');
  let ended = 0;
  return (at) => {
    while (opens !== -1 && opens < at) {
      ended = endOfString(text, opens);
      opens = text.indexOf('"', ended);
    }
    return at < ended;
  };
}

/** Where the string ends that begins at a quote; it does, because the text is valid. */
function endOfString(text: string, quote: number): number {
  for (let from = quote + 1; ; ) {
    const end = text.indexOf('"', from);
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return end + 1;
    from = end + 1;
  }
}

/** Puts numbers in the place of marked strings; without recursion, since a text may nest as deeply as it likes. */
function unmark(parsed: unknown, mark: string, numbers: readonly ExactNumber[]): unknown {
  const root = [parsed];
  const containers: object[] = [root];
  const unmarked = (value: unknown): unknown => {
    if (typeof value === 'object' && value !== null) containers.push(value);
    if (typeof value !== 'string' || !value.startsWith(mark)) return value;
    return numbers[Number.parseInt(value.slice(mark.length), 36)];
  };
  for (let container = containers.pop(); container !== undefined; container = containers.pop()) {
    replaceMembers(container, unmarked);
  }
  return root[0];
}

function replaceMembers(container: object, replacementOf: (value: unknown) => unknown): void {
  if (Array.isArray(container)) {
    const array: unknown[] = container;
    // Not by entries: there may be millions of them.
    for (let index = 0; index < array.length; index += 1) {
      const replacement = replacementOf(array[index]);
      if (replacement !== array[index]) array[index] = replacement;
    }
    return;
  }
  // All members are own ones, even `__proto__`, so that an assignment changes them and nothing else.
  const members = container as Record<string, unknown>;
  for (const key of Object.keys(members)) {
    const replacement = replacementOf(members[key]);
    if (replacement !== members[key]) members[key] = replacement;
  }
}

// JSON numbers by their value as decimals, of any length, without rounding.

/** A number as sign, digits and a power of ten; null when the text is no JSON number (RFC 8259, section 6). */
interface Decimal {
  /** 0 for zero. */
  sign: -1 | 0 | 1;
  /** Without zeros at either end; empty for zero. */
  digits: string;
  /** The power of ten of the first digit: 3 for 1200. */
  magnitude: number;
}

const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const ZERO: Decimal = { sign: 0, digits: '', magnitude: 0 };
// Exponents beyond this count as it: no two numbers that anyone means differ there.
const MAX_EXPONENT = 1e15;

function readDecimal(text: string): Decimal | null {
  const [matched, sign, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  if (matched === undefined) return null;
  const written = whole + fraction;
  const first = written.search(/[1-9]/);
  if (first === -1) return ZERO;
  const power = Math.min(MAX_EXPONENT, Math.max(-MAX_EXPONENT, Number(exponent)));
  return {
    sign: sign === '-' ? -1 : 1,
    digits: withoutZerosAtEnd(written.slice(first)),
    magnitude: power + whole.length - 1 - first,
  };
}

// A pattern with `0+$` would take quadratic time for a long number of zeros.
function withoutZerosAtEnd(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

/** One text for every number of the same value (`1`, `1.0` and `10e-1`); null when the text is no number. */
export function decimalKey(text: string): string | null {
  const decimal = readDecimal(text);
  return decimal && `${decimal.sign}:${decimal.digits}:${decimal.magnitude}`;
}

/** The sign of a minus b, by value. @throws RangeError when one is no number */
export function compareDecimals(a: string, b: string): number {
  const [left, right] = [readDecimal(a), readDecimal(b)];
  if (left === null || right === null) throw new RangeError('not a number');
  if (left.sign !== right.sign) return Math.sign(left.sign - right.sign);
  if (left.magnitude !== right.magnitude) return left.magnitude > right.magnitude ? left.sign : -left.sign;
  // Both begin with the digit of the same power of ten, so their order is that of their texts.
  if (left.digits === right.digits) return 0;
  return left.digits > right.digits ? left.sign : -left.sign;
}

/** Whether a number is whole: `10e-1` is, `1.5` is not. */
export function isWhole(text: string): boolean {
  const decimal = readDecimal(text);
  return decimal !== null && decimal.digits.length - 1 <= Math.max(decimal.magnitude, -1);
}

// Limit of the digits of a quotient: beyond realistic input, and still cheap.
const MAX_SPREAD = 5000;

/** Whether a is a whole multiple of b. False when they are too many orders of magnitude apart to tell. */
export function isMultiple(a: string, b: string): boolean {
  const [value, factor] = [readDecimal(a), readDecimal(b)];
  if (value === null || factor === null || factor.sign === 0) return false;
  if (value.sign === 0) return true;
  // The powers of ten of their last digits.
  const [low, high] = [value, factor].map(({ magnitude, digits }) => magnitude - digits.length + 1) as [number, number];
  if (Math.abs(low - high) > MAX_SPREAD || value.digits.length + factor.digits.length > MAX_SPREAD) return false;
  const scaled = (digits: string, power: number) => BigInt(digits) * 10n ** BigInt(power - Math.min(low, high));
  return scaled(value.digits, low) % scaled(factor.digits, high) === 0n;
}

export interface DecimalForm {
  precision: number;
  scale: number;
}

/**
 * A number in units of its last digit: 12.5 is 1250 with a scale of 2. Null when it has more digits than the form, or
 * is no number.
 */
export function unscaled(text: string, { precision, scale }: DecimalForm): bigint | null {
  const decimal = readDecimal(text);
  if (decimal === null || decimal.sign === 0) return decimal && 0n;
  // The power of ten of its last digit.
  const low = decimal.magnitude - decimal.digits.length + 1;
  if (low < -scale || decimal.magnitude + scale >= precision) return null;
  return BigInt(decimal.sign) * BigInt(decimal.digits) * 10n ** BigInt(low + scale);
}

/** The power of ten of the first digit; 0 for zero and for what is no number. */
export function magnitudeOf(text: string): number {
  return readDecimal(text)?.magnitude ?? 0;
}

// One text for all equal JSON values, to compare or hash them.

export function stepsOf(value: unknown): number {
  if (typeof value === 'string') return 1 + value.length / 32;
  return value instanceof ExactNumber ? 1 + String(value).length : 1;
}

export function keyOf(number: JsonNumber): number | string | null {
  if (typeof number !== 'number') return number.key;
  // Such a double may be written as an ExactNumber too.
  return Math.abs(number) < 1e21 ? number : decimalKey(String(number));
}

// The shortest member of an object, with its comma.
const MEMBER_LENGTH = 5;

/**
 * One text for all equal JSON values: numbers by their exact values, objects by their members, whatever the order of
 * names.
 * @param most its longest length; it bounds the work and the depth of the recursion too
 * @returns null for a value whose text would be longer
 * @throws BudgetError
 */
export function canonicalText(
  value: unknown,
  most = Number.POSITIVE_INFINITY,
  budget: Budget = NO_LIMIT,
): string | null {
  budget.spend(stepsOf(value));
  if (isJsonNumber(value)) return shortOf(String(keyOf(value)), most);
  if (typeof value === 'string') return value.length > most ? null : shortOf(JSON.stringify(value), most);
  if (typeof value !== 'object' || value === null) return shortOf(String(value), most);
  if (most < '{}'.length) return null;
  const isArray = Array.isArray(value);
  const names = isArray ? null : Object.keys(value);
  budget.spend(names?.length ?? 0);
  if ((names?.length ?? 0) * MEMBER_LENGTH > most) return null;
  const members = isArray ? (value as unknown[]) : (names ?? []).sort();
  let text = isArray ? '[' : '{';
  for (const each of members) {
    const name = isArray ? '' : `${JSON.stringify(each)}:`;
    const member = isArray ? each : (value as Record<string, unknown>)[String(each)];
    const inside = canonicalText(member, most - text.length - name.length - 1, budget);
    if (inside === null) return null;
    text += `${name}${inside},`;
  }
  return shortOf(text + (isArray ? ']' : '}'), most);
}

const shortOf = (text: string, most: number): string | null => (text.length > most ? null : text);
