import { expect } from 'chai';
import * as fc from 'fast-check';
import { rowText, type WarehouseEvent } from '../../core/warehouse/rows.ts';
import { compileFieldMapping, type FieldMapping, type FieldMappingRule } from '../../core/warehouse/field-mapping.ts';
import { anyJson, numbersIn } from '../support/requests/json-numbers.ts';
import {
  contentTypeOf,
  fileLimit,
  FileTooLargeError,
  keyOfHalf,
  objectKey,
  openTextFile,
  partitionOf,
  type TextFormat,
} from '../../core/warehouse/files-and-keys.ts';
import { KeptFile } from '../support/requests/kept-file.ts';
import { warehouseEvent } from '../support/warehouse/warehouse-event.ts';

const event = (id: string, at: string, body: string | Buffer = '{}', headers: Record<string, string> = {}) =>
  warehouseEvent(body, { id, deliveryId: `dlv_of_${id}`, receivedAt: new Date(at), headers });

const mappingOf = (...rules: FieldMappingRule[]) => compileFieldMapping(rules, 'json');

const byTime = (a: WarehouseEvent, b: WarehouseEvent) =>
  a.receivedAt.getTime() - b.receivedAt.getTime() || (a.id < b.id ? -1 : 1);

async function buildFile(batch: {
  events: readonly WarehouseEvent[];
  fileFormat: TextFormat;
  mapping?: FieldMapping | null;
}) {
  const kept = new KeptFile();
  const file = openTextFile(batch.fileFormat, fileLimit(0), kept);
  for (const each of batch.events.toSorted(byTime)) {
    const { text, misfits } = rowText(each, { mapping: batch.mapping ?? null, payloadColumn: 'json' });
    const conversions = misfits.map((target) => ({ target, count: 1, eventId: each.id }));
    await file.add({ bytes: Buffer.from(text), rows: 1, conversions });
  }
  return { ...(await file.finish()), body: kept.body };
}

describe('object key', () => {
  const events = [event('evt_2', '2026-11-21T23:59:59.999Z'), event('evt_1', '2026-11-21T23:59:10.007Z')];
  const frozenAt = new Date('2026-11-22T00:00:04.005Z');
  const form = { fileFormat: 'jsonl', partitionBy: 'date', compression: 'none' } as const;
  const batch = { id: 'bat_1', events, keyOrder: 'received', frozenAt, ...form } as const;

  it('is prefix, partition, time of the first event, batch id', () => {
    expect(objectKey({ ...batch, prefix: 'hooks/in' })).to.equal(
      'hooks/in/date=2026-11-21/20261121T235910007Z-bat_1.jsonl',
    );
  });

  it('has the time of writing instead, in the same folder', () => {
    expect(objectKey({ ...batch, keyOrder: 'written' })).to.equal('date=2026-11-21/20261122T000004005Z-bat_1.jsonl');
  });

  it('is partitioned by date, hour or source, in UTC of the time received', () => {
    const [first] = events;
    if (!first) throw new Error('no event');
    expect(partitionOf(first, 'date')).to.equal('date=2026-11-21');
    expect(partitionOf(first, 'hour')).to.equal('date=2026-11-21/hour=23');
    expect(partitionOf(first, 'source')).to.equal('source=orders/date=2026-11-21');
    expect(objectKey({ ...batch, partitionBy: 'hour', fileFormat: 'json' })).to.equal(
      'date=2026-11-21/hour=23/20261121T235910007Z-bat_1.json',
    );
  });

  it('ends in what tells the compression, also that of the half of a batch', () => {
    const at = new Date('2026-11-21T23:59:59.999Z');
    for (const [compression, fileFormat, ending] of [
      ['none', 'json', '.json'],
      ['gzip', 'jsonl', '.jsonl.gz'],
      ['zstd', 'jsonl', '.jsonl.zst'],
      ['gzip', 'json', '.json.gz'],
      ['none', 'parquet', '.parquet'],
      ['snappy', 'parquet', '.parquet'],
      ['gzip', 'parquet', '.parquet'],
    ] as const) {
      const key = objectKey({ ...batch, compression, fileFormat, prefix: 'v1.2' });
      expect(key).to.equal(`v1.2/date=2026-11-21/20261121T235910007Z-bat_1${ending}`);
      expect(keyOfHalf(key, { id: 'bat_2', at })).to.equal(`v1.2/date=2026-11-21/20261121T235959999Z-bat_2${ending}`);
      expect(keyOfHalf(key, { id: 'bat_2', at: null })).to.equal(key.replace('bat_1', 'bat_2'));
    }
  });

  it('has no empty segments at its prefix', () => {
    for (const prefix of [undefined, '', '/', '//']) expect(objectKey({ ...batch, prefix })).to.match(/^date=/);
    expect(objectKey({ ...batch, prefix: '/a/b/' })).to.match(/^a\/b\/date=/);
  });

  it('does not depend on the order of the events', () => {
    expect(objectKey({ ...batch, events: events.toReversed() })).to.equal(objectKey(batch));
  });

  it('refuses a batch of no partition or of two', () => {
    expect(() => objectKey({ ...batch, events: [] })).to.throw(RangeError, /exactly one/);
    const nextDay = event('evt_3', '2026-11-22T00:00:00.000Z');
    expect(() => objectKey({ ...batch, events: [...events, nextDay] })).to.throw(RangeError, /of 2 partitions/);
  });
});

