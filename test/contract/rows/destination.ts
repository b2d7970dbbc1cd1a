// DEST: members; what is of warehouses is in warehouses.ts.
import { expect } from 'chai';
import { expectInvalid, type Json } from '../../support/api-client.ts';
import { until } from '../../support/until.ts';
import { expectRequired, expectTakes, expectTimestamps, rowsOf, type World } from '../world.ts';

const PATH = '/api/destinations';
const minimal = { name: 'CRM', url: 'https://crm.example/hooks' };
const created = (w: World) => w.once('destination', () => w.destination());

/** Creates one with credentials, looks at the answer and at a delivery. */
async function authenticated(
  w: World,
  authType: string,
  authConfig: Json,
  header: string,
  value: string,
): Promise<void> {
  const endpoint = w.receiver.endpoint(200);
  const secret = Object.entries(authConfig).at(-1) ?? ['', ''];
  const { destination } = await w.records.deliver(endpoint.url, '{}', 'delivered', {
    destination: { authType, authConfig },
  });
  expect(endpoint.requests[0]?.headers[header]).to.equal(value);
  const shown = await w.api.get<{ authConfig: Json }>(`${PATH}/${destination.id}`);
  expect(shown.authConfig).to.have.all.keys(Object.keys(authConfig));
  expect(JSON.stringify(shown)).to.not.include(secret[1]);
  for (const member of Object.keys(authConfig)) {
    const { [member]: _left, ...rest } = authConfig;
    for (const wrong of [rest, { ...authConfig, [member]: 5 }]) {
      expect((await w.api.request('POST', PATH, { ...minimal, authType, authConfig: wrong })).status, member).to.equal(
        400,
      );
    }
  }
}

