import { expect } from 'chai';
import { COLUMN_TYPES, type ColumnType, convert } from '../../core/warehouse/columns.ts';
import { compileFieldMapping, fieldMappingSchema } from '../../core/warehouse/field-mapping.ts';
import { warehouseEvent } from '../support/warehouse/warehouse-event.ts';

describe('conversion to a column type', () => {
  const CANNOT = Symbol('cannot');
  // value, type, what it becomes
  const table: [unknown, ColumnType, unknown][] = [
    ['text', 'string', 'text'],
    ['', 'string', ''],
    [12.5, 'string', '12.5'],
    [false, 'string', 'false'],
    [{ a: [1] }, 'string', '{"a":[1]}'],
    [12.5, 'number', 12.5],
    [' 12.50 ', 'number', 12.5],
    ['+3', 'number', 3],
    ['-.5e3', 'number', -500],
    ['0x10', 'number', CANNOT],
    ['1,000', 'number', CANNOT],
    ['', 'number', CANNOT],
    ['Infinity', 'number', CANNOT],
    ['1e999', 'number', CANNOT],
    [true, 'number', CANNOT],
    [[1], 'number', CANNOT],
    [true, 'boolean', true],
    ['TRUE', 'boolean', true],
    [' yes ', 'boolean', true],
    [1, 'boolean', true],
    ['1', 'boolean', true],
    ['false', 'boolean', false],
    ['No', 'boolean', false],
    [0, 'boolean', false],
    [2, 'boolean', CANNOT],
    ['', 'boolean', CANNOT],
    ['on', 'boolean', CANNOT],
    [1_700_000_000, 'timestamp', '2023-11-14T22:13:20.000Z'],
    [1_700_000_000.25, 'timestamp', '2023-11-14T22:13:20.250Z'],
    [1_700_000_000_123, 'timestamp', '2023-11-14T22:13:20.123Z'],
    ['1700000000', 'timestamp', '2023-11-14T22:13:20.000Z'],
    ['1700000000123', 'timestamp', '2023-11-14T22:13:20.123Z'],
    [0, 'timestamp', '1970-01-01T00:00:00.000Z'],
    [-86_400, 'timestamp', '1969-12-31T00:00:00.000Z'],
    [99_999_999_999, 'timestamp', '5138-11-16T09:46:39.000Z'],
    [100_000_000_000, 'timestamp', '1973-03-03T09:46:40.000Z'],
    [1_700_000_000_123_456, 'timestamp', '2023-11-14T22:13:20.123Z'],
    ['1700000000123456789', 'timestamp', '2023-11-14T22:13:20.123Z'],
    [1e22, 'timestamp', CANNOT],
    ['20231114', 'timestamp', '2023-11-14T00:00:00.000Z'],
    [20_231_114, 'timestamp', '1970-08-23T03:45:14.000Z'],
    [' 2023-11-14 22:13:20 -0700 ', 'timestamp', '2023-11-15T05:13:20.000Z'],
    ['9999-12-31T23:59:59-01:00', 'timestamp', CANNOT],
    ['11/14/2023', 'timestamp', CANNOT],
    ['', 'timestamp', CANNOT],
    [true, 'timestamp', CANNOT],
    [{ a: [1] }, 'json', { a: [1] }],
    ['text', 'json', 'text'],
    // Of 10 digits, 2 of them behind the point.
    [12.5, 'decimal', 12.5],
    [' 12.50 ', 'decimal', 12.5],
    ['1e3', 'decimal', 1000],
    [-99999999.99, 'decimal', -99999999.99],
    [100000000, 'decimal', CANNOT],
    [1.234, 'decimal', CANNOT],
    ['1.2300', 'decimal', 1.23],
    [0, 'decimal', 0],
    [1e-9, 'decimal', CANNOT],
    ['', 'decimal', CANNOT],
    [true, 'decimal', CANNOT],
    [[1], 'decimal', CANNOT],
    ...COLUMN_TYPES.map((type): [unknown, ColumnType, unknown] => [null, type, null]),
  ];
  for (const [value, type, expected] of table) {
    it(`${JSON.stringify(value)} as ${type}: ${expected === CANNOT ? 'cannot be' : JSON.stringify(expected)}`, () => {
      const wanted = expected === CANNOT ? { ok: false } : { ok: true, value: expected };
      expect(convert(value, type, { precision: 10, scale: 2 })).to.deep.equal(wanted);
    });
  }

  it('does not depend on the time zone of the machine', () => {
    const before = process.env.TZ;
    try {
      process.env.TZ = 'America/New_York';
      expect(convert('2023-11-14 22:13', 'timestamp')).to.deep.equal({ ok: true, value: '2023-11-14T22:13:00.000Z' });
    } finally {
      if (before === undefined) delete process.env.TZ;
      else process.env.TZ = before;
    }
  });
});

