import { expect } from 'chai';
import fc from 'fast-check';
import { NO_LIMIT } from '../../core/fairness/budget.ts';
import { compileCondition, compileFilter, type FilteredRequest, OPERATOR_NAMES } from '../../core/filters/filter.ts';

const request = (payload: unknown): FilteredRequest => ({
  method: 'POST',
  headers: {},
  path: '',
  query: () => new URLSearchParams(),
  payload: () => payload,
});

// A plain reading of the table in core/filters/comparison.ts, without look-ups or compilation.
const isNumberText = (value: unknown) =>
  typeof value === 'string' && /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(value) && value.length <= 40;
const same = (a: unknown, b: unknown): boolean => {
  if (typeof a === 'number' && isNumberText(b)) return a === Number(b);
  if (typeof b === 'number' && isNumberText(a)) return b === Number(a);
  if (typeof a === 'boolean' && typeof b === 'string') return String(a) === b;
  if (typeof b === 'boolean' && typeof a === 'string') return String(b) === a;
  return identical(a, b);
};
const identical = (a: unknown, b: unknown): boolean => {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [keys, others] = [Object.keys(a), Object.keys(b)];
  return (
    keys.length === others.length &&
    keys.every((key) => Object.hasOwn(b, key) && identical(Reflect.get(a, key), Reflect.get(b, key)))
  );
};
const text = (value: unknown) => (['string', 'number', 'boolean'].includes(typeof value) ? String(value) : null);
const sign = (a: unknown, b: unknown): number => {
  const numeric = (value: unknown) => typeof value === 'number' || isNumberText(value);
  if (numeric(a) && numeric(b)) return Math.sign(Number(a) - Number(b));
  if (typeof a !== 'string' || typeof b !== 'string') return Number.NaN;
  return a < b ? -1 : a > b ? 1 : 0;
};
const holds: Record<string, (actual: unknown, value: unknown) => boolean> = {
  equals: same,
  contains: (actual, value) =>
    Array.isArray(actual)
      ? actual.some((element) => same(element, value))
      : text(actual) !== null && text(value) !== null && String(actual).includes(String(value)),
  gt: (a, b) => sign(a, b) > 0,
  gte: (a, b) => sign(a, b) >= 0,
  lt: (a, b) => sign(a, b) < 0,
  lte: (a, b) => sign(a, b) <= 0,
};
function reference(operator: string, value: unknown, actuals: unknown[]): boolean {
  if (operator === 'exists') return actuals.length > 0;
  if (operator === 'not_exists') return actuals.length === 0;
  if (operator === 'in' || operator === 'not_in') {
    const within = (actual: unknown) => (value as unknown[]).some((element) => same(actual, element));
    if (operator === 'in') return actuals.some(within);
    return actuals.length === 0 || actuals.some((actual) => !within(actual));
  }
  const test = holds[operator.replace('not_', '')] ?? expect.fail(operator);
  if (!operator.startsWith('not_')) return actuals.some((actual) => test(actual, value));
  return actuals.length === 0 || actuals.some((actual) => !test(actual, value));
}

describe('filters agree with a plain reading of their rules', () => {
  const scalar = fc.oneof(
    fc.constantFrom('1', '1.0', '01', 'true', 'false', 'null', '', 'a', 'ab', '-0', '1e2', '100'),
    fc.constantFrom(0, 1, 100, -1, 1.5),
    fc.boolean(),
    fc.constant(null),
    fc.string({ maxLength: 3 }),
  );
  const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.dictionary(fc.constantFrom('k', 'l'), scalar));

  const operators = ['equals', 'not_equals', 'contains', 'not_contains', 'exists', 'not_exists'];
  it('for equality, containment and presence', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...operators),
        value,
        fc.array(value, { maxLength: 3 }),
        (operator, wanted, actuals) => {
          const { test } = compileCondition({ field: 'a', operator, value: wanted });
          expect(test(actuals, NO_LIMIT)).to.equal(reference(operator, wanted, actuals));
        },
      ),
      { numRuns: 2000 },
    );
  });
  it('for lists', () => {
    const list = fc.array(value, { maxLength: 4 });
    fc.assert(
      fc.property(fc.constantFrom('in', 'not_in'), list, list, (operator, wanted, actuals) => {
        const { test } = compileCondition({ field: 'a', operator, value: wanted });
        expect(test(actuals, NO_LIMIT)).to.equal(reference(operator, wanted, actuals));
      }),
      { numRuns: 2000 },
    );
  });
  it('for order', () => {
    const ordered = scalar.filter((wanted) => typeof wanted === 'string' || typeof wanted === 'number');
    fc.assert(
      fc.property(fc.constantFrom('gt', 'gte', 'lt', 'lte'), ordered, fc.array(value), (operator, wanted, actuals) => {
        const { test } = compileCondition({ field: 'a', operator, value: wanted });
        expect(test(actuals, NO_LIMIT)).to.equal(reference(operator, wanted, actuals));
      }),
      { numRuns: 2000 },
    );
  });
  it('for AND and OR', () => {
    const member = fc.constantFrom('a', 'b', 'c');
    const conditions = fc.array(
      fc.record({ field: member, operator: fc.constantFrom('equals', 'not_equals'), value: scalar }),
      { minLength: 1, maxLength: 5 },
    );
    const payload = fc.dictionary(member, scalar);
    fc.assert(
      fc.property(conditions, fc.constantFrom('AND' as const, 'OR' as const), payload, (given, logic, sent) => {
        const filter = compileFilter(given, logic);
        const each = given.map(({ field, operator, value: wanted }) =>
          reference(operator, wanted, Object.hasOwn(sent, field) ? [sent[field]] : []),
        );
        expect(filter.explain(request(sent))).to.deep.equal(each);
        expect(filter.takes(request(sent))).to.equal(logic === 'AND' ? !each.includes(false) : each.includes(true));
      }),
      { numRuns: 2000 },
    );
  });
  it('takes everything without conditions', () => {
    expect(compileFilter([], 'AND').takes(request({}))).to.equal(true);
    expect(compileFilter([], 'OR').takes(request({}))).to.equal(true);
  });
  it('never throws, whatever the payload', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...OPERATOR_NAMES),
        fc.jsonValue(),
        fc.constantFrom('a', 'a[*]', '[*]', '$'),
        (operator, sent, field) => {
          expect(compileFilter([{ field, operator, value: 'a' }], 'AND').takes(request(sent))).to.be.a('boolean');
        },
      ),
      { numRuns: 2000 },
    );
  });
});
