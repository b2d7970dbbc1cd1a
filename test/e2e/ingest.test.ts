import { expect } from 'chai';
import { createHash, randomBytes } from 'node:crypto';
import type { SourceView } from '../support/records.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const MEBIBYTE = 1024 * 1024;
const LIMIT = 10 * MEBIBYTE;

describe('ingest', () => {
  const { testInstance, records, receiver } = useHookyard();

  const refused = async (
    source: SourceView,
    answer: { status: number; body: object },
    status: number,
    code: string,
  ) => {
    expect(answer.status).to.equal(status);
    expect(answer.body).to.include({ code });
    expect(answer.body).to.include.keys('error', 'message');
    expect(await records.storedEvents(source.id), 'events stored').to.equal(0);
  };

  describe('delivers the exact bytes of', () => {
    const bodies: [what: string, contentType: string, body: Buffer][] = [
      ['JSON with unusual spacing and order', 'application/json', Buffer.from('{ "b":1.0,\n"a" : "\\u00e9\\/" }\r\n')],
      ['text', 'text/plain; charset=utf-8', Buffer.from('zwölf Boxkämpfer\n')],
      ['a form', 'application/x-www-form-urlencoded', Buffer.from('a=1&b=%20&a=2')],
      ['XML', 'application/xml', Buffer.from('<?xml version="1.0"?><a>&lt;</a>')],
      ['binary with NUL', 'application/octet-stream', Buffer.from([0, 255, 254, 0, 1, 128, 10, 13])],
      ['an empty body', 'application/json', Buffer.alloc(0)],
      ['10 MiB, the most there may be', 'application/octet-stream', randomBytes(LIMIT)],
    ];
    for (const [what, contentType, body] of bodies) {
      it(what, async () => {
        const endpoint = receiver.endpoint(200);
        const { source } = await records.pipe(endpoint.url);
        const eventId = await records.accepted(source, body, { 'content-type': contentType });
        const event = await records.eventWith('delivered', eventId);
        expect(endpoint.requests).to.have.length(1);
        expect(endpoint.requests[0]?.body.equals(body), 'the same bytes').to.equal(true);
        expect(endpoint.requests[0]?.headers['content-type']).to.equal(contentType);
        expect(event.payloadSize).to.equal(body.length);
        expect(event.payloadHash).to.equal(`sha256:${createHash('sha256').update(body).digest('hex')}`);
      });
    }
  });

  for (const method of ['PUT', 'PATCH']) {
    it(`takes ${method} like POST`, async () => {
      const endpoint = receiver.endpoint(200);
      const { source } = await records.pipe(endpoint.url);
      const eventId = await records.accepted(source, '{}', {}, method);
      await records.eventWith('delivered', eventId);
      expect(endpoint.requests[0]?.method, "the destination's own method").to.equal('POST');
    });
  }

  it('refuses a webhook for a disabled source with 403, and takes it once the source is enabled', async () => {
    const source = await records.source({ enabled: false });
    await refused(source, await records.post(source, '{}'), 403, 'SOURCE_DISABLED');
    await testInstance.client.patch(`${testInstance.base}/sources/${source.id}`, { enabled: true });
    await records.accepted(source, '{}');
    await testInstance.client.patch(`${testInstance.base}/sources/${source.id}`, { enabled: false });
    expect((await records.post(source, '{}')).status).to.equal(403);
    expect(await records.storedEvents(source.id)).to.equal(1);
  });

  describe('with an idempotency key', () => {
    const keyed = { idempotencyKey: { header: 'X-Delivery', windowSeconds: 300 } };

    it('stores a repeat once and answers it with the first event', async () => {
      const endpoint = receiver.endpoint(200);
      const { source } = await records.pipe(endpoint.url, { source: keyed });
      const first = await records.post(source, '{"n":1}', { 'x-delivery': 'a' });
      const again = await records.post(source, '{"n":2}', { 'x-delivery': 'a' });
      expect(first.body).to.deep.equal({ success: true, eventId: first.body.eventId });
      expect(again.status).to.equal(200);
      expect(again.body).to.deep.equal({ success: true, eventId: first.body.eventId, duplicate: true });
      const other = await records.accepted(source, '{"n":3}', { 'x-delivery': 'b' });
      await records.eventWith('delivered', first.body.eventId);
      await records.eventWith('delivered', other);
      expect(await records.storedEvents(source.id)).to.equal(2);
      expect(endpoint.requests).to.have.length(2);
    });

    it('stores exactly one of many repeats that arrive at the same moment', async () => {
      const source = await records.source(keyed);
      const answers = await Promise.all(
        Array.from({ length: 25 }, (_, n) => records.post(source, `{"n":${n}}`, { 'x-delivery': 'same' })),
      );
      expect(answers.map((answer) => answer.status)).to.deep.equal(Array(25).fill(200));
      expect(new Set(answers.map((answer) => answer.body.eventId)).size).to.equal(1);
      expect(answers.filter((answer) => !answer.body.duplicate)).to.have.length(1);
      expect(await records.storedEvents(source.id)).to.equal(1);
    });

    it('accepts the same key again after the window', async () => {
      const source = await records.source({ idempotencyKey: { header: 'X-Delivery', windowSeconds: 1 } });
      const first = await records.accepted(source, '{}', { 'x-delivery': 'a' });
      const second = await until('the window to end', async () => {
        const answer = await records.post(source, '{}', { 'x-delivery': 'a' });
        return answer.body.duplicate ? null : answer.body.eventId;
      });
      expect(second).to.not.equal(first);
      expect(await records.storedEvents(source.id)).to.equal(2);
    });
  });
});