export const destinationRows = rowsOf({
  'DEST-02 id is set by Hookyard': async (w) => {
    const record = await w.destination({ id: 'dst_mine' });
    expect(record.id).to.match(/^dst_[0-9a-z]{26}$/);
  },
  'DEST-03 name is required': (w) => expectRequired(w.api, PATH, minimal, 'name'),
  'DEST-01 type is http by default, and no other word': async (w) => {
    expect((await created(w)).type).to.equal('http');
    expect((await w.destination({ type: 'http' })).type).to.equal('http');
    expectInvalid(await w.api.request('POST', PATH, { ...minimal, type: 'ftp' }), 'type');
  },
  'DEST-07 method is POST by default, and used': async (w) => {
    expect((await created(w)).method).to.equal('POST');
    await expectTakes(w.api, PATH, minimal, 'method', ['POST', 'PUT', 'PATCH'], ['GET', 'post', 1]);
    const { endpoint } = await w.deliver(200, 'delivered', { destination: { method: 'PUT' } });
    expect(endpoint.requests[0]?.method).to.equal('PUT');
  },
  'DEST-08 headers are sent, and replaced as a whole': async (w) => {
    const { destination, endpoint } = await w.deliver(200, 'delivered', {
      destination: { headers: { 'X-A': '1', 'X-B': '2' } },
    });
    expect(endpoint.requests[0]?.headers).to.include({ 'x-a': '1', 'x-b': '2' });
    const changed = await w.api.patch<Json>(`${PATH}/${destination.id}`, { headers: { 'X-C': '3' } });
    expect(changed.headers).to.deep.equal({ 'X-C': '3' });
  },
  'DEST-09 authType is none by default, and no other word': async (w) => {
    expect((await created(w)).authType).to.equal('none');
    expectInvalid(await w.api.request('POST', PATH, { ...minimal, authType: 'digest' }), 'authType');
  },
  'DEST-10 authConfig must fit authType': async (w) => {
    const body = { ...minimal, authType: 'bearer', authConfig: { username: 'u', password: 'p' } };
    expect((await w.api.request('POST', PATH, body)).status).to.equal(400);
  },
  'DEST-12 timeoutMs': async (w) => {
    expect((await created(w)).timeoutMs).to.equal(30_000);
    await expectTakes(w.api, PATH, minimal, 'timeoutMs', [1, 60_000], [0, 60_001, 1.5, '1000', null]);
  },
  'DEST-13 rateLimitPerMinute makes the second of two events wait': async (w) => {
    expect((await created(w)).rateLimitPerMinute).to.equal(null);
    await expectTakes(w.api, PATH, minimal, 'rateLimitPerMinute', [1, 600, null], [0, -1, 1.5, '60']);
    // One a minute: the second of two events waits.
    const { source } = await w.pipe(200, { destination: { rateLimitPerMinute: 1 } });
    await w.records.deliveryWith('delivered', await w.records.accepted(source, '{}'));
    expect((await w.records.deliveries(await w.records.accepted(source, '{}')))[0]?.status).to.equal('pending');
  },
  'DEST-51 maxConcurrency keeps the third of three events waiting': async (w) => {
    expect((await created(w)).maxConcurrency).to.equal(null);
    await expectTakes(w.api, PATH, minimal, 'maxConcurrency', [1, 1000, null], [0, 1001, 1.5, '60']);
    const gate = Promise.withResolvers<void>();
    const endpoint = w.receiver.endpoint({ after: gate.promise });
    const { source } = await w.records.pipe(endpoint.url, { destination: { maxConcurrency: 2 } });
    const events = await Promise.all([1, 2, 3].map(() => w.records.accepted(source, '{}')));
    await until('two attempts', () => endpoint.requests.length === 2);
    await w.deliver(200, 'delivered');
    expect(endpoint.requests).to.have.length(2);
    gate.resolve();
    for (const event of events) await w.records.deliveryWith('delivered', event);
  },
  'DEST-14 retryPolicy has four numbers': async (w) => {
    const policy = { maxRetries: 3, initialDelay: 10, maxDelay: 20, backoffMultiplier: 1.5 };
    expect((await w.destination({ retryPolicy: policy })).retryPolicy).to.deep.equal(policy);
    expect(Object.keys((await created(w)).retryPolicy as Json)).to.have.members(Object.keys(policy));
    for (const member of Object.keys(policy)) {
      expectInvalid(
        await w.api.request('POST', PATH, { ...minimal, retryPolicy: { [member]: '5' } }),
        `retryPolicy.${member}`,
      );
    }
  },
  'DEST-15 enabled is true by default': async (w) => {
    expect((await created(w)).enabled).to.equal(true);
    await expectTakes(w.api, PATH, minimal, 'enabled', [true, false], ['true', 1, null]);
  },
  'DEST-16 successRate in percent': async (w) => {
    const { destination } = await w.delivered();
    expect((await w.api.get(`${PATH}/${destination.id}`)).successRate).to.equal(100);
    const { destination: bad } = await w.failed();
    expect((await w.api.get(`${PATH}/${bad.id}`)).successRate).to.equal(0);
  },
  'DEST-17 avgLatency in ms': async (w) => {
    const { destination, delivery } = await w.delivered();
    expect((await w.api.get(`${PATH}/${destination.id}`)).avgLatency).to.equal(delivery.latency);
  },
  'DEST-18 deliveriesCount counts from 0': async (w) => {
    expect((await created(w)).deliveriesCount).to.equal(0);
    expect((await w.api.get(`${PATH}/${(await w.delivered()).destination.id}`)).deliveriesCount).to.equal(1);
  },
  'DEST-19 lastDeliveryAt': async (w) => {
    expect((await created(w)).lastDeliveryAt).to.equal(null);
    expectTimestamps(await w.api.get(`${PATH}/${(await w.delivered()).destination.id}`), 'lastDeliveryAt');
  },
  'DEST-20 createdAt and updatedAt': async (w) => {
    const record = await w.destination();
    expectTimestamps(record, 'createdAt', 'updatedAt');
    expect(record.updatedAt).to.equal(record.createdAt);
    const changed = await w.api.patch<Json>(`${PATH}/${record.id}`, { name: 'Changed' });
    expect(changed.createdAt).to.equal(record.createdAt);
    expect(String(changed.updatedAt) >= String(record.updatedAt)).to.equal(true);
  },
  'DEST-23 authType none': async (w) => {
    expect((await w.destination({ authType: 'none' })).authType).to.equal('none');
    const { endpoint } = await w.delivered();
    expect(endpoint.requests[0]?.headers).to.not.have.property('authorization');
  },
  'DEST-24 authType basic': (w) =>
    authenticated(
      w,
      'basic',
      { username: 'ada', password: 'lovelace-1815' },
      'authorization',
      `Basic ${btoa('ada:lovelace-1815')}`,
    ),
  'DEST-25 authType bearer': (w) =>
    authenticated(w, 'bearer', { token: 'token-123456' }, 'authorization', 'Bearer token-123456'),
  'DEST-26 authType api_key': (w) =>
    authenticated(w, 'api_key', { headerName: 'X-Api-Key', key: 'key-1234567' }, 'x-api-key', 'key-1234567'),
  'DEST-27 authType custom_header': (w) =>
    authenticated(w, 'custom_header', { headerName: 'X-Own', headerValue: 'value-12345' }, 'x-own', 'value-12345'),
  'AUTH-13 authConfig is encrypted in the database': async (w) => {
    const { id } = await w.destination({ authType: 'bearer', authConfig: { token: 'at-rest-token' } });
    const { rows } = await w.testInstance.pool.query('select * from destinations where id = $1', [id]);
    expect(JSON.stringify(rows[0])).to.not.include('at-rest-token');
    // version, key id, and 12 bytes IV + cipher text + 16 bytes tag
    const sealed = Buffer.from(String(rows[0].auth_config).split('.')[2] ?? '', 'base64url');
    expect(sealed.length).to.equal(12 + JSON.stringify({ token: 'at-rest-token' }).length + 16);
  },
});
