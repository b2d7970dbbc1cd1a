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

/** A decimal number of a fixed form, as DECIMAL(precision, scale) of SQL has it. */
export interface DecimalForm {
  /** Digits in all. */
  precision: number;
  /** Digits behind the point. */
  scale: number;
}

/** A number in units of its last digit: 12.5 is 1250 with a scale of 2. Null when it has more digits than the form, or is no number. */
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
