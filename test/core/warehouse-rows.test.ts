import { expect } from 'chai';
import * as fc from 'fast-check';
import { rowText, type WarehouseEvent } from '../../core/warehouse/rows.ts';
import { anyJson } from '../support/requests/json-numbers.ts';
import { warehouseEvent } from '../support/warehouse/warehouse-event.ts';

const RECEIVED_AT = '2026-11-21T15:45:10.123Z';
const WRITTEN_AT = '2026-11-22T00:01:02.003Z';

const event = (body: string | Buffer, headers: Record<string, string> = {}): WarehouseEvent =>
  warehouseEvent(body, { headers, receivedAt: new Date(RECEIVED_AT), writtenAt: new Date(WRITTEN_AT) });

describe('rows with payloads as text', () => {
  const COLUMNS = [
    ...['event_id', 'delivery_id', 'source', 'route', 'received_at', 'written_at', 'replay_of'],
    ...['headers', 'payload', 'payload_encoding'],
  ];
  const textOf = (each: WarehouseEvent) => rowText(each, { mapping: null, payloadColumn: 'text' }).text;
  const rowOf = (each: WarehouseEvent): Record<string, string | null> => JSON.parse(textOf(each));
  const shown = (body: string | Buffer) => {
    const { payload, payload_encoding: encoding } = rowOf(event(body));
    return [encoding, payload];
  };

  it('has the same columns in every row, all of them text or null', () => {
    const headers = { 'x-b': '2', 'x-a': '"1"' };
    expect(rowOf(event('{"a": 1}', headers))).to.deep.equal({
      ...{ event_id: 'evt_1', delivery_id: 'dlv_1', source: 'orders', route: 'rte_1', replay_of: null },
      ...{ received_at: RECEIVED_AT, written_at: WRITTEN_AT },
      headers: '{"x-a":"\\"1\\"","x-b":"2"}',
      payload: '{"a": 1}',
      payload_encoding: 'json',
    });
    const replay = { ...event('{}'), routeId: null, replayOf: 'dlv_0' };
    expect(rowOf(replay)).to.include({ route: null, replay_of: 'dlv_0' });
  });

  it('keeps JSON letter for letter, without its byte order mark', () => {
    const deep = `${'['.repeat(500)}${']'.repeat(500)}`;
    for (const json of ['{"a":1e400,"a":123456789012345678901234567890}', ' [1,\n2]\t', '"x"', 'null', '-0.0', deep]) {
      expect(shown(json)).to.deep.equal(['json', json]);
    }
    expect(shown('\ufeff{}')).to.deep.equal(['json', '{}']);
    const half = String.raw`{"\ud800":"\uDC00 \\ud800"}`;
    expect(shown(half), 'halves of surrogate pairs stay escapes').to.deep.equal(['json', half]);
  });

  it('keeps other text, and shows other bytes in base64', () => {
    for (const text of ['', 'a=1&b=2', '{"a":', '\u0000\r\n', '\ufeffx', `[${'['.repeat(500)}${']'.repeat(500)}]`]) {
      expect(shown(text)).to.deep.equal(['text', text]);
    }
    // A half of a surrogate pair in bytes is no UTF-8.
    for (const bytes of [Buffer.from([0xff, 0x00]), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from([0x7b, 0x80])]) {
      expect(shown(bytes)).to.deep.equal(['base64', bytes.toString('base64')]);
    }
  });

  it('is UTF-8 whose rows have the same form, whatever comes in', () => {
    const bodies = fc.oneof(
      fc.json({ stringUnit: 'binary' }),
      fc.string({ unit: 'binary' }),
      anyJson,
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    );
    const strings = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) });
    void fc.assert(
      fc.property(bodies, fc.dictionary(strings, strings), (body, headers) => {
        const text = textOf(event(body, headers));
        expect(text.isWellFormed()).to.equal(true);
        expect(text).to.not.include('\n');
        expect(text, 'no half of a surrogate pair to any reader').to.not.match(/(?<!\\)(\\\\)*\\ud[89a-f]/i);
        const row = JSON.parse(text);
        expect(Object.keys(row)).to.deep.equal(COLUMNS);
        for (const name of COLUMNS) expect(row[name] === null || typeof row[name] === 'string', name).to.equal(true);
        const bytes = Buffer.from(row.payload, row.payload_encoding === 'base64' ? 'base64' : 'utf8');
        const sent = Buffer.from(body);
        const mark = row.payload_encoding === 'json' && sent.subarray(0, 3).equals(Buffer.from('\ufeff')) ? 3 : 0;
        expect(bytes.equals(sent.subarray(mark))).to.equal(true);
      }),
      { numRuns: 500 },
    );
  });
});
