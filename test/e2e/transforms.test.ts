import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { onceMore } from '../support/records.ts';
import { useHookyard } from '../support/use-hookyard.ts';

interface TransformView {
  id: string;
  name: string;
}

describe('transforms of deliveries', () => {
  const { testInstance, records, receiver } = useHookyard();

  const make = (type: string, code: string, fields: object = {}) =>
    testInstance.client.create<TransformView>('/api/transforms', { name: 'Reshape', type, code, ...fields });
  const pipe = (url: string, transform: TransformView, retries = 0) =>
    records.pipe(url, { route: { transformId: transform.id }, destination: { retryPolicy: onceMore(retries) } });

  const languages: [type: string, code: string, body: string, contentType: string][] = [
    ['javascript', 'export default ({ payload }) => ({ id: payload.order.id })', '{"id":42}', 'application/json'],
    ['jsonata', '{ "id": payload.order.id }', '{"id":42}', 'application/json'],
    ['liquid', 'Order {{ payload.order.id }}', 'Order 42', 'text/plain; charset=utf-8'],
  ];
  for (const [type, code, body, contentType] of languages) {
    it(`sends what ${type} made of the event, with its content type, and keeps the event as it was`, async () => {
      const endpoint = receiver.endpoint(200);
      const { source } = await pipe(endpoint.url, await make(type, code));
      const eventId = await records.accepted(source, '{"order": {"id": 42}}');
      await records.eventWith('delivered', eventId);
      expect(endpoint.requests).to.have.length(1);
      expect(endpoint.requests[0]?.body.toString()).to.equal(body);
      expect(endpoint.requests[0]?.headers).to.include({
        'content-type': contentType,
        'content-length': String(body.length),
      });
      const event = await records.event(eventId, 'includePayload=true');
      expect(event.payload).to.deep.equal({ order: { id: 42 } });
    });
  }

  it('drops headers that described the received bytes, and names the content type that was asked for', async () => {
    const endpoint = receiver.endpoint(200);
    const code = "export default (e) => '<kind>' + e.headers['x-kind'] + ' ' + e.payloadEncoding + '</kind>'";
    const transform = await make('javascript', code, { outputContentType: 'application/xml' });
    const { source } = await pipe(endpoint.url, transform);
    const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip', 'X-Kind': 'order' };
    await records.eventWith('delivered', await records.accepted(source, gzipSync('{}'), headers));
    const [request] = endpoint.requests;
    expect(request?.body.toString()).to.equal('<kind>order base64</kind>');
    expect(request?.headers).to.include({ 'content-type': 'application/xml', 'x-kind': 'order' });
    expect(request?.headers).not.to.have.property('content-encoding');
  });

  it('sends identical bytes with every retry, also where the code asks for time and chance', async () => {
    const endpoint = receiver.endpoint(500, 500, 200);
    const code = 'export default (event) => [Date.now(), new Date(), Math.random(), event.id, event.receivedAt]';
    const { source } = await pipe(endpoint.url, await make('javascript', code), 2);
    await records.eventWith('delivered', await records.accepted(source, '{}'));
    const hashes = endpoint.requests.map(({ body }) => createHash('sha256').update(body).digest('hex'));
    expect(hashes).to.have.length(3);
    expect(new Set(hashes).size).to.equal(1);
  });

  it('fails a delivery whose transform fails, without an attempt; a replay works once it is mended', async () => {
    const endpoint = receiver.endpoint(200);
    const transform = await make('javascript', 'export default function (event) {\n  return event.payload.a.b;\n}');
    const { source } = await pipe(endpoint.url, transform, 5);
    const eventId = await records.accepted(source, '{}');
    const failed = await records.deliveryWith('failed', eventId);
    expect(failed).to.include({ attemptCount: 0, statusCode: null });
    expect(failed.error).to.match(/^The transform Reshape failed: TypeError: .* \(line 2, column \d+\)$/);
    expect(endpoint.requests).to.have.length(0);
    expect(await records.event(eventId)).to.include({ status: 'failed', deliveriesFailed: 1 });

    await testInstance.client.patch(`/api/transforms/${transform.id}`, {
      code: 'export default () => ({ mended: true })',
    });
    await testInstance.client.request('POST', `/api/deliveries/${failed.id}/replay`);
    await records.eventWith('delivered', eventId);
    expect(endpoint.requests.map(({ body }) => body.toString())).to.deep.equal(['{"mended":true}']);
    await records.workflowsEnd([failed.id]);
  });
});
