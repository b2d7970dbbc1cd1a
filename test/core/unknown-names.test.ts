import { expect } from 'chai';
import { z } from 'zod';
import { nearestName } from '../../core/text/words.ts';
import { memberNames, unknownMembers } from '../../core/text/unknown-members.ts';

describe('The nearest known name', () => {
  const known = ['page', 'pageSize', 'sourceId', 'destinationId', 'status', 'from', 'to', 'search', 'maxRetries'];
  const cases: [name: string, nearest: string | null][] = [
    ['destnationId', 'destinationId'],
    ['destination_id', 'destinationId'],
    ['DESTINATIONID', 'destinationId'],
    ['pagesize', 'pageSize'],
    ['size', 'pageSize'],
    ['source', 'sourceId'],
    ['sttaus', 'status'],
    ['form', 'from'],
    ['maxRetry', 'maxRetries'],
    ['maxRteries', 'maxRetries'],
    ['statusses', 'status'],
    ['stat', 'status'],
    ['siz', 'pageSize'],
    ['iz', null],
    ['earch', 'search'],
    ['fromm', 'from'],
    ['tp', 'to'],
    ['fr', null],
    ['frmo', 'from'],
    ['mrof', null],
    ['destination', 'destinationId'],
    ['dstntn', null],
    [`search${'x'.repeat(58)}`, null],
    ['colour', null],
    ['x', null],
    ['', null],
    ['__', null],
    ['é'.repeat(100_000), null],
  ];
  for (const [name, nearest] of cases) {
    it(`of ${JSON.stringify(name.slice(0, 20))} is ${nearest}`, () => {
      expect(nearestName(name, known)).to.equal(nearest);
    });
  }

  it('of any name is none where nothing is known', () => {
    expect(nearestName('page', [])).to.equal(null);
  });
});

const policy = z.object({ maxRetries: z.int().optional() });
const schema = z
  .object({
    name: z.string(),
    policy: policy.nullable().default({}),
    rules: z.array(z.object({ target: z.string() })).optional(),
    byName: z.record(z.string(), policy).optional(),
    anything: z.unknown().optional(),
    loose: z.looseObject({ type: z.string() }).optional(),
    config: z
      .discriminatedUnion('type', [
        z.object({ type: z.literal('a'), secret: z.string() }),
        z.object({ type: z.literal('b'), header: z.string() }),
      ])
      .optional(),
    either: z.union([z.object({ one: z.int() }), z.object({ two: z.int() })]).optional(),
    piped: z.preprocess((value) => value, policy).optional(),
    transformed: policy.transform(({ maxRetries }) => maxRetries).optional(),
  })
  .superRefine(() => undefined);

it('Members that a schema knows are named two levels deep, and no others', () => {
  const rows: [value: unknown, names: string[]][] = [
    [{ name: 'n', secret: 's', policy: { maxRetries: 1, x: 2 } }, ['name', 'policy.maxRetries']],
    [{ policy: {}, rules: [{ target: 't' }] }, ['policy', 'rules']],
    [{ config: { type: 'b', header: 'h', secret: 's' } }, ['config.type', 'config.secret', 'config.header']],
    [{ either: { two: 1 }, anything: { deep: 1 }, constructor: 1 }, ['either.two', 'anything']],
    ['name', []],
    [[{ name: 'n' }], []],
    [null, []],
  ];
  for (const [value, names] of rows)
    expect(memberNames(schema, value), JSON.stringify(value)).to.have.members(names).and.have.length(names.length);
});

describe('Members that a schema does not know', () => {
  const cases: [what: string, value: unknown, paths: string[]][] = [
    ['none', { name: 'n', policy: { maxRetries: 1 }, rules: [{ target: 't' }], anything: { x: 1 } }, []],
    ['at the top', { nmae: 'n', name: 'n' }, ['nmae']],
    ['below optional and default ones', { policy: { maxRetry: 1 } }, ['policy.maxRetry']],
    ['in lists and records', { rules: [{}, { tagret: 1 }], byName: { a: { b: 1 } } }, ['rules.1.tagret', 'byName.a.b']],
    ['in the option that the value is of', { config: { type: 'b', header: 'h', secret: 's' } }, ['config.secret']],
    ['in the option that is nearest', { either: { two: 'wrong', three: 3 } }, ['either.three']],
    ['before and after a change', { piped: { x: 1 }, transformed: { y: 1 } }, ['piped.x', 'transformed.y']],
    ['not where anything goes', { loose: { type: 't', more: 1 }, anything: [{ x: 1 }] }, []],
    ['of a value of another type', ['x', { name: 1 }], []],
    ['of an object where a text belongs', { name: { x: 1 }, rules: { x: 1 }, policy: [{ x: 1 }] }, []],
    ['not what is there without a value', { unknown: undefined }, []],
    ['with names of the language', JSON.parse('{"__proto__": {}, "constructor": 1}'), ['__proto__', 'constructor']],
  ];
  for (const [what, value, paths] of cases) {
    it(what, () => {
      expect(unknownMembers(schema, value).map(({ path }) => path.join('.'))).to.deep.equal(paths);
    });
  }

  it('come with the names that are known in their place, and whether they are refused', () => {
    expect(unknownMembers(z.strictObject({ policy, name: z.string() }), { policy: { x: 1 }, y: 1 })).to.deep.equal([
      { path: ['policy', 'x'], known: ['maxRetries'], isRefused: false },
      { path: ['y'], known: ['policy', 'name'], isRefused: true },
    ]);
  });
});
