// A stranger who may send a webhook must not steer the servers behind a destination by its headers, or speak for the proxies in
// front of them. What providers send arrives all the same.
import { expect } from 'chai';
import { expectError, expectInvalid, type Json } from '../support/api-client.ts';
import { useHookyard } from '../support/use-hookyard.ts';

/** Each would change what a server behind takes the request for, or whom it is from. */
const STEERING: Record<string, string> = {
  'x-http-method-override': 'DELETE',
  'x-http-method': 'DELETE',
  'x-method-override': 'DELETE',
  'x-original-url': '/admin',
  'x-rewrite-url': '/admin',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-for': '127.0.0.1',
  'x-forwarded-user': 'admin',
  forwarded: 'for=127.0.0.1',
  'x-real-ip': '127.0.0.1',
  'true-client-ip': '127.0.0.1',
  'x-client-ip': '127.0.0.1',
  'x-cluster-client-ip': '127.0.0.1',
  'cf-connecting-ip': '127.0.0.1',
  'fastly-client-ip': '127.0.0.1',
  'remote-user': 'admin',
  'x-remote-user': 'admin',
  'x-webauth-user': 'admin',
  'x-auth-request-email': 'admin@example.com',
  'x-amzn-oidc-identity': 'admin',
  'x-amzn-oidc-data': 'e30.e30.e30',
  'x-goog-authenticated-user-email': 'accounts.google.com:admin@example.com',
  'x-ms-client-principal-name': 'admin',
  'cf-access-authenticated-user-email': 'admin@example.com',
  'x-middleware-subrequest': 'middleware',
  'fly-client-ip': '127.0.0.1',
  'do-connecting-ip': '127.0.0.1',
  'x-nf-client-connection-ip': '127.0.0.1',
  'x-vercel-forwarded-for': '127.0.0.1',
  'x-vercel-oidc-token': 'e30.e30.e30',
  'x-azure-fdid': '11111111-2222-3333-4444-555555555555',
  'x-appengine-user-email': 'admin@example.com',
  'x-appengine-cron': 'true',
  'x-userinfo': 'e30',
  'x-id-token': 'e30.e30.e30',
  'x-access-token': 'e30.e30.e30',
  'x-auth-email': 'admin@example.com',
  'x-auth-userid': '1',
  'x-auth-username': 'admin',
  'x-auth-groups': 'admins',
  'x-auth-roles': 'admin',
  'x-auth-subject': 'admin',
  'teleport-jwt-assertion': 'e30.e30.e30',
  'shib-session-id': '_1',
  'shib-identity-provider': 'https://idp.example/',
  'impersonate-user': 'admin',
  'impersonate-group': 'system:masters',
  'x-matched-path': '/admin',
  'x-invoke-path': '/admin',
  'x-remote-name': 'admin',
  'x-remote-email': 'admin@example.com',
  'x-remote-groups': 'admins',
  'webhook-id': 'msg_forged',
  'webhook-timestamp': '1614265330',
  'webhook-signature': 'v1,Zm9yZ2Vk',
};
const underscored = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.replaceAll('-', '_'), value]));

/** Requests of providers, from their documentation. */
const PROVIDERS: Record<string, Record<string, string>> = {
  GitHub: {
    accept: '*/*',
    'content-type': 'application/json',
    'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
    'x-github-event': 'issues',
    'x-github-hook-id': '292430182',
    'x-github-hook-installation-target-id': '79929171',
    'x-github-hook-installation-target-type': 'repository',
    'x-hub-signature': 'sha1=7d38cdd689735b008b3c702edd92eea23791c5f6',
    'x-hub-signature-256': 'sha256=d57c68ca6f92289e6987922ff26938930f6e66a2d161ef06abdf1859230aa23c',
  },
  Stripe: {
    accept: '*/*; q=0.5, application/xml',
    'cache-control': 'no-cache',
    'content-type': 'application/json; charset=utf-8',
    'stripe-signature': 't=1492774577,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
  },
  Shopify: {
    accept: '*/*',
    'content-type': 'application/json',
    'x-shopify-api-version': '2026-07',
    'x-shopify-event-id': '98880550-7158-44d4-b7cd-2c97c8a091b5',
    'x-shopify-hmac-sha256': 'XWmrwMey6OsLMeiZKwP4FppHH3cmAiiJJAweH5Jo4bM=',
    'x-shopify-shop-domain': 'shop.myshopify.com',
    'x-shopify-topic': 'orders/create',
    'x-shopify-triggered-at': '2026-11-21T10:00:00.123456789Z',
    'x-shopify-webhook-id': 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043',
  },
  Slack: {
    accept: 'application/json,*/*',
    'content-type': 'application/json',
    'x-slack-request-timestamp': '1531420618',
    'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    'x-slack-retry-num': '1',
    'x-slack-retry-reason': 'http_timeout',
  },
  Vercel: {
    'content-type': 'application/json',
    'x-vercel-signature': 'f1d2d2f924e986ac86fdf7b36c94bcdf32beec15',
  },
  'a program of one’s own': {
    'content-type': 'text/xml',
    'x-shop': 'north',
    'x-request-id': '1',
    'idempotency-key': 'k1',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    'ce-type': 'com.example.order',
    x_team: 'red',
  },
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

  for (const [provider, sent] of Object.entries(PROVIDERS)) {
    it(`are none of those of ${provider}, which all arrive`, async () => {
      expect(await arrived({ 'user-agent': 'Provider/1.0', ...sent })).to.include(sent);
    });
  }

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
    const sent = { ...PROVIDERS.GitHub, ...STEERING, 'content-encoding': 'identity' };
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
    const headers = await arrived({ ...PROVIDERS.Stripe, ...STEERING }, { forwardHeaders: 'none' });
    expect(headers).to.include({ 'content-type': 'application/json; charset=utf-8' });
    expect(headers).to.not.have.any.keys(...Object.keys(STEERING), 'stripe-signature', 'accept', 'cache-control');
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
