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
// Numbers are compared by their exact values, however many digits they have. Numbers and booleans count as their text
// for the text operators: plain digits and what no double holds as they came in, other numbers as a double prints them
// (`1.50` is "1.5"). Two texts are never compared as numbers for equality ("1.0" is not "1"), and "007" reads as no
// number. What fits no line is not true.
import type { Budget } from '../fairness/budget.ts';
import {
  canonicalText,
  keyOf,
  stepsOf,
  compareNumbers,
  isJsonNumber,
  type JsonNumber,
  jsonNumber,
} from '../text/exact-json.ts';

/** Whether a value of the webhook meets a condition. @throws BudgetError */
export type ValueTest = (actual: unknown, budget: Budget) => boolean;

// RFC 8259, section 6. Longer texts are not treated as numbers.
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const MAX_NUMBER_LENGTH = 40;

function readNumber(text: string): JsonNumber | null {
  return text.length <= MAX_NUMBER_LENGTH && NUMBER.test(text) ? jsonNumber(text) : null;
}

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
  const nested = new Set(
    wanted.flatMap((value) =>
      typeof value === 'object' && value !== null && !isJsonNumber(value) ? [canonicalText(value) ?? ''] : [],
    ),
  );
  const longest = Math.max(0, ...Array.from(nested, (text) => text.length));
  return (actual, budget) => {
    budget.spend(stepsOf(actual));
    if (isJsonNumber(actual)) return numbers.has(keyOf(actual)) || readAsNumber.has(keyOf(actual));
    if (scalars.has(actual)) return true;
    if (typeof actual === 'boolean') return scalars.has(String(actual));
    if (typeof actual !== 'string') return nested.size > 0 && nested.has(canonicalText(actual, longest, budget) ?? '');
    const number = readNumber(actual);
    return number === null ? scalars.has(readBoolean(actual)) : numbers.has(keyOf(number));
  };
}

/** `undefined`, which is in no condition, for a text that reads as no boolean. */
function readBoolean(text: string): boolean | undefined {
  if (text === 'true') return true;
  return text === 'false' ? false : undefined;
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

// Whether a text is part of another one, in linear time whatever the two hold.

// The engine's own search is much faster on ordinary texts, but takes time as of length times length on texts made for
// it.
const ENGINE_WORK = 4_000_000;

export function includesText(text: string, part: string): boolean {
  if (text.length * part.length <= ENGINE_WORK) return text.includes(part);
  return part.length <= text.length && found(text, part);
}

/** @param part not empty. Knuth, Morris and Pratt: Fast Pattern Matching in Strings, 1977. */
function found(text: string, part: string): boolean {
  const borders = bordersOf(part);
  let matched = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== code) matched = borders[matched - 1] ?? 0;
    if (part.charCodeAt(matched) === code) matched += 1;
    if (matched === part.length) return true;
  }
  return false;
}

/** For each prefix the length of the longest shorter prefix that it ends with. */
function bordersOf(part: string): Int32Array {
  const borders = new Int32Array(part.length);
  let length = 0;
  for (let at = 1; at < part.length; at += 1) {
    while (length > 0 && part.charCodeAt(length) !== part.charCodeAt(at)) length = borders[length - 1] ?? 0;
    if (part.charCodeAt(length) === part.charCodeAt(at)) length += 1;
    borders[at] = length;
  }
  return borders;
}
