// How one value of a webhook compares with the value of a condition. Headers and query parameters are always texts, and
// senders disagree about quoting numbers, so a text that reads as a number or boolean stands for it:
//
// | operator                    | is true when the value of the webhook                                                |
// |-----------------------------|--------------------------------------------------------------------------------------|
// | equals, in                  | is the same string (letter case counts), number, boolean or null; or one is a text   |
// |                             | that reads as the other, a number (`5` and `"5.0"`) or boolean; an array or object   |
// |                             | equals one with equal members, compared strictly                                     |
// | contains                    | is a text with this text in it; or an array with an element that equals the value    |
// | starts_with, ends_with,     | is a text that starts with, ends with, or has a match of the value                   |
// | matches                     |                                                                                      |
// | gt, gte, lt, lte            | is, like the other, a number or a text that reads as one: by number; two other       |
// |                             | texts: in the order of their characters, which for ISO dates of one form is by time  |
//
// Numbers are compared by their exact values, however many digits they have. Numbers and booleans count as their text for the
// text operators: plain digits and what no double holds as they came in, other numbers as a double prints them (`1.50` is
// "1.5"). Two texts are never compared as numbers for equality ("1.0" is not "1"), and "007" reads as no number. What fits no
// line is not true.
// Rules: FLT-09.
import { type Budget, NO_LIMIT } from '../budget.ts';
import { decimalKey } from '../numbers/decimal.ts';
import { includesText } from '../text-search.ts';
import { compareNumbers, ExactNumber, isJsonNumber, type JsonNumber, jsonNumber } from '../numbers/exact-json.ts';

/** Whether a value of the webhook meets a condition. @throws BudgetError */
export type ValueTest = (actual: unknown, budget: Budget) => boolean;

/** What it takes to look at a value: a text or a number with many digits is read through. */
function stepsOf(value: unknown): number {
  if (typeof value === 'string') return 1 + value.length / 32;
  return value instanceof ExactNumber ? 1 + String(value).length : 1;
}

// RFC 8259, section 6. Longer texts are not treated as numbers.
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const MAX_NUMBER_LENGTH = 40;

/** The number that a text reads as, or null. */
function readNumber(text: string): JsonNumber | null {
  return text.length <= MAX_NUMBER_LENGTH && NUMBER.test(text) ? jsonNumber(text) : null;
}

/** The same for numbers of the same value. */
export function keyOf(number: JsonNumber): number | string | null {
  if (typeof number !== 'number') return number.key;
  // Such a double may be written as an ExactNumber too.
  return Math.abs(number) < 1e21 ? number : decimalKey(String(number));
}

/** The text of a string, number or boolean, or null. */
function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return isJsonNumber(value) || typeof value === 'boolean' ? String(value) : null;
}

/** Equal to one of these; one lookup for a list of any length. */
export function equalsAny(wanted: readonly unknown[]): ValueTest {
  const scalars = new Set(wanted.filter((value) => typeof value !== 'object' || value === null));
  const numbers = new Set(wanted.filter(isJsonNumber).map(keyOf));
  const textsOfNumbers = wanted.flatMap((value) => (typeof value === 'string' ? (readNumber(value) ?? []) : []));
  const readAsNumber = new Set(textsOfNumbers.map(keyOf));
  const nested = wanted.filter((value) => typeof value === 'object' && value !== null && !isJsonNumber(value));
  return (actual, budget) => {
    budget.spend(stepsOf(actual));
    if (isJsonNumber(actual)) return numbers.has(keyOf(actual)) || readAsNumber.has(keyOf(actual));
    if (scalars.has(actual)) return true;
    if (typeof actual === 'boolean') return scalars.has(String(actual));
    if (typeof actual !== 'string') return nested.some((value) => deepEqual(actual, value, budget));
    const number = readNumber(actual);
    return number === null ? scalars.has(readBoolean(actual)) : numbers.has(keyOf(number));
  };
}

