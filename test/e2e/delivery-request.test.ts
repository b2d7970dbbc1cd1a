import { expect } from 'chai';
import { createClient, expectError, expectInvalid, type Json } from '../support/api-client.ts';
import { expirePayload } from '../support/api-records.ts';
import type { Endpoint, ReceivedRequest } from '../support/receiver.ts';
import { onceMore } from '../support/records.ts';
import { createOrganization } from '../support/service.ts';
import { useHookyard } from '../support/use-hookyard.ts';

interface Shown {
  attemptNumber: number;
  state: string;
  request: {
    method: string;
    url: string;
    headers: Record<string, string>;
    bodySize: number;
    body?: string;
    bodyEncoding?: 'base64';
  } | null;
  problem: { code: string; message: string } | null;
  doubts: { code: string; message: string; changedAt: string | null }[];
}

const HOUR_MS = 3_600_000;
const BODY = '{"order":{"id":42}}';
const OF_THE_CONNECTION = ['host', 'connection', 'content-length'];

describe('the request of a delivery, made again', () => {
  const { testInstance, records, receiver } = useHookyard();

  const shownOf = (deliveryId: string, query = '') =>
    testInstance.client.get<Shown & Json>(`/api/deliveries/${deliveryId}/request${query}`);
  const codesOf = ({ doubts }: Shown) => doubts.map(({ code }) => code);
  const patch = (path: string, body: object) => testInstance.client.patch(path, body);
  const transform = (code: string) =>
    testInstance.client.create('/api/transforms', { name: 'Reshape', type: 'javascript', code });

  /** @param masked the lowercase names of the headers that are not shown */
  function expectEqual(
    { request }: Shown,
    endpoint: Endpoint,
    received: ReceivedRequest | undefined,
    masked: string[] = [],
  ) {
    if (!request || !received) throw new Error('there is no request');
    expect(request).to.include({ method: received.method, url: endpoint.url, bodySize: received.body.length });
    expect(Buffer.from(request.body ?? '', request.bodyEncoding ?? 'utf8')).to.deep.equal(received.body);
    const shown = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const expected = Object.fromEntries(
      Object.entries(received.headers)
        .filter(([name]) => !OF_THE_CONNECTION.includes(name))
        .map(([name, value]) => [name, masked.includes(name) ? '••••' : value]),
    );
    expect(shown).to.deep.equal(expected);
  }

  it('is what the receiver got', async () => {
    const endpoint = receiver.endpoint(200);
    const { source } = await records.pipe(endpoint.url, {
      destination: { method: 'PUT', headers: { 'X-Team': 'blue' } },
    });
    const eventId = await records.accepted(source, BODY, { 'content-type': 'application/json', 'x-shop': 'north' });
    const { id } = await records.deliveryWith('delivered', eventId);
    const shown = await shownOf(id);
    expect(shown).to.deep.include({ deliveryId: id, attemptNumber: 1, state: 'made', problem: null, doubts: [] });
    expectEqual(shown, endpoint, endpoint.requests[0]);
    expect(shown.request).to.include({ body: BODY });
  });

  it('is what the receiver got of a transform', async () => {
    const endpoint = receiver.endpoint(200);
    const { id: transformId } = await transform(
      'export default (e) => ({ id: e.payload.order.id, at: Date.now(), by: e.id })',
    );
    const { delivery } = await records.deliver(endpoint.url, BODY, 'delivered', { route: { transformId } });
    const shown = await shownOf(delivery.id);
    expect(shown.doubts).to.deep.equal([]);
    expectEqual(shown, endpoint, endpoint.requests[0]);
    expect(shown.request?.body).to.include('"id":42');
  });

  const credentials: [authType: string, authConfig: object, header: string][] = [
    ['basic', { username: 'shop', password: 'a-long-secret' }, 'authorization'],
    ['bearer', { token: 'a-long-secret' }, 'authorization'],
    ['api_key', { headerName: 'X-Entry', key: 'a-long-secret' }, 'x-entry'],
    ['custom_header', { headerName: 'X-Shop-Entry', headerValue: 'a-long-secret' }, 'x-shop-entry'],
  ];
  for (const [authType, authConfig, header] of credentials) {
    it(`is what the receiver got with authType ${authType}, but for the secret`, async () => {
      const endpoint = receiver.endpoint(503, 200);
      const destination = { authType, authConfig, retryPolicy: onceMore(1, HOUR_MS) };
      const { delivery } = await records.deliver(endpoint.url, BODY, 'retrying', { destination });
      expectEqual(await shownOf(delivery.id), endpoint, endpoint.requests[0], [header]);
      const next = await shownOf(delivery.id, '?attempt=2');
      expect(JSON.stringify(next)).to.not.include('a-long-secret');
      await testInstance.client.post(`/api/deliveries/${delivery.id}/retry`);
      await records.deliveryWith('delivered', delivery.eventId);
      expectEqual(next, endpoint, endpoint.requests[1], [header]);
    });
  }

  it('has no signature that could be sent once more', async () => {
    const endpoint = receiver.endpoint(503, 200);
    const signingSecret = `whsec_${Buffer.alloc(32, 's').toString('base64')}`;
    const destination = { signingSecret, retryPolicy: onceMore(1, HOUR_MS) };
    const { delivery } = await records.deliver(endpoint.url, BODY, 'retrying', { destination });
    const made = await shownOf(delivery.id);
    expect(codesOf(made)).to.deep.equal([]);
    expectEqual(made, endpoint, endpoint.requests[0], ['webhook-signature']);
    expect(codesOf(await shownOf(delivery.id, '?attempt=2'))).to.deep.equal(['SIGNED_LATER']);
    await testInstance.client.post(`/api/deliveries/${delivery.id}/cancel`);
  });

  it('of the next attempt is what the receiver will get; there is none after that', async () => {
    const endpoint = receiver.endpoint(503, 200);
    const { id: transformId } = await transform('export default (e) => e.payload');
    const destination = { retryPolicy: onceMore(1, HOUR_MS) };
    const { delivery, destination: made } = await records.deliver(endpoint.url, BODY, 'retrying', {
      destination,
      route: { transformId },
    });
    const third = () => testInstance.client.request('GET', `/api/deliveries/${delivery.id}/request?attempt=3`);
    expect(await shownOf(delivery.id)).to.include({ attemptNumber: 1, state: 'made' });
    await patch(`/api/transforms/${transformId}`, { code: 'export default () => "second"' });
    await patch(`/api/destinations/${made.id}`, { headers: { 'X-Team': 'red' } });
    const next = await shownOf(delivery.id, '?attempt=2');
    expect(next).to.deep.include({ attemptNumber: 2, state: 'next', doubts: [] });
    expectInvalid(await third(), 'attempt');
    await testInstance.client.post(`/api/deliveries/${delivery.id}/retry`);
    await records.deliveryWith('delivered', delivery.eventId);
    expectEqual(next, endpoint, endpoint.requests[1]);
    expect(endpoint.requests[1]?.body.toString()).to.equal(BODY);
    expectInvalid(await third(), 'attempt');
  });

  it('keeps the transform of the delivery, and where the attempt went', async () => {
    const endpoint = receiver.endpoint(200);
    const { id: transformId } = await transform('export default () => "before"');
    const { delivery, destination, route } = await records.deliver(endpoint.url, BODY, 'delivered', {
      route: { transformId },
    });
    await patch(`/api/transforms/${transformId}`, { code: 'export default () => "after"' });
    await testInstance.client.request('DELETE', `/api/routes/${route.id}`);
    await testInstance.client.request('DELETE', `/api/transforms/${transformId}`);
    const shown = await shownOf(delivery.id);
    expect(shown.doubts).to.deep.equal([]);
    expect(shown.request).to.include({ body: 'before' });
    const changed = await patch(`/api/destinations/${destination.id}`, { url: `${endpoint.url}?moved`, method: 'PUT' });
    const kept = await shownOf(delivery.id);
    expect(kept.doubts).to.deep.equal([]);
    expect(kept.request).to.include({ method: 'POST', url: endpoint.url, body: 'before' });
    await testInstance.pool.query('delete from earlier_versions where record_id = $1', [destination.id]);
    const moved = await shownOf(delivery.id);
    expect(moved.doubts).to.have.length(1);
    expect(moved.doubts[0]).to.include({ code: 'DESTINATION_CHANGED', changedAt: changed.updatedAt });
    expect(moved.request).to.include({ body: 'before', url: `${endpoint.url}?moved` });
  });

  describe('cannot be made', () => {
    const expectProblem = async (deliveryId: string, code: string, message: RegExp) => {
      const { request, problem } = await shownOf(deliveryId);
      expect(request).to.equal(null);
      expect(problem?.code).to.equal(code);
      expect(problem?.message).to.match(message);
    };

    it('of a payload that retention removed', async () => {
      const { delivery } = await records.deliver(receiver.endpoint(200).url, BODY, 'delivered');
      await expirePayload(delivery.eventId);
      await expectProblem(delivery.id, 'PAYLOAD_EXPIRED', /retention/);
    });

    it('by a transform that fails', async () => {
      const { id: transformId } = await transform('export default (e) => {\n  return e.payload.a.b;\n}');
      const route = { transformId };
      const { delivery } = await records.deliver(receiver.endpoint(200).url, BODY, 'failed', { route });
      await expectProblem(delivery.id, 'TRANSFORM_FAILED', /^The transform Reshape failed: .*line 2/);
      // It shows what a replay would send.
      await patch(`/api/transforms/${transformId}`, { code: 'export default () => "mended"' });
      expect((await shownOf(delivery.id)).request).to.include({ body: 'mended' });
    });

    it('for a warehouse', async () => {
      const [source, lake] = await Promise.all([
        records.source(),
        testInstance.client.create('/api/destinations', {
          name: 'Lake',
          type: 's3',
          config: { bucket: 'lake', region: 'eu-central-1', accessKeyId: 'id', secretAccessKey: 'a-long-secret' },
        }),
      ]);
      await records.route(source.id, [lake.id]);
      const { id } = await records.deliveryWith('pending', await records.accepted(source, BODY));
      await expectProblem(id, 'WAREHOUSE', /files/);
      await testInstance.client.request('DELETE', `/api/destinations/${lake.id}`);
    });
  });

  it('of a delivery without an attempt is what a replay would send', async () => {
    const endpoint = receiver.endpoint(200);
    const { delivery } = await records.deliver(endpoint.url, BODY, 'skipped', { destination: { enabled: false } });
    expect(await shownOf(delivery.id)).to.deep.include({ attemptNumber: 1, state: 'never', doubts: [] });
    expect((await shownOf(delivery.id)).request).to.include({ body: BODY, url: endpoint.url });
  });

  it('shows the body to keys that may read payloads, and the address to those that may read destinations', async () => {
    const endpoint = receiver.endpoint(200);
    const { delivery } = await records.deliver(endpoint.url, BODY, 'delivered');
    const path = `/api/deliveries/${delivery.id}/request`;
    const keyWith = async (...scopes: string[]) => {
      const { token } = await testInstance.client.create<{ token: string }>('/api/api-keys', {
        name: 'scoped',
        scopes,
      });
      return createClient(testInstance.client.url, token);
    };
    const deliveries = await keyWith('deliveries:read');
    expectError(await deliveries.request('GET', path), 403, 'FORBIDDEN', /"payloads:read"/);
    const { request } = await deliveries.get<Shown & Json>(`${path}?includeBody=false`);
    expect(request).to.include({ url: `${new URL(endpoint.url).origin}/••••`, bodySize: BODY.length });
    expect(request).to.not.have.any.keys('body', 'bodyEncoding');
    const payloads = await keyWith('deliveries:read', 'payloads:read', 'destinations:read');
    expect((await payloads.get<Shown & Json>(path)).request).to.include({ url: endpoint.url, body: BODY });
    const other = await createOrganization();
    expectError(await other.api.request('GET', path), 404, 'RESOURCE_NOT_FOUND');
  });
});
