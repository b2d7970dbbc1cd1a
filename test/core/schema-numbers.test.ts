import { expect } from 'chai';
import { parseExact } from '../../core/text/exact-json.ts';
import { viewPayload } from '../../core/text/payload.ts';
import { checkSchema, compileSchema, type JsonSchema } from '../../core/schemas/schema.ts';

const BIG = '9007199254740993';
const ALLOWED = 'must be equal to one of the allowed values';
const TWICE = 'must NOT have duplicate items';

function messagesOf(schemaJson: string, payload: string): string[] {
  const schema = parseExact(schemaJson) as JsonSchema;
  checkSchema(schema);
  const body = Buffer.from(payload);
  return compileSchema(schema)
    .validate(viewPayload(body).payload, body.length)
    .map(({ message }) => message);
}

describe('JSON schemas and numbers that a double does not hold', () => {
  const nested = '"properties":{"maximum":{"type":"integer"},"const":{"maxLength":9223372036854775807}}';
  const reference = '{"properties":{"a":{"items":{"$ref":"#/$defs/id"}}},"$defs":{"id":{"minimum":9007199254740993}}}';
  // schema, what matches, what does not, why
  const table: [schema: string, right: string[], wrong: string, message: string][] = [
    ['{"type":"integer"}', [BIG, '1e400', '12345678901234567890.0'], '9007199254740992.5', 'must be integer'],
    ['{"type":"integer"}', ['5'], '1.00000000000000000001', 'must be integer'],
    ['{"type":"number"}', [BIG, '1e999', '1e-999'], `"${BIG}"`, 'must be number'],
    ['{"type":["string","object"]}', [`"${BIG}"`], BIG, 'must be string,object'],
    [`{"maximum":${BIG}}`, [BIG, '1', '"x"'], '9007199254740994', `must be <= ${BIG}`],
    [`{"maximum":${BIG}}`, [], '1e999', `must be <= ${BIG}`],
    ['{"maximum":9007199254740992}', ['9007199254740992'], BIG, 'must be <= 9007199254740992'],
    [`{"minimum":${BIG}}`, [BIG, '1e999'], '9007199254740992', `must be >= ${BIG}`],
    [`{"exclusiveMaximum":${BIG}}`, ['9007199254740992'], BIG, `must be < ${BIG}`],
    ['{"exclusiveMinimum":0}', ['1e-400'], '-1e-400', 'must be > 0'],
    [`{"const":${BIG}}`, [BIG, `${BIG}.0`], '9007199254740992', `must be equal to constant: ${BIG}`],
    [
      `{"enum":[1,{"a":[${BIG}]}]}`,
      ['1', `{"a":[${BIG}]}`],
      '{"a":[9007199254740992]}',
      `${ALLOWED}: [1,{"a":[${BIG}]}]`,
    ],
    ['{"multipleOf":10}', ['12345678901234567890', '1e999'], '12345678901234567891', 'must be a multiple of 10'],
    ['{"multipleOf":0.01}', ['19.99', '1.15', '4.35', '-0.07', '0', '1e300'], '19.995', 'must be a multiple of 0.01'],
    ['{"multipleOf":0.01}', ['12345678901234567890.12'], '12345678901234567890.123', 'must be a multiple of 0.01'],
    [
      '{"uniqueItems":true}',
      [`[${BIG},9007199254740992]`, `[[${BIG}],[9007199254740995]]`],
      `[${BIG},1,${BIG}]`,
      TWICE,
    ],
    [`{${nested}}`, [`{"maximum":${BIG}}`, '{"const":"text"}'], `{"maximum":1.5,"const":${BIG}}`, 'must be integer'],
    [`{${nested},"additionalProperties":false}`, [], `{"other":${BIG}}`, 'must NOT have additional properties: other'],
    [reference, [`{"a":[${BIG}]}`], `{"a":[${BIG},9007199254740992]}`, `must be >= ${BIG}`],
  ];
  for (const [schema, right, wrong, message] of table) {
    it(`${schema} ${message}, ${wrong}`, () => {
      for (const payload of right) expect(messagesOf(schema, payload), payload).to.deep.equal([]);
      expect(messagesOf(schema, wrong)).to.deep.equal([message]);
    });
  }

  it('finds the same id twice among thousands of them, within the time for a payload', () => {
    const ids = Array.from({ length: 5000 }, (_, index) => `820982911946${100_000 + index}`);
    expect(messagesOf('{"uniqueItems":true}', `[${ids.join()}]`)).to.deep.equal([]);
    expect(messagesOf('{"uniqueItems":true}', `[${ids.join()},${ids[3]}.0]`)).to.deep.equal([TWICE]);
    const others = '"1",1,true,"true",null,"null",[1],["1"],{"a":1},{"a":"1"},{"a":1,"b":1}';
    expect(messagesOf('{"uniqueItems":true}', `[${BIG},${others},"${BIG}"]`)).to.deep.equal([]);
    for (const twice of ['"1"', 'true', 'null', '[1.0]', '{"b":1,"a":1}']) {
      expect(messagesOf('{"uniqueItems":true}', `[${BIG},${others},${twice}]`), twice).to.have.length(1);
    }
  });
});
