// When two JSON values are equal: numbers by their exact values, objects and arrays by their members, whatever the order of names.
// Rules: FLT-09.
import { type Budget, NO_LIMIT } from '../budget.ts';
import { decimalKey } from '../numbers/decimal.ts';
import { ExactNumber, isJsonNumber, type JsonNumber } from '../numbers/exact-json.ts';

/** What it takes to look at a value: a text or a number with many digits is read through. */
export function stepsOf(value: unknown): number {
  if (typeof value === 'string') return 1 + value.length / 32;
  return value instanceof ExactNumber ? 1 + String(value).length : 1;
}

/** The same for numbers of the same value. */
export function keyOf(number: JsonNumber): number | string | null {
  if (typeof number !== 'number') return number.key;
  // Such a double may be written as an ExactNumber too.
  return Math.abs(number) < 1e21 ? number : decimalKey(String(number));
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

/**
 * Objects and arrays, found by one look-up however many there are: with a list of 1,000 objects in a condition, each element of a
 * large payload would be compared with each of them.
 */
export class NestedValues {
  readonly #values: readonly unknown[];
  #texts: ReadonlySet<string> | undefined;
  /** Length of the longest of the texts. */
  #longest = 0;

  constructor(values: readonly unknown[]) {
    this.#values = values;
  }

  /** Whether one of them equals a value, as deepEqual says. The first call reads them. @throws BudgetError */
  has(value: unknown, budget: Budget): boolean {
    this.#texts ??= this.#read(budget);
    if (this.#texts.size === 0) return false;
    const text = canonicalText(value, this.#longest, budget);
    return text !== null && this.#texts.has(text);
  }

  #read(budget: Budget): ReadonlySet<string> {
    const texts = this.#values.flatMap((value) => canonicalText(value, Number.POSITIVE_INFINITY, budget) ?? []);
    this.#longest = texts.reduce((longest, { length }) => Math.max(longest, length), 0);
    return new Set(texts);
  }
}

/** The same text for equal values, and for no others; null when it is longer than `most` characters. @throws BudgetError */
function canonicalText(value: unknown, most: number, budget: Budget): string | null {
  let text = '';
  const add = (part: string): boolean => {
    text += part;
    return text.length <= most;
  };
  const write = (each: unknown): boolean => {
    budget.spend(stepsOf(each));
    if (isJsonNumber(each)) return add(`#${keyOf(each)}`);
    // What cannot fit is not read.
    if (typeof each === 'string') return text.length + each.length <= most && add(JSON.stringify(each));
    if (typeof each !== 'object' || each === null) return add(String(each));
    if (Array.isArray(each)) {
      return text.length + each.length <= most && add('[') && each.every((one) => write(one) && add(',')) && add(']');
    }
    const members = each as Members;
    const names = keysOf(members, budget);
    if (text.length + names.length > most) return false;
    budget.spend(names.length);
    const isWritten = (name: string) => add(`${JSON.stringify(name)}:`) && write(members[name]) && add(',');
    return add('{') && names.toSorted().every(isWritten) && add('}');
  };
  return write(value) ? text : null;
}
