import { expect } from 'chai';
import {
  compileFilter,
  ConditionError,
  type FilterCondition,
  type FilteredRequest,
  filterProblems,
  hasTooManyPatterns,
} from '../../core/filters/filter.ts';

const item = (sku: string, price: number) => ({ sku, price });
const order = {
  ...{ id: 7, code: '007', total: 12.5, totalText: '12.50', kind: 'order.paid', test: false, note: null, none: [] },
  ...{ tags: ['new', 'vip', 3], customer: { name: 'Ann', address: { city: 'Oslo' } } },
  ...{ items: [item('A-1', 5), item('B-2', 50)], headers: 'in the payload', method: 'in the payload' },
  ...{ at: '2026-11-21T10:00:00Z', live: 'false', paid: 'true' },
};

function request(payload: unknown = order): FilteredRequest {
  return {
    method: 'POST',
    headers: { 'x-kind': 'Order', 'x-count': '5', 'x.dotted': 'yes' },
    path: '/orders/new%20one',
    query: () => new URLSearchParams('page=2&tag=a&tag=b&flag='),
    payload: () => payload,
  };
}

const meets = (condition: FilterCondition, payload?: unknown): boolean =>
  compileFilter([condition], 'AND').takes(request(payload));

describe('filter conditions', () => {
  const table: [string, string, unknown, boolean][] = [
    // where a field leads
    ['payload.id', 'equals', 7, true],
    ['body.id', 'equals', 7, true],
    ['id', 'equals', 7, true],
    ['$.id', 'equals', 7, true],
    ['$.payload.id', 'equals', 7, true],
    ['customer.address.city', 'equals', 'Oslo', true],
    ['headers.X-Kind', 'equals', 'Order', true],
    ['headers.x-kind', 'equals', 'order', false],
    ['headers.x.dotted', 'exists', undefined, true],
    ['headers.absent', 'exists', undefined, false],
    ['headers.constructor', 'exists', undefined, false],
    ['headers', 'equals', 'in the payload', true],
    ['payload.method', 'equals', 'in the payload', true],
    ['method', 'equals', 'POST', true],
    ['query.page', 'equals', '2', true],
    ['query.tag', 'equals', 'b', true],
    ['query.flag', 'exists', undefined, true],
    ['query.absent', 'not_exists', undefined, true],
    ['request.path', 'equals', '/orders/new%20one', true],
    ['request.path', 'starts_with', '/refunds', false],
    ['payload.request.path', 'exists', undefined, false],
    ['items.1.sku', 'equals', 'B-2', true],
    ['items[1].sku', 'equals', 'B-2', true],
    ['items[*].sku', 'equals', 'B-2', true],
    ['items[*].sku', 'equals', 'C', false],
    ['items[*].price', 'gt', 40, true],
    ['none[*].sku', 'exists', undefined, false],
    // equality
    ['id', 'equals', '7', true],
    ['id', 'equals', '7.0', true],
    ['id', 'equals', 'seven', false],
    ['code', 'equals', 7, false],
    ['code', 'equals', '007', true],
    ['totalText', 'equals', 12.5, true],
    ['totalText', 'equals', '12.5', false],
    ['headers.x-count', 'equals', 5, true],
    ['test', 'equals', false, true],
    ['test', 'equals', 'false', true],
    ['test', 'equals', 0, false],
    ['live', 'equals', false, true],
    ['live', 'equals', true, false],
    ['paid', 'equals', true, true],
    ['paid', 'equals', false, false],
    ['note', 'equals', null, true],
    ['note', 'equals', 'null', false],
    ['note', 'equals', '', false],
    ['absent', 'equals', null, false],
    ['tags', 'equals', ['new', 'vip', 3], true],
    ['tags', 'equals', ['new', 'vip'], false],
    ['tags', 'equals', 'new', false],
    ['customer', 'equals', { address: { city: 'Oslo' }, name: 'Ann' }, true],
    ['customer', 'equals', { name: 'Ann' }, false],
    ['kind', 'not_equals', 'order.paid', false],
    ['kind', 'not_equals', 'x', true],
    ['absent', 'not_equals', 'x', true],
    ['items[*].sku', 'not_equals', 'A-1', true],
    // text
    ['kind', 'contains', 'der.p', true],
    ['kind', 'contains', 'DER', false],
    ['id', 'contains', 7, true],
    ['tags', 'contains', 'vip', true],
    ['tags', 'contains', '3', true],
    ['tags', 'contains', 'vi', false],
    ['tags', 'not_contains', 'vip', false],
    ['absent', 'not_contains', 'vip', true],
    ['customer', 'contains', 'name', false],
    ['kind', 'starts_with', 'order.', true],
    ['kind', 'starts_with', 'paid', false],
    ['kind', 'ends_with', 'paid', true],
    ['note', 'starts_with', '', false],
    ['kind', 'matches', '^order\\.(paid|sent)$', true],
    ['kind', 'regex', 'paid', true],
    ['kind', 'matches', '^paid', false],
    ['kind', 'matches', '(?i)PAID$', true],
    ['total', 'matches', '^12', true],
    ['customer.name', 'matches', '\\u0041nn', true],
    // order
    ['total', 'gt', 12, true],
    ['total', 'gt', '12', true],
    ['total', 'greater_than', 12.5, false],
    ['total', 'gte', 12.5, true],
    ['total', 'lt', 12.5, false],
    ['total', 'less_than', 13, true],
    ['total', 'lte', 12.5, true],
    ['headers.x-count', 'lt', 10, true],
    ['headers.x-count', 'lt', '10', true],
    ['kind', 'gt', 5, false],
    ['kind', 'gt', 'order.a', true],
    ['at', 'gte', '2026-11-21T09:59:59Z', true],
    ['note', 'lte', 0, false],
    ['test', 'lte', 0, false],
    ['absent', 'lt', 5, false],
    // lists
    ['kind', 'in', ['order.sent', 'order.paid'], true],
    ['kind', 'in', 'order.sent, order.paid', true],
    ['kind', 'in', [], false],
    ['id', 'in', '5,6,7', true],
    ['id', 'in', [5, 6], false],
    ['test', 'in', 'true,false', true],
    ['kind', 'not_in', 'a,b', true],
    ['kind', 'not_in', ['order.paid'], false],
    ['absent', 'not_in', 'a', true],
    // presence
    ['note', 'exists', undefined, true],
    ['absent', 'exists', undefined, false],
    ['items[5]', 'not_exists', undefined, true],
  ];
  for (const [field, operator, value, met] of table) {
    it(`${field} ${operator} ${JSON.stringify(value) ?? ''} is ${met}`, () => {
      expect(meets({ field, operator, value })).to.equal(met);
    });
  }

  it('see a payload that is no JSON as its text', () => {
    expect(meets({ field: 'payload', operator: 'contains', value: 'b=2' }, 'a=1&b=2')).to.equal(true);
    expect(meets({ field: 'payload.b', operator: 'exists' }, 'a=1&b=2')).to.equal(false);
  });

  it('do not read the payload for headers, query and method', () => {
    const untouched: FilteredRequest = { ...request(), payload: () => expect.fail('the payload was read') };
    const conditions = [
      { field: 'headers.x-kind', operator: 'exists' },
      { field: 'query.page', operator: 'gt', value: 1 },
      { field: 'method', operator: 'in', value: 'POST,PUT' },
    ];
    expect(compileFilter(conditions, 'AND').takes(untouched)).to.equal(true);
  });

  it('search long texts within bounds', () => {
    const text = 'ab'.repeat(2_000_000);
    const matches = (value: string, of: string) => meets({ field: 'payload', operator: 'matches', value }, of);
    expect(matches('((a|b)*a(a|b){90}){3}[cd]', text)).to.equal(false);
    expect(matches('ba$|z', `${text.slice(0, 20_000)}z`)).to.equal(true);
  });

  const large = { a: 'x'.repeat(9_993) };
  const refused: [string, FilterCondition, keyof FilterCondition, RegExp][] = [
    ['an unknown operator', { field: 'a', operator: 'like', value: 1 }, 'operator', /must be one of equals/],
    ['a name every object has', { field: 'a', operator: 'constructor', value: 1 }, 'operator', /must be one of/],
    ['a malformed path', { field: 'a..b', operator: 'exists' }, 'field', /dotted path/],
    ['no value', { field: 'a', operator: 'equals' }, 'value', /required/],
    ['a pattern that is no text', { field: 'a', operator: 'matches', value: 5 }, 'value', /string/],
    ['a malformed pattern', { field: 'a', operator: 'matches', value: '(' }, 'value', /RE2/],
    ['a look-ahead', { field: 'a', operator: 'matches', value: '(?=a)b' }, 'value', /RE2/],
    ['a back-reference', { field: 'a', operator: 'matches', value: '(a)\\1' }, 'value', /RE2/],
    ['a huge pattern', { field: 'a', operator: 'matches', value: '[ab]{999}'.repeat(50) }, 'value', /repeats too much/],
    ['a long pattern', { field: 'a', operator: 'matches', value: 'a'.repeat(1001) }, 'value', /1000 characters/],
    ['an order without a scale', { field: 'a', operator: 'gt', value: true }, 'value', /number or a string/],
    ['a list that is none', { field: 'a', operator: 'in', value: 5 }, 'value', /array/],
    ['no list', { field: 'a', operator: 'in' }, 'value', /required/],
    ['a long list as text', { field: 'a', operator: 'not_in', value: ','.repeat(1000) }, 'value', /1000 items/],
    ['a long element', { field: 'a', operator: 'in', value: [1, 'x'.repeat(10_001)] }, 'value', /10000 characters/],
    ['a large object', { field: 'a', operator: 'equals', value: large }, 'value', /10000 characters/],
    ['a long list', { field: 'a', operator: 'in', value: Array(1001).fill(1) }, 'value', /1000 items/],
    ['a long text', { field: 'a', operator: 'equals', value: 'x'.repeat(10_001) }, 'value', /10000 characters/],
  ];
  for (const [what, condition, member, message] of refused) {
    it(`are refused with ${what}`, () => {
      const [problem] = filterProblems([condition]);
      expect(problem?.index).to.equal(0);
      expect(problem?.error).to.be.instanceOf(ConditionError).and.to.include({ member });
      expect(problem?.error.message).to.match(message);
    });
  }

  it('take values that are as long as they may be, and accept everything where there is none', () => {
    const values: [operator: string, value: unknown][] = [
      ['equals', 'x'.repeat(10_000)],
      ['equals', { a: 'x'.repeat(9_992) }],
      ['in', Array(1000).fill(1)],
      ['in', ','.repeat(999)],
      ['matches', 'a'.repeat(1000)],
    ];
    expect(filterProblems(values.map(([operator, value]) => ({ field: 'a', operator, value })))).to.deep.equal([]);
    for (const logic of ['AND', 'OR'] as const) expect(compileFilter([], logic).takes(request())).to.equal(true);
    const onPath: FilterCondition = { field: 'request.path', operator: 'exists' };
    expect(meets(onPath)).to.equal(true);
    expect(compileFilter([onPath], 'AND').takes({ ...request(), path: '' })).to.equal(false);
  });

  it('may search with a regular expression at most ten times', () => {
    const pattern = { field: 'a', operator: 'matches', value: 'x' };
    expect(hasTooManyPatterns(Array(10).fill(pattern))).to.equal(false);
    expect(hasTooManyPatterns([...Array(10).fill(pattern), { ...pattern, operator: 'regex' }])).to.equal(true);
  });
});
