import { expect } from 'chai';
import * as fc from 'fast-check';
import { headerBytes } from '../../core/http/headers.ts';
import { rowText, type WarehouseEvent } from '../../core/warehouse/rows.ts';
import type { FieldMappingRule } from '../../core/warehouse/field-mapping.ts';
import {
  type Compression,
  COMPRESSIONS,
  FileTooLargeError,
  MAX_ROW_BYTES,
} from '../../core/warehouse/files-and-keys.ts';
import { encodeFooter, encodeRowGroup } from '../../outbound/warehouses/parquet-rows.ts';
import { openFile } from '../../outbound/warehouses/files.ts';
import { anyJson } from '../support/requests/json-numbers.ts';
import { KeptFile } from '../support/requests/kept-file.ts';
import { parquetEnd, parquetRows } from '../support/warehouse/parquet.ts';
import { testThreads } from '../support/threads.ts';
import { warehouseEvent } from '../support/warehouse/warehouse-event.ts';

const RECEIVED_AT = Date.parse('2026-11-21T15:45:10.123Z');
const MIB = 1024 * 1024;

function event(n: number, body: string | Buffer, headers: Record<string, string> = {}): WarehouseEvent {
  const ids = { id: `evt_${n}`, deliveryId: `dlv_${n}`, routeId: n % 2 ? 'rte_1' : null };
  return warehouseEvent(body, { ...ids, receivedAt: new Date(RECEIVED_AT + n), headers });
}