describe('file content', () => {
  const at = '2026-11-21T15:45:10.123Z';
  const headers = { 'x-b': '2', 'x-a': '1' };

  it('is one row a line in jsonl', async () => {
    const file = await buildFile({
      events: [event('evt_1', at, '{"a":1}', headers), event('evt_2', at, 'plain')],
      fileFormat: 'jsonl',
    });
    const start = (id: string, names: string) =>
      `{"event_id":"${id}","source":"orders","received_at":"${at}","headers":${names}`;
    const text = `${start('evt_1', '{"x-a":"1","x-b":"2"}')},"payload":{"a":1}}\n${start('evt_2', '{}')},"payload":"plain"}\n`;
    expect(file.body.toString()).to.equal(text);
    expect(file).to.deep.include({ count: 2, conversions: [] });
  });

  it('is an array in json', async () => {
    const file = await buildFile({ events: [event('evt_1', at), event('evt_2', at)], fileFormat: 'json' });
    expect(JSON.parse(file.body.toString()).map((row: { event_id: string }) => row.event_id)).to.deep.equal([
      'evt_1',
      'evt_2',
    ]);
    expect((await buildFile({ events: [], fileFormat: 'json' })).body.toString()).to.equal('[\n\n]\n');
  });

  it('keeps JSON payloads as they were written, on one line', async () => {
    const body = '\ufeff{\r\n  "id": 12345678901234567890,\n  "price": 1.10, "b": 1, "a": 2 }\n';
    const { body: written } = await buildFile({ events: [event('evt_1', at, body)], fileFormat: 'jsonl' });
    expect(written.toString()).to.contain(
      ',"payload":{   "id": 12345678901234567890,   "price": 1.10, "b": 1, "a": 2 }}\n',
    );
    expect(written.toString().split('\n')).to.have.length(2);
  });

  it('holds no halves of surrogate pairs, in rows, columns and JSON inside a text', async () => {
    const half = String.raw`\ud800`;
    const body = String.raw`{"${half}":"a${half}b\uDC00\uD83D\ude00\\ud800\n"}`;
    const shown = { '\ufffd': 'a\ufffdb\ufffd\u{1f600}\\ud800\n' };
    const rows = await buildFile({ events: [event('evt_1', at, body)], fileFormat: 'jsonl' });
    expect(JSON.parse(rows.body.toString()).payload).to.deep.equal(shown);
    const mapping = mappingOf(
      { source: '$.payload', target: 'json', type: 'json' },
      { source: '$.payload.*', target: 'text', type: 'string' },
      { source: '$.payload', target: 'inner', type: 'string' },
    );
    const mapped = await buildFile({ events: [event('evt_1', at, body)], fileFormat: 'json', mapping });
    expect(JSON.parse(mapped.body.toString())).to.deep.equal([
      { json: shown, text: shown['\ufffd'], inner: JSON.stringify(shown) },
    ]);
  });

  it('keeps the value of every number, in rows and in columns of the type json', () => {
    const whole = mappingOf({ source: '$.payload', target: 'payload', type: 'json' });
    return fc.assert(
      fc.asyncProperty(anyJson, async (json) => {
        for (const mapping of [null, whole]) {
          const file = await buildFile({ events: [event('evt_1', at, json)], fileFormat: 'jsonl', mapping });
          expect(numbersIn(file.body.toString())).to.deep.equal(numbersIn(`{"payload":${json}}`));
        }
      }),
    );
  });

  it('shows bytes that are no text in base64 and says so', async () => {
    const { body } = await buildFile({ events: [event('evt_1', at, Buffer.from([0xff, 0x00]))], fileFormat: 'jsonl' });
    expect(JSON.parse(body.toString())).to.deep.include({ payload: '/wA=', payload_encoding: 'base64' });
  });

  it('has the mapped columns instead, and counts what did not fit', async () => {
    const mapping = mappingOf(
      { source: '$.payload.n', target: 'n', type: 'number', default: '0' },
      { source: '$.id', target: 'id', type: 'string' },
    );
    const events = ['{"n":"1.5"}', '{"n":"x"}', 'text', '{"n":[]}'].map((body, n) => event(`evt_${n + 1}`, at, body));
    const file = await buildFile({ events, fileFormat: 'jsonl', mapping });
    expect(file.body.toString()).to.equal(
      '{"n":1.5,"id":"evt_1"}\n{"n":0,"id":"evt_2"}\n{"n":0,"id":"evt_3"}\n{"n":0,"id":"evt_4"}\n',
    );
    expect(file.conversions).to.deep.equal([{ target: 'n', count: 2, eventId: 'evt_2' }]);
  });

  it('is the same bytes whatever the order of events and headers, and each line is JSON that holds the payload', () => {
    const bodies = fc.oneof(
      fc.json(),
      fc.string(),
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    );
    const one = fc.record({
      ms: fc.integer({ min: 0, max: 5 }),
      body: bodies,
      headers: fc.dictionary(fc.string(), fc.string()),
    });
    return fc.assert(
      fc.asyncProperty(
        fc.array(one, { minLength: 1, maxLength: 8 }),
        fc.constantFrom('jsonl' as const, 'json' as const),
        async (given, fileFormat) => {
          const events = given.map(({ ms, body, headers: names }, n) =>
            event(`evt_${n}`, new Date(1_700_000_000_000 + ms).toISOString(), body, names),
          );
          const turned = events
            .toReversed()
            .map((one) => ({ ...one, headers: Object.fromEntries(Object.entries(one.headers).toReversed()) }));
          const file = await buildFile({ events, fileFormat });
          expect((await buildFile({ events: turned, fileFormat })).body.equals(file.body)).to.equal(true);
          const text = file.body.toString();
          const rows =
            fileFormat === 'json'
              ? JSON.parse(text)
              : text
                  .trimEnd()
                  .split('\n')
                  .map((line) => JSON.parse(line));
          expect(rows).to.have.length(events.length);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('is of the type of its format, or of its compression', () => {
    const types = (['jsonl', 'json', 'parquet'] as const).flatMap((fileFormat) =>
      (['none', 'gzip', 'zstd'] as const).map((compression) => contentTypeOf(fileFormat, compression)),
    );
    const parquet = 'application/vnd.apache.parquet';
    expect(types).to.deep.equal([
      ...['application/x-ndjson', 'application/gzip', 'application/zstd'],
      ...['application/json', 'application/gzip', 'application/zstd'],
      ...[parquet, parquet, parquet],
    ]);
  });

  it('has at most 64 MiB, or twice as much as its payloads', async () => {
    const mib = 1024 * 1024;
    expect([fileLimit(5 * mib), fileLimit(128 * mib)]).to.deep.equal([64 * mib, 256 * mib]);
    const file = openTextFile('jsonl', 2 * mib, { write: async () => undefined });
    const half = { bytes: Buffer.alloc(mib, ' '), rows: 1, conversions: [] };
    await file.add(half);
    let error: unknown;
    await file.add(half).catch((thrown: unknown) => (error = thrown));
    expect(error).to.be.instanceOf(FileTooLargeError);
  });
});
