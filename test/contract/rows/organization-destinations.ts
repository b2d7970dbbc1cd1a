// DEST: the paths of an organization; HEALTH.
import { expect } from 'chai';
import { expectError, type Json } from '../../support/api-client.ts';
import { until } from '../../support/until.ts';
import { expectIntegers, expectRequired, expectTakes, expectTimestamps, rowsOf, type World } from '../world.ts';

const pathOf = (w: World) => `${w.base}/destinations`;
const minimal = { name: 'CRM', url: 'https://crm.example/hooks' };
const make = (w: World, fields: Json = {}) => w.api.create<Json>(pathOf(w), { ...minimal, ...fields });
const created = (w: World) => w.once('organization destination', () => make(w));
const FULL =
  'id name url description headers retryPolicy enabled successRate avgLatency deliveriesCount lastDeliveryAt createdAt updatedAt'.split(
    ' ',
  );
const HEALTH =
  'successRate avgLatency p50Latency p95Latency p99Latency totalDeliveries successfulDeliveries failedDeliveries lastDeliveryAt lastSuccessAt lastFailureAt status'.split(
    ' ',
  );
const healthOf = (w: World, id: string) => w.api.get<Json>(`/api/destinations/${id}/health`);

/** The health of a destination after so many deliveries that failed and succeeded. */
async function healthAfter(w: World, succeeded: number, failed: number): Promise<Json> {
  const { url } = w.receiver.endpoint(...Array<number>(failed).fill(500), 200);
  const { source, destination } = await w.records.pipe(url, { route: { circuitFailureThreshold: failed + 1 } });
  for (let n = 0; n < succeeded + failed; n += 1) await w.records.accepted(source, '{}');
  return until('the deliveries to end', async () => {
    const health = await healthOf(w, destination.id);
    return health.totalDeliveries === succeeded + failed && health;
  });
}

