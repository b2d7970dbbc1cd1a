// A stranger who may send a webhook must not steer the servers behind a destination by its headers, or speak for the
// proxies in front of them. What providers send arrives all the same.
import { expect } from 'chai';
import { expectError, expectInvalid, type Json } from '../support/api-client.ts';
import { useHookyard } from '../support/use-hookyard.ts';

/**
 * Some that would change what a server behind takes the request for, or whom it is from. All:
 * test/core/forwarded-headers.test.ts.
 */
const STEERING: Record<string, string> = {
  'x-http-method-override': 'DELETE',
  'x-forwarded-host': 'evil.example',
  'x-real-ip': '127.0.0.1',
  'x-middleware-subrequest': 'middleware',
  'webhook-id': 'msg_forged',
  'webhook-signature': 'v1,Zm9yZ2Vk',
};
const underscored = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.replaceAll('-', '_'), value]));

/** As a provider sends. */
const GITHUB = {
  accept: '*/*',
  'content-type': 'application/json',
  'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
  'x-github-event': 'issues',
  'x-hub-signature-256': 'sha256=d57c68ca6f92289e6987922ff26938930f6e66a2d161ef06abdf1859230aa23c',
};

describe('headers that steer servers', () => {
  const { testInstance, records, receiver } = useHookyard();

  /** The headers with which a webhook arrives. */
  async function arrived(received: Record<string, string>, destination: Json = {}) {
    const endpoint = receiver.endpoint(200);
    const { source } = await records.pipe(endpoint.url, { destination });
    await records.eventWith('delivered', await records.accepted(source, '{}', received));
    expect(endpoint.requests).to.have.length(1);
    return endpoint.requests[0]?.headers ?? {};
  }

  it('do not reach a destination, in either spelling', async () => {
    const headers = await arrived({ ...STEERING, ...underscored(STEERING), 'x-shop': 'north' });
    expect(headers).to.include({ 'x-shop': 'north' });
    expect(headers).to.not.have.any.keys(...Object.keys(STEERING), ...Object.keys(underscored(STEERING)));
  });

  it('of Hookyard itself do not either, whatever their name', async () => {
    const headers = await arrived({ 'x-hookyard-tenant': 'acme', x_hookyard_role: 'admin', 'x-hookyard-hops': '2' });
    expect(headers).to.not.have.any.keys('x-hookyard-tenant', 'x_hookyard_role');
    expect(headers['x-hookyard-hops']).to.equal('3');
  });

  it('reach a destination that asks for all, but for credentials and those of the connection and of Hookyard', async () => {
    const never = {
      authorization: 'Bearer stolen',
      cookie: 'session=1',
      'proxy-authorization': 'Basic eDp5',
      'accept-encoding': 'gzip',
      'x-hookyard-tenant': 'acme',
    };
    const headers = await arrived({ ...STEERING, ...never }, { forwardHeaders: 'all' });
    expect(headers)
      .to.include(STEERING)
      .and.not.have.any.keys(...Object.keys(never));
  });

  it('are never mistaken for a signature: that of Hookyard replaces them', async () => {
    const signingSecret = `whsec_${Buffer.alloc(24, 's').toString('base64')}`;
    const headers = await arrived(STEERING, { forwardHeaders: 'all', signingSecret });
    expect(headers['webhook-id']).to.match(/^evt_/);
    expect(headers['webhook-signature']).to.not.include(STEERING['webhook-signature'] ?? '');
  });

  it('reach one that names them, and nothing else does but what the body cannot be read without', async () => {
    const sent = { ...GITHUB, ...STEERING, 'content-encoding': 'identity' };
    const headers = await arrived(sent, { forwardHeaders: ['X-Real-IP', 'X-GitHub-Event'] });
    expect(headers).to.include({
      'x-real-ip': '127.0.0.1',
      'x-github-event': 'issues',
      'content-type': 'application/json',
      'content-encoding': 'identity',
    });
    const { 'x-real-ip': _named, ...others } = STEERING;
    expect(headers).to.not.have.any.keys(...Object.keys(others), 'x-github-delivery', 'accept', 'x-hub-signature-256');
  });

  it('do not reach one that wants none, nor does anything else', async () => {
    const headers = await arrived({ ...GITHUB, ...STEERING }, { forwardHeaders: 'none' });
    expect(headers).to.include({ 'content-type': 'application/json' });
    expect(headers).to.not.have.any.keys(
      ...Object.keys(STEERING),
      ...['x-github-event', 'x-hub-signature-256', 'accept'],
    );
  });

  it('are chosen from the next attempt on, in both families of destinations', async () => {
    const endpoint = receiver.endpoint(200);
    const { source, destination } = await records.pipe(endpoint.url);
    const deliver = async () => {
      await records.eventWith('delivered', await records.accepted(source, '{}', { 'x-real-ip': '1', 'x-a': '1' }));
      return endpoint.requests.at(-1)?.headers ?? {};
    };
    expect(await deliver())
      .to.include({ 'x-a': '1' })
      .and.not.have.property('x-real-ip');
    const organization = `${testInstance.base}/destinations/${destination.id}`;
    const flat = `/api/destinations/${destination.id}`;
    for (const [path, other] of [
      [organization, flat],
      [flat, organization],
    ] as const) {
      for (const choice of ['all', 'none', ['X-A'], null]) {
        const changed = await testInstance.client.patch<Json>(path, { forwardHeaders: choice });
        expect(changed.forwardHeaders).to.deep.equal(choice);
        expect((await testInstance.client.get(other)).forwardHeaders).to.deep.equal(choice);
      }
    }
    await testInstance.client.patch(flat, { forwardHeaders: 'all' });
    expect(await deliver()).to.include({ 'x-a': '1', 'x-real-ip': '1' });
  });

  it('travel in exports and imports as a choice', async () => {
    const { id } = await records.destination('https://crm.example/', {
      name: 'Choosy',
      forwardHeaders: ['X-A', 'X-B'],
    });
    const file = await testInstance.client.get<{ destinations: Json[] }>(`/api/destinations/export?ids=${id}`);
    expect(file.destinations[0]?.forwardHeaders).to.deep.equal(['X-A', 'X-B']);
    const result = await testInstance.client.post<{ destinations: { id: string }[] }>('/api/destinations/import', {
      ...file,
      conflictStrategy: 'rename',
    });
    const imported = await testInstance.client.get(`/api/destinations/${result.destinations[0]?.id}`);
    expect(imported.forwardHeaders).to.deep.equal(['X-A', 'X-B']);
  });

  it('are chosen by words and names that can work', async () => {
    const body = (forwardHeaders: unknown) => ({ name: 'CRM', url: 'https://crm.example/', forwardHeaders });
    const create = (choice: unknown) => testInstance.client.request('POST', '/api/destinations', body(choice));
    for (const wrong of ['some', '', 1, true, {}, [1], [null]]) {
      expectError(await create(wrong), 400, 'VALIDATION_ERROR', /^forwardHeaders must be all, none/);
    }
    for (const never of [
      'Authorization',
      'cookie',
      'Host',
      'content_length',
      'Proxy-Authorization',
      'X-Hookyard-Hops',
    ]) {
      expectInvalid(await create(['X-A', never]), 'forwardHeaders.1');
    }
    expectInvalid(await create(['X A']), 'forwardHeaders.0');
    expectInvalid(await create(Array.from({ length: 101 }, (_, n) => `X-${n}`)), 'forwardHeaders');
    expect((await create([])).status).to.equal(201);
  });
});