/** `undefined`, which is in no condition, for a text that reads as no boolean. */
function readBoolean(text: string): boolean | undefined {
  if (text === 'true') return true;
  return text === 'false' ? false : undefined;
}

/**
 * JSON values with equal members. The recursion is as deep as `wanted`, which the API bounds, and the parser of payloads.
 * Sizes come first: a path can compare every element of a large payload with a large one.
 * @throws BudgetError
 */
export function deepEqual(actual: unknown, wanted: unknown, budget: Budget = NO_LIMIT): boolean {
  budget.spend(stepsOf(actual));
  if (actual === wanted) return true;
  if (isJsonNumber(actual) && isJsonNumber(wanted)) return keyOf(actual) === keyOf(wanted);
  if (actual instanceof ExactNumber || wanted instanceof ExactNumber) return false;
  if (typeof wanted !== 'object' || wanted === null || typeof actual !== 'object' || actual === null) return false;
  if (Array.isArray(wanted)) return Array.isArray(actual) && elementsEqual(actual, wanted, budget);
  return !Array.isArray(actual) && membersEqual(actual as Members, wanted as Members, budget);
}

function elementsEqual(actual: unknown[], wanted: unknown[], budget: Budget): boolean {
  if (actual.length !== wanted.length) return false;
  for (let index = 0; index < wanted.length; index += 1) {
    if (!deepEqual(actual[index], wanted[index], budget)) return false;
  }
  return true;
}

type Members = Record<string, unknown>;

function membersEqual(actual: Members, wanted: Members, budget: Budget): boolean {
  const keys = keysOf(wanted, budget);
  if (keys.length !== keysOf(actual, budget).length) return false;
  for (const key of keys) {
    if (!Object.hasOwn(actual, key) || !deepEqual(actual[key], wanted[key], budget)) return false;
  }
  return true;
}

// An object that one comparison after the other meets, and that is large, is not listed for each of them.
const keysOfLarge = new WeakMap<object, readonly string[]>();
const LARGE = 16;

function keysOf(object: Members, budget: Budget): readonly string[] {
  const known = keysOfLarge.get(object);
  if (known !== undefined) return known;
  const keys = Object.keys(object);
  budget.spend(keys.length);
  if (keys.length > LARGE) keysOfLarge.set(object, keys);
  return keys;
}

export function contains(wanted: unknown): ValueTest {
  const text = textOf(wanted);
  const equal = equalsAny([wanted]);
  return (actual, budget) => {
    if (Array.isArray(actual)) return actual.some((element) => equal(element, budget));
    const whole = text === null ? null : textOf(actual);
    if (text === null || whole === null) return false;
    budget.spend(1 + (whole.length + text.length) / 4);
    return includesText(whole, text);
  };
}

/** A test of the text of strings, numbers and booleans. @param stepsPerCharacter what it costs at most */
export function onText(test: (text: string) => boolean, stepsPerCharacter = 1 / 32): ValueTest {
  return (actual, budget) => {
    const text = textOf(actual);
    budget.spend(1);
    return text !== null && budget.attempt(text.length * stepsPerCharacter, () => test(text));
  };
}

/** @param holds whether the sign of actual minus wanted meets the operator */
export function inOrder(wanted: string | JsonNumber, holds: (sign: number) => boolean): ValueTest {
  const wantedNumber = numberOf(wanted);
  return (actual, budget) => {
    budget.spend(stepsOf(actual));
    const actualNumber = numberOf(actual);
    if (actualNumber !== null && wantedNumber !== null) return holds(compareNumbers(actualNumber, wantedNumber));
    if (typeof actual !== 'string' || typeof wanted !== 'string') return false;
    return holds(actual === wanted ? 0 : actual < wanted ? -1 : 1);
  };
}

function numberOf(value: unknown): JsonNumber | null {
  if (isJsonNumber(value)) return value;
  return typeof value === 'string' ? readNumber(value) : null;
}