export const organizationDestinationRows = rowsOf({
  'HEALTH-02 successRate': async (w) => {
    expect((await healthOf(w, (await w.delivered()).destination.id)).successRate).to.equal(100);
    expect((await healthOf(w, (await w.failed()).destination.id)).successRate).to.equal(0);
  },
  'HEALTH-03 latencies': async (w) => {
    const health = await healthOf(w, (await w.delivered()).destination.id);
    for (const member of ['avgLatency', 'p50Latency', 'p95Latency', 'p99Latency']) {
      expect(health[member], member).to.be.a('number').and.to.be.at.least(0);
    }
  },
  'HEALTH-04 counts': async (w) => {
    const [good, bad] = [await w.delivered(), await w.failed()];
    expect(await healthOf(w, good.destination.id)).to.include({
      totalDeliveries: 1,
      successfulDeliveries: 1,
      failedDeliveries: 0,
    });
    expect(await healthOf(w, bad.destination.id)).to.include({
      totalDeliveries: 1,
      successfulDeliveries: 0,
      failedDeliveries: 1,
    });
  },
  'HEALTH-05 last times': async (w) => {
    expectTimestamps(await healthOf(w, (await w.delivered()).destination.id), 'lastDeliveryAt', 'lastSuccessAt');
    expectTimestamps(await healthOf(w, (await w.failed()).destination.id), 'lastDeliveryAt', 'lastFailureAt');
  },
  'HEALTH-01 status': async (w) => {
    const ids = [(await w.delivered()).destination.id, (await w.failed()).destination.id, (await w.destination()).id];
    const statuses = await Promise.all(ids.map(async (id) => (await healthOf(w, id)).status));
    expect(statuses).to.deep.equal(['healthy', 'failing', 'unknown']);
  },
  'HEALTH-06 healthy above 95 %': async (w) => {
    expect(await healthAfter(w, 24, 1)).to.include({ successRate: 96, status: 'healthy' });
  },
  'HEALTH-07 degraded from 80 % to 95 %': async (w) => {
    expect(await healthAfter(w, 19, 1)).to.include({ successRate: 95, status: 'degraded' });
    expect(await healthAfter(w, 4, 1)).to.include({ successRate: 80, status: 'degraded' });
  },
  'HEALTH-08 failing under 80 %': async (w) => {
    expect(await healthAfter(w, 15, 4)).to.include({ status: 'failing' });
  },
  'HEALTH-09 unknown without deliveries': async (w) => {
    expect(await healthOf(w, (await w.destination()).id)).to.include({ status: 'unknown', totalDeliveries: 0 });
  },
  'DEST-02 id, in the family of the organization': async (w) => expect((await created(w)).id).to.match(/^dst_/),
  'DEST-03 name is required, by the path of an organization': (w) => expectRequired(w.api, pathOf(w), minimal, 'name'),
  'DEST-06 url is required, by the path of an organization': (w) => expectRequired(w.api, pathOf(w), minimal, 'url'),
  'DEST-05 description, by the path of an organization': async (w) => {
    expect((await created(w)).description).to.equal(null);
    await expectTakes(w.api, pathOf(w), minimal, 'description', ['Customers'], [5, {}]);
  },
  'DEST-08 headers are replaced, by the path of an organization': async (w) => {
    const record = await make(w, { headers: { 'X-A': '1' } });
    const changed = await w.api.patch<Json>(`${pathOf(w)}/${record.id}`, { headers: { 'X-B': '2' } });
    expect(changed.headers).to.deep.equal({ 'X-B': '2' });
  },
  'DEST-14 DEST-21 retryPolicy has the same defaults, by the path of an organization': async (w) => {
    const defaults = { maxRetries: 5, initialDelay: 1000, maxDelay: 60_000, backoffMultiplier: 2 };
    expect((await created(w)).retryPolicy).to.deep.equal(defaults);
    expect((await make(w, { retryPolicy: { maxRetries: 1 } })).retryPolicy).to.deep.equal({
      ...defaults,
      maxRetries: 1,
    });
  },
  'DEST-15 enabled, by the path of an organization': async (w) => {
    expect((await created(w)).enabled).to.equal(true);
    await expectTakes(w.api, pathOf(w), minimal, 'enabled', [true, false], ['false', 0]);
  },
  'DEST-16 successRate is null at first': async (w) => {
    expect((await created(w)).successRate).to.equal(null);
    expect((await w.api.get(`${pathOf(w)}/${(await w.delivered()).destination.id}`)).successRate).to.equal(100);
  },
  'DEST-17 avgLatency is null at first': async (w) => {
    expect((await created(w)).avgLatency).to.equal(null);
    expectIntegers(await w.api.get(`${pathOf(w)}/${(await w.delivered()).destination.id}`), 'avgLatency');
  },
  'DEST-18 deliveriesCount is 0 at first': async (w) => {
    expect((await created(w)).deliveriesCount).to.equal(0);
    expect((await w.api.get(`${pathOf(w)}/${(await w.delivered()).destination.id}`)).deliveriesCount).to.equal(1);
  },
  'DEST-19 lastDeliveryAt, by the path of an organization': async (w) => {
    expectTimestamps(await w.api.get(`${pathOf(w)}/${(await w.delivered()).destination.id}`), 'lastDeliveryAt');
  },
  'DEST-20 createdAt and updatedAt, by the path of an organization': async (w) =>
    expectTimestamps(await created(w), 'createdAt', 'updatedAt'),
  'DEST-43 health is the same in both families': async (w) => {
    const { destination } = await w.delivered();
    const health = await w.api.get(`${pathOf(w)}/${destination.id}/health`);
    expect(health).to.have.all.keys(...HEALTH);
    expect(await healthOf(w, destination.id)).to.deep.equal(health);
  },
  'DEST-38 GET list': async (w) => {
    const { api, base } = await w.organization();
    const path = `${base}/destinations`;
    const a = await api.create(path, { name: 'alpha', url: 'https://one.example' });
    const b = await api.create(path, { name: 'beta', url: 'https://two.example', enabled: false });
    const ids = async (query: string) => (await api.list(`${path}${query}`)).data.map(({ id }) => id);
    expect(await ids('')).to.deep.equal([b.id, a.id]);
    expect(await ids('?page=2&pageSize=1')).to.deep.equal([a.id]);
    expect(await ids('?enabled=true')).to.deep.equal([a.id]);
    expect(await ids('?search=BET')).to.deep.equal([b.id]);
    expect(await ids('?search=one.example')).to.deep.equal([a.id]);
    const [first] = (await api.list(path)).data;
    expect(first).to.include.all.keys('id', 'name', 'url', 'enabled', 'successRate', 'avgLatency', 'deliveriesCount');
  },
  'DEST-39 POST': async (w) => {
    const optional = {
      description: 'd',
      headers: { 'X-A': '1' },
      retryPolicy: { maxRetries: 1, initialDelay: 1, maxDelay: 2, backoffMultiplier: 1 },
      enabled: false,
    };
    const answer = await w.api.request('POST', pathOf(w), { ...minimal, ...optional });
    expect(answer.status).to.equal(201);
    expect(answer.body).to.include.all.keys(...FULL);
    expect(answer.body).to.deep.include({ ...minimal, ...optional });
  },
  'DEST-40 GET': async (w) => {
    expect(await w.api.get(`${pathOf(w)}/${(await created(w)).id}`)).to.include.all.keys(...FULL);
  },
  'DEST-41 PATCH': async (w) => {
    const { id } = await make(w);
    for (const patch of [
      { name: 'N' },
      { url: 'https://n.example/' },
      { description: 'x' },
      { headers: { 'X-N': '1' } },
      { enabled: false },
    ]) {
      expect(await w.api.patch(`${pathOf(w)}/${id}`, patch)).to.deep.include({ id, ...patch });
    }
    const changed = await w.api.patch<Json>(`${pathOf(w)}/${id}`, { retryPolicy: { maxRetries: 9 } });
    expect(changed.retryPolicy).to.include({ maxRetries: 9, initialDelay: 1000 });
  },
  'DEST-42 DELETE': async (w) => {
    const { id } = await make(w);
    await w.api.delete(`${pathOf(w)}/${id}`);
    expectError(await w.api.request('GET', `${pathOf(w)}/${id}`), 404, 'RESOURCE_NOT_FOUND');
  },
  'DEST-43 GET health': async (w) => {
    expect(await w.api.get(`${pathOf(w)}/${(await created(w)).id}/health`)).to.have.all.keys(...HEALTH);
  },
  'DEST-37 DEST-42 deleted, it leaves its routes and keeps its deliveries': async (w) => {
    const { destination, route, eventId } = await w.deliver();
    await w.api.delete(`${pathOf(w)}/${destination.id}`);
    expect((await w.api.get(`/api/routes/${route.id}`)).destinationIds).to.deep.equal([]);
    expect(await w.records.deliveries(eventId)).to.have.length(1);
  },
  'DEST-06 DEST-36 an address that is none': async (w) => {
    for (const url of ['', 'crm', 'ftp://crm.example', 'https://']) {
      expectError(await w.api.request('POST', pathOf(w), { name: 'CRM', url }), 400, 'INVALID_URL');
    }
    const { id } = await created(w);
    expectError(await w.api.request('PATCH', `${pathOf(w)}/${id}`, { url: 'nowhere' }), 400, 'INVALID_URL');
  },
});
