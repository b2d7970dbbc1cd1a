import { expect } from 'chai';
import {
  checkSchema,
  compileSchema,
  describeErrors,
  InvalidSchemaError,
  type JsonSchema,
  SchemaCache,
  validationSteps,
} from '../../core/schemas/schema.ts';
import { evaluationCost } from '../../core/schemas/validator.ts';

const errorsOf = (schema: JsonSchema, payload: unknown, bytes = JSON.stringify(payload).length) =>
  compileSchema(schema).validate(payload, bytes);

const order = {
  type: 'object',
  required: ['id', 'total'],
  properties: { id: { type: 'string', pattern: '^ord-\\d+$' }, total: { type: 'number', minimum: 0 } },
};

/** Each definition asks the next one twice: 2^n evaluations of a single value. */
const doubling = (n: number): JsonSchema => ({
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries(
    Array.from({ length: n }, (_, i) => {
      const next = { $ref: `#/$defs/d${i + 1}` };
      return [`d${i}`, i === n - 1 ? { type: 'string' } : { anyOf: [next, next] }];
    }),
  ),
});

describe('JSON schemas', () => {
  it('say where a payload does not match, and why', () => {
    expect(errorsOf(order, { id: 'ord-1', total: 5 })).to.deep.equal([]);
    expect(errorsOf(order, { id: '1', total: '5' })).to.deep.equal([
      { path: '/id', message: 'must match pattern "^ord-\\d+$"' },
      { path: '/total', message: 'must be number' },
    ]);
    expect(errorsOf(order, {}).map(({ message }) => message)).to.deep.equal([
      "must have required property 'id'",
      "must have required property 'total'",
    ]);
    expect(errorsOf(order, 'no JSON')).to.deep.equal([{ path: '', message: 'must be object' }]);
    expect(errorsOf({ enum: ['a', 'b'] }, 'c')[0]?.message).to.equal(
      'must be equal to one of the allowed values: ["a","b"]',
    );
    for (const keyword of ['additionalProperties', 'unevaluatedProperties'])
      expect(errorsOf({ [keyword]: false }, { extra: 1 })[0]?.message, keyword).to.match(/: extra$/);
    expect(errorsOf({ const: 'a' }, 'b')[0]?.message).to.equal('must be equal to constant: "a"');
    expect(errorsOf(false, 1)).to.have.length(1);
    expect(errorsOf(true, 1)).to.have.length(0);
  });

  it('are read in the dialect that they name, 2020-12 by default', () => {
    const tuple = { prefixItems: [{ type: 'string' }] };
    expect(errorsOf(tuple, [1])).to.have.length(1);
    expect(errorsOf({ ...tuple, $schema: 'https://json-schema.org/draft/2020-12/schema' }, [1])).to.have.length(1);
    expect(errorsOf({ ...tuple, $schema: 'http://json-schema.org/draft-07/schema#' }, [1])).to.have.length(0);
    const draft7 = { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] };
    expect(errorsOf(draft7, [1])).to.have.length(1);
  });

  it('know formats, and ignore keywords and formats that nobody defined', () => {
    expect(errorsOf({ format: 'email' }, 'ann@example.com')).to.have.length(0);
    expect(errorsOf({ format: 'email' }, 'ann')).to.have.length(1);
    expect(errorsOf({ format: 'date-time' }, 'yesterday')).to.have.length(1);
    expect(errorsOf({ format: 'shoe-size', 'x-note': 1 }, 'anything')).to.have.length(0);
  });

  it('refer to their own parts, also to themselves', () => {
    const tree = { type: 'object', required: ['name'], properties: { children: { items: { $ref: '#' } } } };
    expect(errorsOf(tree, { name: 'a', children: [{ name: 'b' }] })).to.deep.equal([]);
    expect(errorsOf(tree, { name: 'a', children: [{}] })).to.deep.equal([
      { path: '/children/0', message: "must have required property 'name'" },
    ]);
  });

  const refused: [string, JsonSchema, RegExp][] = [
    ['a type that there is not', { type: 'objekt' }, /is not a JSON Schema.*\/type/],
    ['a malformed member', { properties: { a: 5 } }, /\/properties\/a/],
    ['another dialect', { $schema: 'http://json-schema.org/draft-04/schema#' }, /must have no \$schema/],
    ['a remote reference', { $ref: 'https://example.com/order.json' }, /refers to https:\/\/example\.com\/order\.json/],
    ['a dialect that is no text', { $schema: 7 }, /must have no \$schema/],
    ['a reference to nothing', { $ref: '#/$defs/none' }, /refers to|cannot be compiled/],
    ['a look-ahead', { pattern: '(?=a)b' }, /invalid pattern, which must.*RE2/],
    ['a back-reference in patternProperties', { patternProperties: { '(a)\\1': true } }, /invalid pattern, which must/],
    ['asynchronous validation', { $async: true }, /\$async/],
    ['too much text', { description: 'x'.repeat(256 * 1024) }, /at most 262144 bytes/],
    [
      'more members than can be compiled',
      { properties: Object.fromEntries(Array.from({ length: 6000 }, (_, i) => [`member${i}`, { type: 'string' }])) },
      /too complex/,
    ],
  ];
  for (const [what, schema, message] of refused) {
    it(`are refused with ${what}`, () => {
      expect(() => checkSchema(schema)).to.throw(InvalidSchemaError, message);
    });
  }

  it('are accepted in both dialects, with ids, anchors and formats', () => {
    checkSchema(order);
    checkSchema(true);
    checkSchema({ $id: 'https://example.com/a', $defs: { b: { $anchor: 'b', format: 'uuid' } }, $ref: '#b' });
    checkSchema({ $schema: 'http://json-schema.org/draft-07/schema', definitions: { a: {} }, $ref: '#/definitions/a' });
    checkSchema({ $id: 'https://example.com/a' });
  });

  describe('are evaluated within bounds', () => {
    it('when references multiply', () => {
      checkSchema(doubling(60));
      expect(errorsOf(doubling(60), 5)).to.deep.equal([{ path: '', message: 'could not be validated within 250 ms' }]);
    });
    it('when every element is compared with every other', () => {
      const elements = Array.from({ length: 200_000 }, (_, n) => ({ n }));
      expect(errorsOf({ uniqueItems: true }, elements)[0]?.message).to.match(/within 250 ms/);
    });
    it('when the payload is nested deeply', () => {
      let deep: unknown = {};
      for (let level = 0; level < 200_000; level += 1) deep = [deep];
      expect(compileSchema({ items: { $ref: '#' } }).validate(deep, 400_000)[0]?.message).to.match(/nested too deeply/);
    });
    it('when nearly every value is wrong', () => {
      const numbers = Array.from({ length: 100_000 }, (_, n) => n);
      expect(errorsOf({ items: { type: 'string' } }, numbers.slice(0, 50))).to.have.length(10);
      expect(errorsOf({ items: { type: 'string' } }, numbers)).to.have.length(1);
    });
    it('when a pattern would backtrack', () => {
      expect(errorsOf({ pattern: '^(a+)+$' }, `${'a'.repeat(5000)}!`)).to.have.length(1);
    });
  });

  it('have a known cost unless they are recursive', () => {
    expect(evaluationCost(order)).to.be.lessThan(500);
    const known: [schema: JsonSchema, cost: number][] = [
      [true, 1],
      [{ type: 'string' }, 3],
      [{ format: 'email' }, 22],
      [{ uniqueItems: true }, 1002],
      [{ pattern: 'a' }, 101],
      [{ pattern: 'a'.repeat(100) }, 201],
      [{ pattern: 'a{2}' }, 4001],
      [{ pattern: '\\p{L}' }, 4001],
      [{ patternProperties: { a: true, 'b{2}': true } }, 1 + 100 + 100 + 4000 + 1 + 2 * 2],
      [{ $ref: '#/$defs/a~1b%20c', $defs: { 'a/b c': { type: 'string' } } }, 1 + 3 + 1 + 1 + 1 + 3],
    ];
    for (const [schema, cost] of known) expect(evaluationCost(schema), JSON.stringify(schema)).to.equal(cost);
    for (const reference of ['#/$defs/none', '#/$defs/a/type', '#/%zz', 'other'])
      expect(evaluationCost({ $ref: reference, $defs: { a: { type: 'string' } } }), reference).to.equal(Infinity);
    expect(validationSteps({ cost: 3 }, 200)).to.equal(100 + (3 * 200) / 2);
    expect(validationSteps({ cost: 3 }, 0)).to.equal(101.5);
    expect(evaluationCost(doubling(5))).to.be.greaterThan(evaluationCost(doubling(4)));
    expect(evaluationCost(doubling(60))).to.be.greaterThan(2 ** 50);
    for (const schema of [
      { items: { $ref: '#' } },
      { $defs: { a: { items: { $ref: '#/$defs/a' } } }, $ref: '#/$defs/a' },
      { $ref: '#anchor', $defs: { a: { $anchor: 'anchor' } } },
      { $dynamicRef: '#node' },
      { $defs: { a: { $id: 'https://example.com/a' } } },
    ]) {
      expect(evaluationCost(schema)).to.equal(Infinity);
    }
  });

  it('are described in at most 2 KiB that PostgreSQL can store', () => {
    const errors = errorsOf({ additionalProperties: false }, { [`a\0b\ud800${'é'.repeat(1000)}`]: 1 });
    const text = describeErrors({ name: 'Order', version: 3 }, errors);
    expect(text).to.match(
      /^The payload does not match the schema Order \(version 3\): the payload must NOT have additional/,
    );
    expect(text).to.not.include('\0');
    expect(text.isWellFormed()).to.equal(true);
    const many = Array.from({ length: 10 }, (_, n) => ({ path: `/${n}`, message: '€'.repeat(300) }));
    expect(Buffer.byteLength(describeErrors({ name: 'Order', version: 3 }, many))).to.be.within(2000, 2048);
  });

  it('are compiled once for each version', () => {
    const first = { id: 'sch_test', version: 1, schema: { type: 'string' } };
    const next = { ...first, version: 2, schema: { type: 'number' } };
    const cache = new SchemaCache();
    const compiled = cache.compile(first);
    expect(cache.find({ ...first })).to.equal(compiled);
    expect(cache.find(next)).to.equal(undefined);
    expect(cache.compile(next).validate(1, 1)).to.deep.equal([]);
    expect(cache.find(first)?.validate(1, 1)).to.have.length(1);
  });
});
