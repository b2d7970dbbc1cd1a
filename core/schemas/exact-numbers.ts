// Schemas and payloads with numbers that a double does not hold. The validator's own code sees a payload with the
// nearest doubles, which is enough for types; the keywords about values of numbers are replaced by ones that see the
// exact payload.
import type { Ajv, ErrorObject } from 'ajv';
import type { DataValidationCxt } from 'ajv/dist/types/index.js';
import {
  canonicalText,
  compareNumbers,
  ExactNumber,
  isJsonNumber,
  isMultiple,
  isWhole,
  type JsonNumber,
} from '../text/exact-json.ts';

const COMPARISONS: Record<string, [sign: string, holds: (sign: number) => boolean]> = {
  maximum: ['<=', (sign) => sign <= 0],
  minimum: ['>=', (sign) => sign >= 0],
  exclusiveMaximum: ['<', (sign) => sign < 0],
  exclusiveMinimum: ['>', (sign) => sign > 0],
};
const KEEP = new Set([...Object.keys(COMPARISONS), 'multipleOf', 'const', 'enum']);

export function hasExactNumbers(value: unknown): boolean {
  if (value instanceof ExactNumber) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasExactNumbers);
}

/** A schema with doubles in all places but those of the keywords below. @param keepsExact false: in these too */
export function roundSchema(schema: unknown, keepsExact: boolean): unknown {
  return copy(schema, (key, value) => (keepsExact && KEEP.has(key) && !isSchema(value) ? { as: value } : null));
}

// A property may be called `maximum`; its schema is no number.
const isSchema = (value: unknown): boolean =>
  typeof value === 'boolean' || (typeof value === 'object' && !Array.isArray(value) && !(value instanceof ExactNumber));

type Originals = WeakMap<object, object>;

/** A copy with doubles. @param keep gives what stands for a member, or null for a copy of it */
function copy(
  value: unknown,
  keep: (key: string, value: unknown) => { as: unknown } | null,
  originals?: Originals,
): unknown {
  if (value instanceof ExactNumber) return doubleOf(value);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([key, member]): [string, unknown] => {
    const kept = keep(key, member);
    return [key, kept === null ? copy(member, keep, originals) : kept.as];
  });
  // An object from entries has `__proto__` as a member.
  const copied = Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members);
  originals?.set(copied, value);
  return copied;
}

/** A double of the same type: finite, and whole where the number is. */
function doubleOf(number: ExactNumber): number {
  const double = Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, Number(number)));
  return Number.isInteger(double) && !isWhole(String(number)) ? 0.5 : double;
}

/** A payload on its way through a validator that has `addExactKeywords`. */
export interface ExactRun {
  validate(payload: unknown, check: (rounded: unknown) => boolean): boolean;
}

export function addExactKeywords(ajv: Ajv): ExactRun {
  let root: unknown;
  let originals: Originals = new WeakMap();

  function exact(data: unknown, context: DataValidationCxt | undefined): unknown {
    if (typeof data === 'object' && data !== null) return originals.get(data) ?? data;
    const parent: unknown = context?.parentData;
    if (typeof parent !== 'object' || parent === null) return typeof data === 'number' ? root : data;
    return Reflect.get(originals.get(parent) ?? {}, context?.parentDataProperty ?? '') ?? data;
  }

  function replace(keyword: string, holdsFor: (wanted: unknown) => (actual: unknown) => string | null): void {
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      keyword,
      errors: true,
      compile(wanted: unknown) {
        const holds = holdsFor(wanted);
        const check: { (data: unknown, context?: DataValidationCxt): boolean; errors?: Partial<ErrorObject>[] } = (
          data,
          context,
        ) => {
          const message = holds(exact(data, context));
          const params = { allowedValue: wanted, allowedValues: wanted };
          check.errors = message === null ? [] : [{ keyword, message, params }];
          return message === null;
        };
        return check;
      },
    });
  }

  for (const [keyword, [sign, holds]] of Object.entries(COMPARISONS)) {
    replace(
      keyword,
      (limit) => (actual) =>
        !isJsonNumber(actual) || holds(compareNumbers(actual, limit as JsonNumber))
          ? null
          : `must be ${sign} ${String(limit)}`,
    );
  }
  replace(
    'multipleOf',
    (factor) => (actual) =>
      !isJsonNumber(actual) || isMultiple(String(actual), String(factor))
        ? null
        : `must be a multiple of ${String(factor)}`,
  );
  replace('const', (wanted) => {
    const text = canonicalText(wanted);
    return (actual) => (canonicalText(actual) === text ? null : 'must be equal to constant');
  });
  replace('enum', (wanted) => {
    const texts = new Set((wanted as unknown[]).map((value) => canonicalText(value)));
    return (actual) => (texts.has(canonicalText(actual)) ? null : 'must be equal to one of the allowed values');
  });
  replace(
    'uniqueItems',
    (wanted) => (actual) =>
      wanted === true && Array.isArray(actual) && holdsTwice(actual) ? 'must NOT have duplicate items' : null,
  );

  return {
    validate(payload, check) {
      root = payload;
      originals = new WeakMap();
      return check(copy(payload, () => null, originals));
    },
  };
}

function holdsTwice(elements: readonly unknown[]): boolean {
  return new Set(elements.map((element) => canonicalText(element))).size < elements.length;
}
