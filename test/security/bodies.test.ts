// Bodies that are small on the wire and large in memory, against the running API. Those that are many: crowded-bodies.test.ts.
import { expect } from 'chai';
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { bufferedBytes, createBodyMemoryBudgets } from '../../api/body-memory-budget.ts';
import { expectError } from '../support/api-client.ts';
import { makeSource, type SourceRecord } from '../support/api-records.ts';
import { heldBytes, INSPECTED } from '../support/heap.ts';
import { send } from '../support/http-client.ts';
import { createOrganization, type Service, startService, type TestOrganization } from '../support/service.ts';
import { TUNING } from '../../core/tuning.ts';

const MEBIBYTE = 1024 * 1024;
const MAX_PAYLOAD = 5 * MEBIBYTE;
const ROOM = 16 * MEBIBYTE;
/** Twenty times the largest webhook, in some hundred KB. */
const BOMB_BYTES = 100 * MEBIBYTE;

describe('Bodies @turns', () => {
  let service: Service;
  let organization: TestOrganization;
  let source: SourceRecord;

  before(async () => {
    service = await startService('api', {
      ...INSPECTED,
      HOOKYARD_MAX_PAYLOAD_BYTES: String(MAX_PAYLOAD),
      tuning: { bufferedBytes: ROOM },
    });
    organization = await createOrganization({ service });
    source = await makeSource(organization);
  });
  after(() => service.stop());

  const path = ({ slug }: SourceRecord) => `/ingest/${organization.slug}/${slug}`;
  const post = (to: SourceRecord, body: Buffer, headers: Record<string, string> = {}) =>
    send('POST', service.url + path(to), { 'content-type': 'application/json', ...headers }, body);

  describe('that are compressed', () => {
    const bomb = Buffer.alloc(BOMB_BYTES, ' ');
    const json = Buffer.from('{"name":"D","url":"https://d.example"}');
    const codings: [string, (bytes: Buffer) => Buffer][] = [
      ['gzip', (bytes) => gzipSync(bytes, { level: 1 })],
      ['deflate', (bytes) => deflateSync(bytes, { level: 1 })],
      ['br', (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
      ['zstd', (bytes) => zstdCompressSync(bytes)],
    ];
    for (const [coding, compress] of codings) {
      it(`are stored as they came, a ${coding} bomb too`, async () => {
        const bytes = compress(bomb);
        const before = await heldBytes(service);
        const answer = await post(source, bytes, { 'content-type': 'application/x-bomb', 'content-encoding': coding });
        expect(answer.status).to.equal(200);
        const events = `${service.url}${organization.base}/events/${String(answer.body.eventId)}`;
        const authorization = { authorization: `Bearer ${organization.token}` };
        const event = await send('GET', events, authorization);
        expect(event.body).to.include({ payloadSize: bytes.length });
        const payload = await send('GET', `${events}/payload`, authorization);
        expect(payload.bytes.equals(bytes)).to.equal(true);
        // What is held after it is nowhere near what is in it.
        expect((await heldBytes(service)) - before).to.be.below(BOMB_BYTES / 2);
      });

      it(`are refused by the management API, in ${coding}`, async () => {
        const targets: [string, Record<string, string>][] = [
          ['/api/destinations', {}],
          ['/api/destinations', { 'Idempotency-Key': `bomb-${coding}` }],
          ['/api/destinations/import', {}],
        ];
        for (const [target, headers] of targets) {
          for (const body of [compress(json), compress(bomb)]) {
            const answer = await organization.api.request('POST', target, undefined, {
              raw: new Uint8Array(body),
              headers: { 'Content-Type': 'application/json', 'Content-Encoding': coding, ...headers },
            });
            expectError(answer, 415, 'UNSUPPORTED_MEDIA_TYPE', /without Content-Encoding/);
          }
        }
      });
    }

    it('are no JSON when they do not say that they are compressed', async () => {
      const raw = new Uint8Array(gzipSync(json));
      const headers = { 'Content-Type': 'application/json' };
      expectError(
        await organization.api.request('POST', '/api/destinations', undefined, { raw, headers }),
        400,
        'INVALID_JSON',
      );
    });
  });

  it('have room for the largest webhook, be its chunks as small as those of a slow network', () => {
    const [packet, least] = [1460 * 2, TUNING.bufferedBytes];
    expect(bufferedBytes(least, 10 * MEBIBYTE)).to.equal(least);
    const largest = 100 * MEBIBYTE;
    const budget = createBodyMemoryBudgets({ maxBytes: bufferedBytes(least, largest), maxRequestsPerSource: 1 })();
    budget.enter({ client: '1', source: 'a', organization: 'o' });
    for (let rest = largest; rest > 0; rest -= packet) expect(budget.take(packet + 256)).to.equal(true);
    budget.free();
  });

  it('take and give back room exactly', () => {
    const open = createBodyMemoryBudgets({ maxBytes: 100, maxRequestsPerSource: 2 });
    const [first, second, third] = [open(), open(), open()];
    const from = (client: string, source = 'a', organization = 'o') => ({ client, source, organization });
    expect([first.enter(from('1')), second.enter(from('2')), third.enter(from('3'))]).to.deep.equal([
      true,
      true,
      false,
    ]);
    // Of 75 bytes for ingest one address gets half; its source then has room for another one.
    expect([first.take(38), first.take(1), second.take(12), second.take(1)]).to.deep.equal([true, false, true, false]);
    first.free();
    first.free();
    expect([second.take(26), second.take(1)]).to.deep.equal([true, false]);
    expect([third.take(1), third.enter(from('3')), third.take(10)]).to.deep.equal([false, true, true]);
    second.free();
    third.free();
    const [manager, full] = [open(), open()];
    expect([manager.enter({ client: '1', organization: 'o' }), manager.take(75), manager.take(1)]).to.deep.equal([
      true,
      true,
      false,
    ]);
    expect([full.enter(from('1', 'b', 'p')), full.take(25)]).to.deep.equal([true, true]);
    manager.free();
    full.free();
    const [again] = [open()];
    expect([again.enter(from('1')), again.take(38)]).to.deep.equal([true, true]);
  });
});