describe('parquet files', () => {
  const threads = testThreads(1);
  after(() => threads.close());

  interface Options {
    compression?: Compression;
    fieldMapping?: FieldMappingRule[];
  }
  async function write(events: WarehouseEvent[], { compression = 'none', fieldMapping }: Options = {}) {
    const mapped = { fieldMapping: fieldMapping ?? null };
    const form = { fileFormat: 'parquet', payloadColumn: 'text', compression, ...mapped } as const;
    const sink = new KeptFile();
    const file = openFile('org_1', form, { threads, limit: MAX_ROW_BYTES, sink });
    const stored = events.map((each) => ({ ...each, headers: JSON.stringify(headerBytes(each.headers)) }));
    for await (const made of threads.rows('org_1', form, stored)) {
      if (made.isNextTooLarge || made.tooLong.length > 0) throw new Error('A row is missing');
      await file.add(made);
    }
    return { ...(await file.finish()), body: sink.body };
  }

  const bodies = fc.oneof(
    fc.json({ stringUnit: 'binary' }),
    fc.string({ unit: 'binary' }),
    anyJson,
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  );
  const headers = fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }));

  it('hold what files of text hold, whatever was sent, with each compression', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(bodies, headers), { minLength: 1, maxLength: 30 }),
        fc.constantFrom(...COMPRESSIONS),
        async (sent, compression) => {
          const events = sent.map(([body, names], n) => event(n, body, names));
          const file = await write(events, { compression });
          const wanted = events.map((each) => JSON.parse(rowText(each, { mapping: null, payloadColumn: 'text' }).text));
          expect(await parquetRows(file.body)).to.deep.equal(wanted);
          expect(file).to.deep.include({ count: events.length, conversions: [] });
        },
      ),
      { numRuns: 60 },
    ));

  const rule = (source: string, target: string, type: FieldMappingRule['type']) => ({ source, target, type });

  it('hold mapped columns of their types: doubles, texts of JSON, times, null', async () => {
    const fieldMapping = [
      rule('$.payload.n', 'n', 'number'),
      rule('$.payload.s', '__proto__', 'string'),
      rule('$.payload.b', 'b.c d', 'boolean'),
      rule('$.payload.t', 't', 'timestamp'),
      rule('$.payload.j', 'j', 'json'),
      rule('$.payload.never', 'never', 'number'),
    ];
    const sent = [
      '{"n":9007199254740993,"s":"\\ud800x","b":"yes","t":0,"j":{"\\ud800":[1e400,12345678901234567890]}}',
      '{"n":"1.50","s":{"a":1},"b":false,"t":"9999-12-31T23:59:59.999Z","j":"text"}',
      '{"n":-0.0,"s":null,"b":null,"t":"0001-01-01","j":null}',
      '{"n":"many","s":5,"b":7,"t":"never","j":[]}',
      'no JSON',
    ];
    const events = sent.map((body, n) => event(n, body));
    const file = await write(events, { fieldMapping });
    const column = async (name: string) =>
      (await parquetRows(file.body)).map((row) => Object.entries(row).find(([known]) => known === name)?.[1]);
    expect(await column('event_id')).to.deep.equal(['evt_0', 'evt_1', 'evt_2', 'evt_3', 'evt_4']);
    expect(await column('n')).to.deep.equal([9007199254740992, 1.5, 0, null, null]);
    expect(await column('b.c d')).to.deep.equal([true, false, null, null, null]);
    const times = ['1970-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z', '0001-01-01T00:00:00.000Z', null, null];
    expect(await column('t')).to.deep.equal(times);
    expect(await column('j')).to.deep.equal(['{"\ufffd":[1e400,12345678901234567890]}', '"text"', null, '[]', null]);
    expect(await column('never')).to.deep.equal([null, null, null, null, null]);
    const misfit = { count: 1, eventId: 'evt_3' };
    expect(file.conversions).to.deep.equal(['n', 'b.c d', 't'].map((target) => ({ target, ...misfit })));
    expect(file.count).to.equal(5);
    const types = parquetEnd(file.body).schema.slice(1);
    expect(types.map(({ name, type }) => `${name} ${type}`)).to.deep.equal([
      ...['event_id BYTE_ARRAY', 'delivery_id BYTE_ARRAY', 'n DOUBLE', '__proto__ BYTE_ARRAY'],
      ...['b.c d BOOLEAN', 't INT64', 'j BYTE_ARRAY', 'never DOUBLE'],
    ]);
    // The reader's objects have no member of this name, but its statistics have the column.
    const chunk = parquetEnd(file.body).row_groups[0]?.columns[3]?.meta_data?.statistics;
    expect(chunk).to.include({ min_value: '5', null_count: 2n });
  });

  it('hold decimals of their form, in as few bytes as it needs', async () => {
    const forms = [
      { precision: 9, scale: 2 },
      { precision: 18, scale: 0 },
      { precision: 19, scale: 19 },
      { precision: 38, scale: 10 },
    ];
    const fieldMapping = forms.map((form, n) => ({
      ...{ source: `$.payload[${n}]`, target: `d${n}`, type: 'decimal' as const },
      ...form,
    }));
    const sent = [
      '[1234567.89,123456789012345678,0.5,12345678901234567890.5]',
      '["-0.01",-1,-0.25,-1e27]',
      '[0,"1e17",0,null]',
      '[1.234,0.5,1,1e28]',
    ];
    const events = sent.map((body, n) => event(n, body));
    const file = await write(events, { fieldMapping });
    // The reader makes doubles of them, by a multiplication.
    const near = (value: unknown) => (typeof value === 'number' ? Number(value.toPrecision(12)) : value);
    const columns = (await parquetRows(file.body)).map(({ d0, d1, d2, d3 }) => [d0, d1, d2, d3].map(near));
    expect(columns).to.deep.equal([
      [1234567.89, near(123456789012345680), 0.5, near(12345678901234567000)],
      [-0.01, -1, -0.25, -1e27],
      [0, 1e17, 0, null],
      [null, null, null, null],
    ]);
    expect(file.conversions.map(({ target, count }) => [target, count])).to.deep.equal(
      forms.map((_form, n) => [`d${n}`, 1]),
    );
    const { schema, row_groups: groups } = parquetEnd(file.body);
    const decimals = schema.slice(3);
    expect(decimals.map(({ type, type_length: length }) => [type, length])).to.deep.equal([
      ['INT32', undefined],
      ['INT64', undefined],
      ['FIXED_LEN_BYTE_ARRAY', 9],
      ['FIXED_LEN_BYTE_ARRAY', 16],
    ]);
    expect(decimals.map(({ precision, scale }) => ({ precision, scale }))).to.deep.equal(forms);
    const bounds = groups[0]?.columns.slice(2).map(({ meta_data: of }) => of?.statistics);
    expect(bounds?.map((each) => [near(each?.min_value), near(each?.max_value)])).to.deep.equal([
      [-0.01, 1234567.89],
      [-1, near(123456789012345680)],
      [-0.25, 0.5],
      [-1e27, near(12345678901234567000)],
    ]);
  });

  it('have row groups of 5,000 rows and 8 MiB at most, with statistics', async () => {
    const many = await write(Array.from({ length: 11_000 }, (_, n) => event(n, `{"n":${n}}`)));
    const { row_groups: groups, num_rows: rows } = parquetEnd(many.body);
    expect([rows, ...groups.map(({ num_rows: each }) => each)]).to.deep.equal([11_000n, 5000n, 5000n, 1000n]);
    const received = groups.map(({ columns }) => columns[4]?.meta_data?.statistics);
    const msLater = (time: unknown) => Number(time) - RECEIVED_AT;
    expect(received.map((each) => msLater(each?.min_value))).to.deep.equal([0, 5000, 10_000]);
    expect(received.map((each) => msLater(each?.max_value))).to.deep.equal([4999, 9999, 10_999]);
    expect((await parquetRows(many.body)).map(({ payload }) => payload)).to.deep.equal(
      Array.from({ length: 11_000 }, (_, n) => `{"n":${n}}`),
    );
    const large = await write([3, 3, 3, 9, 1].map((size, n) => event(n, 'x'.repeat(size * MIB))));
    expect(parquetEnd(large.body).row_groups.map(({ num_rows: each }) => each)).to.deep.equal([2n, 1n, 1n, 1n]);
    const sizes = (await parquetRows(large.body)).map(({ payload }) => String(payload).length / MIB);
    expect(sizes).to.deep.equal([3, 3, 3, 9, 1]);
  });

  it('are handed on group by group, before the next one is made', async () => {
    const written: number[] = [];
    const sink = { write: async (bytes: Uint8Array) => void written.push(bytes.length) };
    const form_ = { fileFormat: 'parquet', compression: 'none', fieldMapping: null } as const;
    const file = openFile('org_1', form_, { threads, limit: MAX_ROW_BYTES, sink });
    const row = { bytes: Buffer.from(`{"payload":"${'x'.repeat(5 * MIB)}"}`), rows: 1, conversions: [] };
    for (const groups of [0, 1, 2]) {
      await file.add(row);
      // The magic number, and all groups but that of the last row.
      expect(written).to.have.lengthOf(groups === 0 ? 0 : groups + 1);
    }
    await file.finish();
    expect(written.filter((bytes) => bytes > 4 * MIB)).to.have.lengthOf(3);
  });

  it('have bounds of at most 16 bytes that hold, whatever the texts are, or none', () => {
    const character = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      fc.constantFrom('a', '\u{10ffff}', '\u{10fffe}', '\ud7ff', '\uffff', '\u007f', '\ud800'),
    );
    const text = fc
      .tuple(fc.array(character, { maxLength: 8 }), fc.constantFrom(0, 20, 200), character)
      .map(([begin, times, rest]) => begin.join('') + rest.repeat(times));
    return fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), (texts) => {
        const { bytes, group } = encoded(texts);
        const footer = encodeFooter(form, [{ group, indexes: [] }], 4 + bytes.length);
        const file = Buffer.concat([Buffer.from('PAR1'), bytes, footer]);
        const { min_value: min, max_value: max } =
          parquetEnd(file).row_groups[0]?.columns[0]?.meta_data?.statistics ?? {};
        if (min === undefined || max === undefined) {
          expect(texts.some((each) => each.startsWith('\u{10ffff}'.repeat(4)))).to.equal(true);
          return;
        }
        const [least, greatest] = [Buffer.from(String(min)), Buffer.from(String(max))];
        for (const each of texts) {
          const value = Buffer.from(each);
          expect(Buffer.compare(least, value)).to.be.at.most(0);
          expect(Buffer.compare(greatest, value)).to.be.at.least(0);
        }
        if (texts.every(({ length }) => length > 64)) expect(Math.max(least.length, greatest.length)).to.be.at.most(16);
      }),
      { numRuns: 300 },
    );
  });

  const form = { columns: [{ name: 'text', type: 'string' }], compression: 'none' } as const;
  function encoded(texts: string[]) {
    const lines = new Uint8Array(Buffer.from(texts.map((each) => `${JSON.stringify({ text: each })}\n`).join('')));
    return encodeRowGroup({ ...form, lines, rows: texts.length, offset: 4 });
  }

  for (const compression of COMPRESSIONS) {
    it(`are the same bytes each time with ${compression}`, async () => {
      const events = Array.from({ length: 2000 }, (_, n) => event(n, `{"n":${n},"text":"row ${n} of many"}`));
      const [one, other] = [await write(events, { compression }), await write(events, { compression })];
      expect(one.body.equals(other.body)).to.equal(true);
      const plain = await write(events);
      if (compression !== 'none') expect(one.body.length).to.be.lessThan(plain.body.length / 2);
    });
  }

  it('are as large before they are compressed as others, and may be one row of that size', async () => {
    const form_ = { fileFormat: 'parquet', compression: 'zstd', fieldMapping: null } as const;
    const sink = new KeptFile();
    const file = openFile('org_1', form_, { threads, limit: MAX_ROW_BYTES, sink });
    const rowOf = (bytes: number) => Buffer.from(`{"payload":"${'x'.repeat(bytes - 14)}"}`);
    const row = (bytes: number) => ({ bytes: rowOf(bytes), rows: 1, conversions: [] });
    await file.add(row(64 * MIB - 1));
    let error: unknown;
    await file.add(row(100)).catch((thrown: unknown) => (error = thrown));
    expect(error).to.be.instanceOf(FileTooLargeError);
    await file.finish();
    const { body } = sink;
    expect(parquetEnd(body).num_rows).to.equal(1n);
    expect(body.length).to.be.lessThan(MIB);
  });
});