const headers = { 'x-kind': 'order.paid', 'content-type': 'application/json' };
const event = (payload: unknown) =>
  warehouseEvent(typeof payload === 'string' ? payload : JSON.stringify(payload), { headers });

function mapping(...rules: object[]) {
  return compileFieldMapping(fieldMappingSchema.parse(rules), 'json');
}

describe('field mapping', () => {
  const [a, b] = [
    { sku: 'a', qty: 2 },
    { sku: 'b', qty: 1 },
  ];
  const order = { order: { id: 7, total: '12.50', lines: [a, b], note: null } };

  it('reads payload, headers, id, receivedAt and source', () => {
    const row = mapping(
      { source: '$.payload.order.total', target: 'total', type: 'number' },
      { source: "$.headers['x-kind']", target: 'kind', type: 'string' },
      { source: '$.id', target: 'event', type: 'string' },
      { source: '$.receivedAt', target: 'at', type: 'timestamp' },
      { source: '$.source', target: 'from', type: 'string' },
      { source: '$.payload.order.lines[-1].sku', target: 'last_sku', type: 'string' },
    ).map(event(order));
    expect(row).to.deep.equal({
      json: '{"total":12.5,"kind":"order.paid","event":"evt_1","at":"2026-11-21T15:45:10.123Z","from":"orders","last_sku":"b"}',
      misfits: [],
    });
  });

  it('takes the default when the path is missing, else null, and counts neither', () => {
    const row = mapping(
      { source: '$.payload.order.gone', target: 'a', type: 'number', default: '5' },
      { source: '$.payload.order.gone', target: 'b', type: 'number' },
      { source: '$.payload.order.gone[*]', target: 'c', type: 'json', default: '[]' },
    ).map(event(order));
    expect(row).to.deep.equal({ json: '{"a":5,"b":null,"c":[]}', misfits: [] });
  });

  it('leaves null alone, even where there is a default', () => {
    const rule = { source: '$.payload.order.note', target: 'a', type: 'string', default: 'none' };
    const row = mapping(rule).map(event(order));
    expect(row).to.deep.equal({ json: '{"a":null}', misfits: [] });
  });

  it('replaces what does not fit by the default, else null, and counts it', () => {
    const row = mapping(
      { source: '$.payload.order.lines', target: 'a', type: 'number', default: '0' },
      { source: '$.payload.order.lines', target: 'b', type: 'timestamp' },
      { source: '$.payload.order.id', target: 'c', type: 'number' },
    ).map(event(order));
    expect(row).to.deep.equal({ json: '{"a":0,"b":null,"c":7}', misfits: ['a', 'b'] });
  });

  it('fills a json column with all values of a path that may find several, other columns only with a single one', () => {
    const row = mapping(
      { source: '$.payload.order.lines[*].sku', target: 'skus', type: 'json' },
      { source: '$..lines[?@.qty > 1].sku', target: 'many', type: 'json' },
      { source: '$..lines[?@.qty > 1].sku', target: 'one', type: 'string' },
      { source: '$.payload.order.lines[*].sku', target: 'several', type: 'string' },
    ).map(event(order));
    expect(row).to.deep.equal({
      json: '{"skus":["a","b"],"many":["a"],"one":"a","several":null}',
      misfits: ['several'],
    });
  });

  it('keeps the digits of numbers in columns of every type that can hold them', () => {
    const payload =
      '{"id":9007199254740993,"price":"+0012.34567890123456789","at":1700000000.12345678901,"far":1e999,"ids":[9007199254740993,1e-400]}';
    const row = mapping(
      { source: '$.payload.id', target: 'text', type: 'string' },
      { source: '$.payload.id', target: 'number', type: 'number' },
      { source: '$.payload.id', target: 'json', type: 'json' },
      { source: '$.payload.ids', target: 'ids', type: 'string' },
      { source: '$.payload.ids[*]', target: 'several', type: 'json' },
      { source: '$.payload..id', target: 'found', type: 'json' },
      { source: '$.payload.price', target: 'price', type: 'number' },
      { source: '$.payload.at', target: 'at', type: 'timestamp' },
      { source: '$.payload.far', target: 'far', type: 'number' },
      { source: '$.payload.far', target: 'far_json', type: 'json' },
      { source: '$.payload.gone', target: 'gone', type: 'number', default: '9007199254740993' },
      { source: '$.payload.gone', target: 'gone_json', type: 'json', default: '[9007199254740993]' },
      { source: '$.payload.id', target: 'flag', type: 'boolean' },
    ).map(event(payload));
    expect(row).to.deep.equal({
      json: '{"text":"9007199254740993","number":9007199254740993,"json":9007199254740993,"ids":"[9007199254740993,1e-400]","several":[9007199254740993,1e-400],"found":[9007199254740993],"price":12.34567890123456789,"at":"2023-11-14T22:13:20.123Z","far":null,"far_json":1e999,"gone":9007199254740993,"gone_json":[9007199254740993],"flag":null}',
      misfits: ['far', 'flag'],
    });
  });

  it('keeps every digit of a decimal, as a number in JSON and as text for Parquet, and takes no more than its form', () => {
    const rules = [
      { source: '$.payload.total', target: 'total', type: 'decimal' as const, precision: 38, scale: 18 },
      { source: '$.payload.price', target: 'price', type: 'decimal' as const, precision: 4, scale: 2, default: '-1' },
      { source: '$.payload.gone', target: 'gone', type: 'decimal' as const, precision: 1, scale: 1 },
    ];
    const sent = event('{"total":12345678901234567890.123456789012345678,"price":123.45}');
    expect(mapping(...rules).map(sent)).to.deep.equal({
      json: '{"total":12345678901234567890.123456789012345678,"price":-1,"gone":null}',
      misfits: ['price'],
    });
    expect(compileFieldMapping(rules, 'json', 'text').map(sent).json).to.equal(
      '{"total":"12345678901234567890.123456789012345678","price":"-1","gone":null}',
    );
  });

  it('compares numbers by their exact values in filters of paths', () => {
    const payload =
      '{"lines":[{"id":9007199254740993,"a":[9007199254740993]},{"id":9007199254740992,"a":[9007199254740995]},{"id":"x"}],"top":9007199254740992.5}';
    const found = (filter: string) =>
      mapping({ source: `$.payload.lines[?${filter}].id`, target: 'found', type: 'json' })
        .map(event(payload))
        .json.slice(9, -1);
    expect(found('@.id == 9007199254740993')).to.equal('[9007199254740993]');
    expect(found('@.id != 9007199254740993')).to.equal('[9007199254740992,"x"]');
    expect(found('@.id > 9007199254740992')).to.equal('[9007199254740993]');
    expect(found('@.id >= 9007199254740992')).to.equal('[9007199254740993,9007199254740992]');
    expect(found('@.id < $.payload.top')).to.equal('[9007199254740992]');
    expect(found('@.a == @.a && @.id <= 9007199254740993')).to.equal('[9007199254740993,9007199254740992]');
    expect(found('@.a == $.payload.lines[0].a')).to.equal('[9007199254740993]');
    expect(found('@.gone == @.other')).to.equal('[9007199254740993,9007199254740992,"x"]');
    expect(found('length(@.id) == 1 || count(@[?@ == 9007199254740993]) == 1')).to.equal('[9007199254740993,"x"]');
    expect(found('!(@.id == 9007199254740992)')).to.equal('[9007199254740993,"x"]');
    expect(found('@.id < 9007199254740993')).to.equal('[9007199254740992]');
    expect(found('@.a != @.a || @.id > "w"')).to.equal('["x"]');
    expect([found('@.a > $.payload.lines[0].a'), found('@.gone == 1')]).to.deep.equal(['null', 'null']);
  });

  it('matches whole texts, or searches in them, and no other values', () => {
    const found = (filter: string) =>
      mapping({ source: `$.payload[?${filter}]`, target: 'found', type: 'json' }).map(event(['ab', 'xabx', 7, null]))
        .json;
    expect(found("match(@, 'ab|7')")).to.equal('{"found":["ab"]}');
    expect(found("search(@, 'ab|7')")).to.equal('{"found":["ab","xabx"]}');
  });

  it('matches patterns in time linear in the text', () => {
    // A backtracking matcher would not come back from this one.
    const { map } = mapping({ source: "$.payload[?match(@, '(a+)+b')]", target: 'found', type: 'json' });
    expect(map(event([`${'a'.repeat(50_000)}c`, 'aab', 'xaab'])).json).to.equal('{"found":["aab"]}');
  });

  it('keeps columns in the order of the rules, whatever they are called', () => {
    const names = ['z', '10', '9', '__proto__', 'constructor', 'a"b'];
    const row = mapping(...names.map((target) => ({ source: '$.id', target, type: 'string' }))).map(event({}));
    expect(row.json).to.equal(`{${names.map((name) => `${JSON.stringify(name)}:"evt_1"`).join(',')}}`);
  });

  it('does not see members that payloads inherit', () => {
    const names = ['__proto__', 'constructor', 'toString'];
    const rules = names.map((name) => ({ source: `$.payload.${name}`, target: name, type: 'json' }));
    expect(mapping(...rules).map(event({})).json).to.equal('{"__proto__":null,"constructor":null,"toString":null}');
  });

  it('takes a payload that is nested too deeply to be walked as text', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const row = mapping(
      { source: '$..x', target: 'a', type: 'json', default: '"none"' },
      { source: '$.payload', target: 'b', type: 'json' },
      { source: '$.id', target: 'c', type: 'string' },
    ).map(event(deep));
    expect(row).to.deep.equal({ json: `{"a":"none","b":"${deep}","c":"evt_1"}`, misfits: [] });
  });

  const good = { source: '$.id', target: 'id', type: 'string' };
  // What is wrong, the members of a rule that differ, the reason.
  const ofRule: [string, object, RegExp][] = [
    ['no expression', { source: 'payload.id' }, /^source must be a JSONPath expression \(RFC 9535\) such as .* \(/],
    ['a member that events lack', { source: '$.body.id' }, /^source must start with one of \$\.payload.*no "body"$/],
    ['".." twice', { source: '$..a..b' }, /^source must not use "\.\." more than once$/],
    ['".." in a filter of ".."', { source: '$..[?count(@..*) > 1]' }, /more than once$/],
    ['repeated wildcards', { source: '$.payload[*,*]' }, /^source must combine only different names/],
    ['the same name twice', { source: '$.payload["a","a"]' }, /^source must combine only different names/],
    ['a slice beside an index', { source: '$.payload[0,1:]' }, /^source must combine only different names/],
    ['names of the root in a filter', { source: '$.payload[?@ == $["id","source"]]' }, /single|JSONPath/],
    ['".." of the root in a filter', { source: '$.payload[?count($..a) > 1]' }, /only for single values/],
    ['a member that events lack, beside others', { source: '$["id","body"]' }, /no "body"$/],
    ['".." in a negated group', { source: '$..a[?!(@.b && count(@..c) > 1)]' }, /more than once$/],
    ['a precision without decimal', { precision: 2 }, /^precision is allowed only when the type is decimal$/],
    ['a scale without decimal', { scale: 2 }, /^scale is allowed only when the type is decimal$/],
    ['no precision', { type: 'decimal', scale: 2 }, /^precision must be/],
    ['no scale', { type: 'decimal', precision: 2 }, /^scale must be/],
    ['a scale above the precision', { type: 'decimal', precision: 2, scale: 3 }, /^scale must be/],
    ['the root in a filter', { source: '$.payload[?count($.payload[*]) > 1]' }, /only for single values/],
    ['a pattern from the payload', { source: '$.payload[?match(@.a, @.b)]' }, /^source must use a string literal/],
    ['a pattern that is none', { source: "$.payload[?search(@.a, '(')]" }, /^source has a pattern in search\(\)/],
    ['513 characters', { source: `$.payload.${'a'.repeat(503)}` }, /^source must be at most 512 characters long$/],
    ['no target', { target: ' ' }, /^target must not be empty$/],
    ['an unknown type', { type: 'integer' }, /^type must be string, number, decimal, boolean, timestamp or json$/],
    ['a default of another type', { default: 5 }, /^default must be a string$/],
    ['a default that cannot become the type', { type: 'number', default: 'x' }, /^default must be .* to number$/],
    ['a json default that is no JSON', { type: 'json', default: '{' }, /^default must be JSON text$/],
  ];
  const rulesTo = (...targets: string[]) => targets.map((target) => ({ ...good, target }));
  const tooMany = rulesTo(...Array.from({ length: 51 }, (_, n) => `c${n}`));
  const broken = { ...good, target: 'b', source: '$.payload[' };
  const sameTarget = /^target must differ from the target of rule 0$/;
  // What is wrong, the mapping, the reason, the index of the rule.
  const refusals: [string, unknown, RegExp, number | null][] = [
    ...ofRule.map(([what, members, reason]): (typeof refusals)[number] => [what, [{ ...good, ...members }], reason, 0]),
    ['no array', {}, /^must be an array/, null],
    ['51 rules', tooMany, /^must contain at most 50 rules$/, null],
    ['no source', [good, { target: 'a', type: 'string' }], /^source must be a JSONPath/, 1],
    ['a syntax error', [good, broken], /^source must be a JSONPath expression/, 1],
    ['two equal targets', rulesTo('id', 'b', 'id'), sameTarget, 2],
    ['two targets that differ in case only', rulesTo('id', 'b', 'ID'), /differ from .* rule 0 by more than case/, 2],
  ];
  for (const [what, given, reason, index] of refusals) {
    it(`refuses ${what}, naming rule and reason`, () => {
      const [issue] = fieldMappingSchema.safeParse(given).error?.issues ?? [];
      const [rule = null, ...members] = issue?.path ?? [];
      expect(rule).to.equal(index);
      expect([...members, issue?.message].join(' ')).to.match(reason);
    });
  }

  it('has the ids of event and delivery before its columns, unless a rule names them, whatever its case', () => {
    const rule = { source: '$.payload.n', target: 'n', type: 'number' };
    const rowOf = (...rules: object[]) =>
      compileFieldMapping(fieldMappingSchema.parse(rules), 'text').map(event({ n: 7 })).json;
    expect(rowOf(rule)).to.equal('{"event_id":"evt_1","delivery_id":"dlv_1","n":7}');
    expect(rowOf({ ...rule, target: 'Event_ID' })).to.equal('{"delivery_id":"dlv_1","Event_ID":7}');
    expect(rowOf({ ...rule, target: 'delivery_id' })).to.equal('{"event_id":"evt_1","delivery_id":7}');
    expect(mapping(rule).map(event({ n: 7 })).json, 'payloadColumn json').to.equal('{"n":7}');
  });

  it('accepts 50 rules, and single values of the root in a filter', () => {
    expect(fieldMappingSchema.safeParse(tooMany.slice(1)).success).to.equal(true);
    const singles = ['$.payload.items[?@.qty > $.payload.limit]', '$["id","source"]', '$..id', '$[*]'];
    for (const source of [...singles, '$.payload["a","b"]', '$.payload[0,-1]', `$.payload.${'a'.repeat(502)}`])
      expect(fieldMappingSchema.safeParse([{ ...good, source }]).success, source).to.equal(true);
    const whole = { ...good, type: 'decimal', precision: 2, scale: 2 };
    expect(fieldMappingSchema.safeParse([whole]).success).to.equal(true);
  });
});
