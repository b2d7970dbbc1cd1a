import { expect } from 'chai';
import { Budget, BudgetError, NO_LIMIT } from '../../core/fairness/budget.ts';
import type { FilterCondition } from '../../core/filters/filter.ts';
import { Gate, type GateDefinition, keyInPayload, type SchemaCheck } from '../../core/filters/schema-and-filter.ts';
import {
  type FilterText,
  filterText,
  type SchemaText,
  schemaText,
} from '../../core/filters/stored-schemas-and-filters.ts';
import { compileSchema } from '../../core/schemas/schema.ts';
import { filteredRequest } from '../support/raw-request.ts';

const schema = schemaText({ id: 'sch_1', name: 'Orders', version: 2, json: '{"type":"object"}' });
const filterOf = (...conditions: FilterCondition[]) =>
  filterText({ id: 'flt_1', logic: 'AND', json: JSON.stringify(conditions) });
const invalid = filterOf({ field: 'a', operator: 'x' });
const paid = filterOf({ field: 'kind', operator: 'equals', value: 'paid' });
const request = (payload: unknown) => ({ ...filteredRequest(payload), size: 10 });
const check: SchemaCheck<SchemaText> = ({ schema: text }, { payload, size }, budget) => {
  budget.spend(1);
  return compileSchema(text).validate(payload(), size);
};
type Definition = GateDefinition<SchemaText, FilterText>;
const gateOf = (definition: Definition) => new Gate<SchemaText, FilterText>(definition);
const pass = (definition: Definition, payload: unknown, budget = NO_LIMIT) =>
  gateOf(definition).passOrFail(request(payload), budget, check);

describe('the gate of a route', () => {
  const mismatch = 'The payload does not match the schema Orders (version 2): the payload must be object';
  const rows: [what: string, Definition, payload: unknown, expected: object][] = [
    ['without schema and filter', { schema: null, filter: null }, 1, { kind: 'taken' }],
    ['with a schema that matches', { schema, filter: null }, {}, { kind: 'taken' }],
    ['with a schema that does not match', { schema, filter: paid }, 1, { kind: 'schema_failed', error: mismatch }],
    ['with a filter that accepts', { schema, filter: paid }, { kind: 'paid' }, { kind: 'taken' }],
    ['with a filter that refuses', { schema, filter: paid }, { kind: 'new' }, { kind: 'filtered' }],
    ['with a filter that is invalid', { schema: null, filter: invalid }, {}, { kind: 'filtered' }],
  ];
  for (const [what, definition, payload, expected] of rows)
    it(`${what}: ${Object.values(expected).join()}`, () => {
      expect(pass(definition, payload)).to.deep.equal(expected);
      expect(gateOf(definition).pass(request(payload), NO_LIMIT, check)).to.deep.equal(expected);
    });

  it('fails when the budget does not suffice, or says so', () => {
    const error = /^The payload was not checked against the schema: .*too much time/;
    const nothing = new Budget(0);
    const schemaFailed = pass({ schema, filter: null }, {}, nothing) as { error?: string };
    expect(schemaFailed).to.have.property('kind', 'schema_failed');
    expect(schemaFailed.error).to.match(error);
    const failed = pass({ schema: null, filter: paid }, {}, nothing) as { error?: string };
    expect(failed).to.have.property('kind', 'filter_failed');
    expect(failed.error).to.match(/^The filter was not applied: /);
    // Reading the conditions costs steps, too.
    const unread = pass({ schema: null, filter: paid }, {}, new Budget(paid.readSteps / 50_000));
    expect(unread).to.have.property('kind', 'filter_failed');
    expect(() => gateOf({ schema: null, filter: paid }).pass(request({}), nothing, check)).to.throw(BudgetError);
    const broken = gateOf({ schema, filter: null });
    expect(() => broken.passOrFail(request({}), NO_LIMIT, () => expect.fail('bug'))).to.throw('bug');
  });

  it('shows schema and filter as they were stored, with every digit of their numbers', () => {
    const filter = filterText({ id: 'f', logic: 'OR', json: '[{"value":9007199254740993}]' });
    expect(filter.whole).to.equal('{"conditions":[{"value":9007199254740993}],"logic":"OR"}');
    const exact = schemaText({ id: 's', name: 'A', version: 1, json: '{"const":9007199254740993}' });
    expect(exact.whole).to.equal('{"id":"s","name":"A","version":1,"schema":{"const":9007199254740993}}');
    expect(JSON.parse(exact.whole)).to.have.property('version', 1);
  });
});

it('different values in a payload are different idempotency keys', () => {
  const keys: [value: unknown, key: string | undefined][] = [
    ['evt-1', 'evt-1'],
    [1, '1'],
    ['1', '"1"'],
    [true, 'true'],
    ['true', '"true"'],
    ['"a"', String.raw`"\"a\""`],
    [{ a: 1 }, '{"a":1}'],
    ['{"a":1}', String.raw`"{\"a\":1}"`],
    ['\ud800', String.raw`"\ud800"`],
    [null, undefined],
    [undefined, undefined],
  ];
  for (const [value, key] of keys)
    expect(keyInPayload({ id: value }, 'id', NO_LIMIT), JSON.stringify(value)).to.equal(key);
});
