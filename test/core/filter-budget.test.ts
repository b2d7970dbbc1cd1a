import { expect } from 'chai';
import { Budget, BudgetError, STEPS_PER_MS } from '../../core/fairness/budget.ts';
import { lookupPath } from '../../core/text/dotted-path.ts';
import { compileFilter, type FilterCondition } from '../../core/filters/filter.ts';
import { filteredRequest } from '../support/raw-request.ts';

/** The ms of a budget that a filter takes. */
function costOf(conditions: FilterCondition[], payload: unknown): number {
  const budget = new Budget(1_000_000);
  compileFilter(conditions, 'OR').explain(filteredRequest(payload), budget);
  return 1_000_000 - budget.leftMs;
}

const times = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item);

/** An array, and how often something was read from it. */
function watched(length: number) {
  let looks = 0;
  const get = (target: object, key: PropertyKey): unknown => {
    looks += 1;
    return Reflect.get(target, key);
  };
  return { payload: new Proxy(times(length, 'a'), { get }), looks: () => looks };
}

describe('the budget of a filter', () => {
  const objects = (count: number) => Array.from({ length: count }, (_, n) => ({ id: n, kind: 'x' }));
  const all = (operator: string, value: unknown): FilterCondition => ({ field: 'payload[*]', operator, value });
  const others = objects(100).map((one) => ({ ...one, a: 1 }));
  const search = { field: 'text', operator: 'matches', value: '(a|b)*c' };
  const rows: [string, (size: number) => [FilterCondition[], unknown]][] = [
    ['searches in a text', (size) => [[search], { text: 'ab'.repeat(size) }]],
    ['elements of an array', (size) => [[{ ...all('equals', 'x'), field: 'payload[*].id' }], objects(size)]],
    ['comparisons with the objects of a list', (size) => [[all('in', others)], objects(size)]],
    [
      'elements that an array contains',
      (size) => [[{ ...all('contains', { a: 1 }), field: 'payload' }], objects(size)],
    ],
    ['conditions', (size) => [times(size / 20, all('equals', 1)), times(1000, 0)]],
    ['texts that are searched for a text', (size) => [[all('contains', 'b')], times(size, 'a'.repeat(100))]],
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
    const among = (count: number) => times(count, null).map((_, n) => ({ kind: 'x', id: -1 - n }));
    const cost = (count: number) => costOf([all('in', among(count))], objects(5000));
    expect(cost(1000) / cost(10)).to.be.within(0.9, 1.1);
  });

  it('ends the work before it is done', () => {
    const { payload, looks } = watched(50_000);
    const filter = compileFilter(times(50, all('equals', 'b')), 'OR');
    const budget = new Budget(1);
    expect(() => filter.takes(filteredRequest(payload), budget)).to.throw(BudgetError);
    expect(looks()).to.be.lessThan(2 * STEPS_PER_MS);
    expect(() => budget.spend(1), 'nothing is left for the next one').to.throw(BudgetError);
  });

  it('says which field leads to too many values', () => {
    const filter = compileFilter([{ field: 'payload[*]', operator: 'exists' }], 'AND');
    expect(filter.takes(filteredRequest(times(100_000, 1)), new Budget(1000))).to.equal(true);
    const tooMany = filteredRequest(times(100_001, 1));
    expect(() => filter.takes(tooMany, new Budget(1000))).to.throw(BudgetError, /payload\[\*\] matches/);
  });

  it('reads no more values than tell that there are too many', () => {
    const { payload, looks } = watched(5_000_000);
    const filter = compileFilter(times(50, all('equals', 'b')), 'AND');
    expect(() => filter.takes(filteredRequest(payload), new Budget(1000))).to.throw(
      BudgetError,
      /payload\[\*\] matches/,
    );
    expect(looks()).to.be.within(100_001, 100_010);
  });

  it('counts what compiling takes', () => {
    const patterns = times(10, { field: 'a', operator: 'matches', value: 'x'.repeat(1000) });
    expect(() => compileFilter(patterns, 'OR', new Budget(1))).to.throw(BudgetError);
  });
});
