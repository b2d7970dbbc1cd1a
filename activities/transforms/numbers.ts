// Numbers that a double does not hold, on their way through a transform (docs/transforms.md, "Numbers"). QuickJS knows
// doubles only, so the host finds these numbers in the payload and tells the sandbox where they are.
import { decimalKey } from '../../core/numbers/decimal.ts';
import { ExactNumber, mayBeInexact, parseExact } from '../../core/numbers/exact-json.ts';

/** `objects`: every number that is not exact becomes an object; `mixed`: fractions stay numbers where they can. */
export type NumberForm = 'objects' | 'mixed';

/** JSON for the sandbox. `fill` of NUMBERS takes it. */
interface Told {
  /** Where objects go, by the members that lead there; below `payload`. */
  members: Members;
  /** Numbers that stay doubles, and are printed with these digits. */
  doubles: string[];
  /** What stands before digits where JSON is made. */
  mark: string;
}
type Members = [key: string | number, what: string | Members][];

/** @returns what the sandbox is to be told of the numbers of a payload; null when all are exact, or it is no JSON */
export function tellNumbers(body: string, form: NumberForm, seed: number): string | null {
  if (!mayBeInexact(body)) return null;
  try {
    const payload = parseExact(body);
    const doubles = form === 'mixed' ? findDoubles(payload) : new Map<number, string>();
    const members = membersOf({ payload }, doubles);
    if (members.length === 0 && doubles.size === 0) return null;
    return JSON.stringify({ members, doubles: [...doubles.values()], mark: markFor(seed) } satisfies Told);
  } catch (error) {
    // No JSON, or nested more deeply than QuickJS reads.
    if (error instanceof SyntaxError || error instanceof RangeError) return null;
    throw error;
  }
}

/** Follows from the id of the event, which nobody knows who sends it. */
export const markFor = (seed: number): string => `number:${seed.toString(16)}:`;

/** JSON with digits in place of the marked strings. */
export function unmark(json: string, seed: number): string {
  const [first = '', ...marked] = json.split(`"${markFor(seed)}`);
  return first + marked.map((part) => part.replace('"', '')).join('');
}

/** Fractions that their double tells from every other number of the payload. */
function findDoubles(payload: unknown): Map<number, string> {
  const doubles = new Map<number, string>();
  const shared = new Set<number>();
  for (const number of numbersOf(payload)) {
    if (typeof number === 'number' || !isDouble(number)) continue;
    const [double, text] = [Number(number), String(number)];
    const other = doubles.get(double) ?? text;
    if (decimalKey(other) !== decimalKey(text)) shared.add(double);
    doubles.set(double, text);
  }
  for (const number of numbersOf(payload)) if (typeof number === 'number') doubles.delete(number);
  for (const double of shared) doubles.delete(double);
  return doubles;
}

/** Not an id, which a double would spoil, and not beyond the range of doubles. */
function isDouble(number: ExactNumber): boolean {
  const text = String(number);
  return /[.eE]/.test(text) && Number.isFinite(Number(text)) && Number(text) !== 0;
}

function* numbersOf(value: unknown): Generator<number | ExactNumber> {
  if (typeof value === 'number' || value instanceof ExactNumber) yield value;
  else if (Array.isArray(value)) for (const element of value) yield* numbersOf(element);
  else if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) yield* numbersOf(member);
}

function membersOf(container: object, doubles: ReadonlyMap<number, string>): Members {
  return Object.entries(container).flatMap(([key, value]): Members => {
    if (value instanceof ExactNumber)
      return doubles.has(Number(value)) && isDouble(value) ? [] : [[key, String(value)]];
    if (typeof value !== 'object' || value === null) return [];
    const members = membersOf(value, doubles);
    return members.length === 0 ? [] : [[key, members]];
  });
}

/**
 * A script that runs inside the sandbox, before the transform, when a payload has such numbers: gives `fill`, which puts
 * objects in their places (an empty text: there are none), and `print`, which JSON.stringify uses. The object of a number is the same wherever it stands,
 * so that `===` finds it. `isLoud`: going through its members is an error, where code would take it for an empty object.
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
      throw new TypeError(text + ' does not fit in a JavaScript number, so it is an object without members: String(value) gives its digits, Number(value) the nearest number');
    } }) : plain;
    known.set(number, text);
    objects.set(text, number);
    return number;
  }
  function put(container, members) {
    for (const [key, what] of members) {
      if (typeof what === 'string') container[key] = objectOf(what);
      else put(container[key], what);
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
