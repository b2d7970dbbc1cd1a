// Filters count their work before they do it.
import { expect } from 'chai';
import { Budget, BudgetError, STEPS_PER_MS } from '../../core/fairness/budget.ts';
import { lookupPath } from '../../core/text/dotted-path.ts';
import { compileFilter, type FilterCondition, type FilteredRequest } from '../../core/filters/filter.ts';

const request = (payload: unknown): FilteredRequest => ({
  method: 'POST',
  headers: {},
  path: '',
  query: () => new URLSearchParams(),
  payload: () => payload,
});

/** The ms of a budget that a filter takes. */
function costOf(conditions: FilterCondition[], payload: unknown): number {
  const budget = new Budget(1_000_000);
  compileFilter(conditions, 'OR').explain(request(payload), budget);
  return 1_000_000 - budget.leftMs;
}

const times = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item);

describe('the budget of a filter', () => {
  const objects = (count: number) => Array.from({ length: count }, (_, n) => ({ id: n, kind: 'x' }));
  const rows: [string, (size: number) => [FilterCondition[], unknown]][] = [
    [
      'searches in a text',
      (size) => [[{ field: 'text', operator: 'matches', value: '(a|b)*c' }], { text: 'ab'.repeat(size) }],
    ],
    ['elements of an array', (size) => [[{ field: 'payload[*].id', operator: 'equals', value: 'x' }], objects(size)]],
    [
      'comparisons with the objects of a list',
      (size) => [
        [{ field: 'payload[*]', operator: 'in', value: objects(100).map((one) => ({ ...one, a: 1 })) }],
        objects(size),
      ],
    ],
    [
      'elements that an array contains',
      (size) => [[{ field: 'payload', operator: 'contains', value: { a: 1 } }], objects(size)],
    ],
    ['conditions', (size) => [times(size / 20, { field: 'payload[*]', operator: 'equals', value: 1 }), times(1000, 0)]],
    [
      'texts that are searched for a text',
      (size) => [[{ field: 'payload[*]', operator: 'contains', value: 'b' }], times(size, 'a'.repeat(100))],
    ],
  ];
  for (const [what, of] of rows) {
    it(`grows with ${what}`, () => {
      const [small, large] = [costOf(...of(500)), costOf(...of(5000))];
      expect(large / small).to.be.within(5, 15);
    });
  }

  it('counts each step of a path, each value it starts from, and each element of `[*]`', () => {
    const stepsOf = (path: string, value: unknown) => {
      const budget = new Budget(1000);
      lookupPath(value, path, budget);
      return Math.round((1000 - budget.leftMs) * STEPS_PER_MS);
    };
    const rows = { rows: objects(10) };
    expect([stepsOf('rows', rows), stepsOf('rows[*]', rows), stepsOf('rows[*].id', rows)]).to.deep.equal([2, 14, 25]);
  });

  it('does not grow with the objects of a list, when a member tells them apart', () => {
    const among = (count: number): FilterCondition => ({
      field: 'payload[*]',
      operator: 'in',
      value: times(count, null).map((_, n) => ({ kind: 'x', id: -1 - n })),
    });
    const cost = (count: number) => costOf([among(count)], objects(5000));
    expect(cost(1000) / cost(10)).to.be.within(0.9, 1.1);
  });

  it('ends the work before it is done', () => {
    let looked = 0;
    const payload = new Proxy(times(50_000, 'a'), {
      get: (target, key) => {
        looked += 1;
        return Reflect.get(target, key) as unknown;
      },
    });
    const filter = compileFilter(times(50, { field: 'payload[*]', operator: 'equals', value: 'b' }), 'OR');
    const budget = new Budget(1);
    expect(() => filter.takes(request(payload), budget)).to.throw(BudgetError);
    expect(looked).to.be.lessThan(2 * STEPS_PER_MS);
    expect(() => budget.spend(1), 'nothing is left for the next one').to.throw(BudgetError);
  });

  it('says which field leads to too many values', () => {
    const filter = compileFilter([{ field: 'payload[*]', operator: 'exists' }], 'AND');
    expect(filter.takes(request(times(100_000, 1)), new Budget(1000))).to.equal(true);
    expect(() => filter.takes(request(times(100_001, 1)), new Budget(1000))).to.throw(
      BudgetError,
      /payload\[\*\] matches/,
    );
  });

  it('reads no more values than tell that there are too many', () => {
    let read = 0;
    const payload = new Proxy(times(5_000_000, 1), {
      get: (target, key) => {
        read += 1;
        return Reflect.get(target, key) as unknown;
      },
    });
    const filter = compileFilter(times(50, { field: 'payload[*]', operator: 'equals', value: 'b' }), 'AND');
    expect(() => filter.takes(request(payload), new Budget(1000))).to.throw(BudgetError, /payload\[\*\] matches/);
    expect(read).to.be.within(100_001, 100_010);
  });

  it('counts what compiling takes', () => {
    const patterns = times(10, { field: 'a', operator: 'matches', value: 'x'.repeat(1000) });
    expect(() => compileFilter(patterns, 'OR', new Budget(1))).to.throw(BudgetError);
  });
});
