// Bodies that are small on the wire and large in memory, against the running API. Those that are many:
// crowded-bodies.test.ts.
import { expect } from 'chai';
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { BodyMemory, bufferedBytes } from '../../api/http/receive-body.ts';
import { makeSource } from '../support/api-records.ts';
import { heldBytes, INSPECTED } from '../support/attacks/heap.ts';
import { send } from '../support/requests/http-client.ts';
import { useMade, useOrganization, useService } from '../support/use-hookyard.ts';
import { TUNING } from '../../core/config/tuning.ts';

const MEBIBYTE = 1024 * 1024;
const MAX_PAYLOAD = 5 * MEBIBYTE;
const ROOM = 16 * MEBIBYTE;
/** Twenty times the largest webhook, in some hundred KB. */
const BOMB_BYTES = 100 * MEBIBYTE;

describe('Bodies', () => {
  const limits = { HOOKYARD_MAX_PAYLOAD_BYTES: String(MAX_PAYLOAD), tuning: { bufferedBytes: ROOM } };
  const service = useService('api', { ...INSPECTED, ...limits });
  const organization = useOrganization(() => ({ service }));
  const source = useMade('a source', () => makeSource(organization));

  describe('that are compressed', () => {
    const bomb = Buffer.alloc(BOMB_BYTES, ' ');
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
        const headers = { 'content-type': 'application/x-bomb', 'content-encoding': coding };
        const answer = await send('POST', `${service.url}/ingest/${organization.slug}/${source.slug}`, headers, bytes);
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
    }
  });

  it('have room for the largest webhook, be its chunks as small as those of a slow network', () => {
    const [packet, least] = [1460 * 2, TUNING.bufferedBytes];
    expect(bufferedBytes(least, 10 * MEBIBYTE)).to.equal(least);
    const largest = 100 * MEBIBYTE;
    const room = new BodyMemory(bufferedBytes(least, largest)).forWebhook('1', 'o');
    for (let rest = largest; rest > 0; rest -= packet) expect(room.take(packet + 256)).to.equal(true);
    room.free();
  });

  it('take and give back room exactly', () => {
    const memory = new BodyMemory(100);
    const [first, second] = [memory.forWebhook('1', 'o'), memory.forWebhook('2', 'o')];
    // Of 75 bytes for ingest one address gets half; its organization then has room for another one.
    expect([first.take(30), first.take(7), first.take(1)]).to.deep.equal([true, true, false]);
    expect([second.take(19), second.take(1)]).to.deep.equal([true, false]);
    const manager = memory.forManagement('o');
    expect([manager.take(10), manager.take(8), manager.take(1)]).to.deep.equal([true, true, false]);
    first.free();
    first.free();
    expect([second.take(18), second.take(1)]).to.deep.equal([true, false]);
    second.free();
    expect(memory.forWebhook('1', 'o').take(75)).to.equal(true);
  });
});
