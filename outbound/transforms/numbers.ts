// Numbers that a double does not hold, on their way through a transform (docs/guide/transforms.md, "Numbers"). QuickJS
// knows doubles only, so the host finds these numbers in the payload and tells the sandbox where they are.
import {
  decimalKey,
  ExactNumber,
  holdsExactNumbers,
  isJsonNumber,
  type JsonNumber,
  parseExact,
} from '../../core/text/exact-json.ts';

/** `objects`: every number that is not exact becomes an object; `mixed`: fractions stay numbers where they can. */
export type NumberForm = 'objects' | 'mixed';

/** JSON for the sandbox. `fill` of NUMBERS takes it. */
interface ExactNumbers {
  /** Where objects go, by the members that lead there; below `payload`. */
  members: Members;
  /** Numbers that stay doubles, and are printed with these digits. */
  doubles: string[];
  /** What stands before digits where JSON is made. */
  mark: string;
}
type Members = [key: string | number, what: string | Members][];

/** @returns the exact numbers of a payload for the sandbox; null when all are exact as doubles, or it is not JSON */
export function tellNumbers(body: string, form: NumberForm, seed: number): string | null {
  const payload = parseQuietly(body);
  if (!holdsExactNumbers(payload)) return null;
  const doubles = form === 'mixed' ? findDoubles(payload) : new Map<number, string>();
  const members = membersOf({ payload }, doubles, 0);
  if (members === null) return null;
  return JSON.stringify({ members, doubles: [...doubles.values()], mark: markFor(seed) } satisfies ExactNumbers);
}

function parseQuietly(body: string): unknown {
  try {
    return parseExact(body);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Follows from the id of the event, which nobody knows who sends it. */
const markFor = (seed: number): string => `number:${seed.toString(16)}:`;

/** JSON with digits in place of the marked strings. */
export function unmark(json: string, seed: number): string {
  const [first = '', ...marked] = json.split(`"${markFor(seed)}`);
  return first + marked.map((part) => part.replace('"', '')).join('');
}

/** Fractions that their double tells from every other number of the payload. */
function findDoubles(payload: unknown): Map<number, string> {
  const doubles = new Map<number, string>();
  const shared = new Set<number>();
  visitNumbers(payload, (number) => {
    if (typeof number === 'number' || !isFraction(Number(number))) return;
    const [double, text] = [Number(number), String(number)];
    const other = doubles.get(double);
    if (other === undefined) doubles.set(double, text);
    else if (other !== text && decimalKey(other) !== number.key) shared.add(double);
  });
  for (const double of shared) doubles.delete(double);
  if (doubles.size > 0) visitNumbers(payload, (number) => typeof number === 'number' && doubles.delete(number));
  return doubles;
}

/**
 * Whether a number may stay this double, which then has the digits of the payload wherever it is printed. A whole
 * double may not: counts, versions and literals of the code are such ones.
 */
const isFraction = (double: number): boolean => Number.isFinite(double) && !Number.isInteger(double);

/** From the last one to the first; without recursion, whose cost would grow with the depth. */
function visitNumbers(payload: unknown, visit: (number: JsonNumber) => void): void {
  const values = [payload];
  while (values.length > 0) {
    const value = values.pop();
    if (isJsonNumber(value)) visit(value);
    else if (Array.isArray(value)) for (const element of value as unknown[]) values.push(element);
    else if (typeof value === 'object' && value !== null)
      for (const member of Object.values(value)) values.push(member);
  }
}

// QuickJS cannot read the list of places when they nest much deeper; then the numbers are the nearest doubles.
const MAX_DEPTH = 5000;

/** Where objects go; null when that is too deep for the sandbox. */
function membersOf(container: object, doubles: ReadonlyMap<number, string>, depth: number): Members | null {
  if (depth > MAX_DEPTH) return null;
  const members: Members = [];
  const entries = Array.isArray(container) ? (container as unknown[]).entries() : Object.entries(container);
  for (const [key, value] of entries) {
    if (value instanceof ExactNumber) {
      if (!doubles.has(Number(value))) members.push([key, String(value)]);
    } else if (typeof value === 'object' && value !== null) {
      const below = membersOf(value, doubles, depth + 1);
      if (below === null) return null;
      if (below.length > 0) members.push([key, below]);
    }
  }
  return members;
}

/**
 * A script that runs inside the sandbox, before the transform, when a payload has such numbers: gives `fill`, which
 * puts objects in their places (an empty text: there are none), and `print`, which JSON.stringify uses. The object of a
 * number is the same wherever it stands, so that `===` finds it. `isLoud`: going through its members is an error, where
 * code would take it for an empty object.
 */
export const NUMBERS = `((isLoud) => {
  const { stringify, parse } = JSON, { isArray } = Array;
  let objects, doubles, mark;
  const known = new WeakMap();
  const nearest = (value) => known.has(value) ? Number(known.get(value)) : value;
  const equal = (number, other) => typeof other === 'string' ? known.get(number) === other : nearest(number) === nearest(other);
  // The names by which Liquid compares.
  const prototype = Object.freeze({
    toString() { return known.get(this); },
    valueOf() { return nearest(this); },
    [Symbol.toPrimitive](hint) { return hint === 'number' ? nearest(this) : known.get(this); },
    equals(other) { return equal(this, other); },
    gt(other) { return nearest(this) > nearest(other); },
    geq(other) { return nearest(this) >= nearest(other); },
    lt(other) { return nearest(this) < nearest(other); },
    leq(other) { return nearest(this) <= nearest(other); },
  });
  function objectOf(text) {
    const before = objects.get(text);
    if (before !== undefined) return before;
    const plain = Object.freeze(Object.create(prototype));
    const number = isLoud ? new Proxy(plain, { ownKeys() {
      throw new TypeError(text + ' does not fit in a JavaScript number, so it is an object without properties: String(value) returns its digits, and Number(value) the nearest number');
    } }) : plain;
    known.set(number, text);
    objects.set(text, number);
    return number;
  }
  function put(event, members) {
    for (const places = [[event, members]]; places.length > 0; ) {
      const [container, below] = places.pop();
      for (const [key, what] of below) {
        if (typeof what === 'string') container[key] = objectOf(what);
        else places.push([container[key], what]);
      }
    }
  }
  function print(value) {
    const text = typeof value === 'number' ? doubles.get(value) : known.get(value);
    return text === undefined ? value : mark + text;
  }
  const unmark = (json) => json.split('"' + mark).map((part, index) => index === 0 ? part : part.replace('"', '')).join('');
  JSON.stringify = function (value, replacer, space) {
    const names = isArray(replacer) ? replacer.map(String) : null;
    const json = stringify(value, function (key, member) {
      if (names !== null && this[''] !== value && !isArray(this) && !names.includes(key)) return undefined;
      return print(typeof replacer === 'function' ? replacer.call(this, key, member) : member);
    }, space);
    return json === undefined || mark === '' ? json : unmark(json);
  };
  return {
    fill(event, told) {
      const { members, doubles: texts, mark: before } = told === '' ? { members: [], doubles: [], mark: '' } : parse(told);
      mark = before;
      objects = new Map();
      doubles = new Map(texts.map((text) => [Number(text), text]));
      put(event, members);
    },
    print,
  };
})`;
