// When two JSON values are equal: numbers by their exact values, objects and arrays by their members, whatever the order of names.
// Rules: FLT-09.
import { type Budget, NO_LIMIT } from '../fairness/budget.ts';
import { decimalKey } from '../text/decimal.ts';
import { ExactNumber, isJsonNumber, type JsonNumber } from '../text/exact-json.ts';

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

// A few are compared at once.
const FEW = 8;
/** Members of the first value that may tell the others apart. */
const MOST_NAMES = 16;

/**
 * Objects and arrays of a list, of which a value may equal one. They are found by the member in which they differ most, so that each
 * element of a large payload is not compared with each of a thousand objects; those without this member are.
 */
export class NestedValues {
  readonly #name: string | null;
  readonly #byMember = new Map<unknown, unknown[]>();
  readonly #others: unknown[] = [];

  /** @param values objects and arrays; each costs about as many look-ups as MOST_NAMES */
  constructor(values: readonly unknown[]) {
    this.#name = values.length > FEW ? distinctiveName(values as Members[]) : null;
    for (const value of values as Members[]) {
      const key = this.#name === null ? null : memberKey(value, this.#name);
      const same = key === null ? this.#others : (this.#byMember.get(key) ?? []);
      same.push(value);
      if (key !== null) this.#byMember.set(key, same);
    }
  }

  /** Whether one of them equals a value, as deepEqual says. @throws BudgetError */
  has(value: unknown, budget: Budget): boolean {
    const isIt = (wanted: unknown) => deepEqual(value, wanted, budget);
    return this.#candidates(value, budget).some(isIt) || this.#others.some(isIt);
  }

  #candidates(value: unknown, budget: Budget): unknown[] {
    if (this.#name === null || typeof value !== 'object' || value === null) return [];
    budget.spend(Object.hasOwn(value, this.#name) ? stepsOf((value as Members)[this.#name]) : 1);
    const key = memberKey(value as Members, this.#name);
    return key === null ? [] : (this.#byMember.get(key) ?? []);
  }
}

/** The member of the first value, a scalar, that has the most different values; null when there is none. */
function distinctiveName(values: readonly Members[]): string | null {
  let [best, most]: [string | null, number] = [null, 0];
  for (const name of Object.keys(values[0] ?? {}).slice(0, MOST_NAMES)) {
    const keys = new Set(values.map((value) => memberKey(value, name)));
    keys.delete(null);
    if (keys.size > most) [best, most] = [name, keys.size];
  }
  return best;
}

/** `scalarKey` of a member; null without it. */
const memberKey = (value: Members, name: string): unknown =>
  Object.hasOwn(value, name) ? scalarKey(value[name]) : null;

/** The same for equal scalars, and for no others; null for objects and arrays. */
export function scalarKey(value: unknown): unknown {
  if (isJsonNumber(value)) return keyOf(value);
  if (typeof value === 'string') return `"${value}`;
  return typeof value === 'object' && value !== null ? null : String(value);
}
