// HTTP, LIST, and what the service does as a whole.
import { expect } from 'chai';
import { createClient, expectInvalid, type Json } from '../../support/api-client.ts';
import { BODY, expectIntegers, expectTimestamps, rowsOf, type World } from '../world.ts';

/** The lists of the contract. */
export const listsOf = (w: World) => [
  '/api/destinations',
  '/api/routes',
  `${w.base}/events`,
  `${w.base}/destinations`,
  `${w.base}/sources`,
];

export const overview = rowsOf({
  'INGEST-01 a webhook becomes an event': async (w) => {
    const source = await w.source();
    expect((await w.records.post(source as never, BODY)).status).to.equal(200);
    expect((await w.api.get(`${w.base}/sources/${source.id}`)).eventsCount).to.equal(1);
  },
  'SRC-05 INGEST-02 the address of a source takes no credentials': async (w) => {
    const organization = await w.organization();
    const source = await organization.api.create<{ webhookUrl: string }>(`${organization.base}/sources`, {
      name: 'Orders',
      slug: 'orders',
    });
    expect(source.webhookUrl).to.match(new RegExp(`^https?://[^/]+/ingest/${organization.slug}/orders$`));
    // Public: no credentials.
    const path = new URL(source.webhookUrl).pathname;
    expect((await createClient(w.api.url, null).request('POST', path, { order: 1 })).status).to.equal(200);
  },
  'INGEST-03 EVT-06 EVT-07 EVT-08 EVT-09 what an event holds': async (w) => {
    const { path } = await w.delivered();
    const event = await w.api.get<Json & { headers: Json }>(`${path}?includePayload=true`);
    expect(event.headers['content-type']).to.equal('application/json');
    expect(event.payload).to.deep.equal(JSON.parse(BODY));
    expect(event.payloadSize).to.equal(BODY.length);
    expect(event.payloadHash).to.be.a('string');
  },
  'ROUTE-48 an event goes to every destination of its route': async (w) => {
    const ends = [w.receiver.endpoint(200), w.receiver.endpoint(200)];
    const destinations = await Promise.all(ends.map(({ url }) => w.records.destination(url)));
    const source = await w.records.source();
    await w.records.route(
      source.id,
      destinations.map(({ id }) => id),
    );
    await w.records.eventWith('delivered', await w.records.accepted(source, BODY));
    expect(ends.map(({ requests }) => requests.length)).to.deep.equal([1, 1]);
  },
  'TFM-01 FLT-01 ROUTE-06 ROUTE-07 a route transforms and filters': async (w) => {
    const transform = await w.api.create('/api/transforms', {
      name: 'Id',
      type: 'jsonata',
      code: '{"id": payload.order.id}',
    });
    const failover = await w.destination();
    const members = {
      transformId: transform.id,
      filterConditions: [{ field: 'payload.order.kind', operator: 'equals', value: 'paid' }],
      priority: 7,
      failoverDestinationIds: [failover.id],
      circuitFailureThreshold: 9,
      notifyOnFailure: true,
      expectedResponse: { statusCodes: [200] },
    };
    const { endpoint, route } = await w.deliver(200, 'delivered', { route: members });
    expect(await w.api.get(`/api/routes/${route.id}`)).to.deep.include(members);
    expect(endpoint.requests[0]?.body.toString()).to.equal('{"id":42}');
    const filter = await w.api.create('/api/filters', {
      name: 'Paid',
      conditions: [{ field: 'payload.order.kind', operator: 'equals', value: 'paid' }],
    });
    const referenced = await w.deliver(200, 'delivered', { route: { filterId: filter.id } });
    expect(referenced.delivery.status).to.equal('delivered');
  },
  'DLV-01 DLV-14 a delivery has one or more attempts': async (w) => {
    const { eventId, destination, delivery } = await w.delivered();
    expect(delivery).to.include({ eventId, destinationId: destination.id, attemptCount: 1 });
    expect(delivery.attempts).to.have.length(1);
    const failed = await w.deliver(500, 'failed', {
      destination: { retryPolicy: { maxRetries: 1, initialDelay: 10, maxDelay: 10 } },
    });
    expect(failed.delivery.attempts).to.have.length(2);
  },
  'RPL-01 EVT-15 an event can be replayed': async (w) => {
    const { path, eventId, endpoint } = await w.deliver();
    expect(await w.api.post(`${path}/replay`)).to.include({ deliveriesCreated: 1 });
    await w.records.eventWith('delivered', eventId);
    expect(endpoint.requests).to.have.length(2);
  },
  'DEST-35 destinations have a health': async (w) => {
    const { destination } = await w.delivered();
    expect(await w.api.get(`/api/destinations/${destination.id}/health`)).to.include({
      successRate: 100,
      totalDeliveries: 1,
    });
  },
  // No endpoint of the contract exports transforms: what GET shows is what POST of another organization takes.
  'EXP-01 EXP-02 EXP-04 records move between organizations': async (w) => {
    const [from, to] = [await w.organization(), await w.organization()];
    await from.api.create('/api/destinations', { name: 'CRM', url: 'https://crm.example', slug: 'crm' });
    const transform = await from.api.create('/api/transforms', { name: 'T', slug: 't', type: 'jsonata', code: '$' });
    const made = await to.api.create('/api/transforms', await from.api.get(`/api/transforms/${transform.id}`));
    expect(made).to.include({ name: 'T', slug: 't', type: 'jsonata', code: '$' });
    const file = await from.api.get('/api/destinations/export');
    const result = await to.api.post('/api/destinations/import', { ...file, conflictStrategy: 'skip' });
    expect(result).to.have.nested.property('summary.imported', 1);
    expect(await from.api.get('/api/routes/export')).to.have.property('routes');
  },
  'HTTP-03 two families of paths': async (w) => {
    for (const path of listsOf(w)) expect((await w.api.request('GET', path)).status, path).to.equal(200);
    const { source, eventId } = await w.delivered();
    for (const path of [`sources/${source.id}`, `events/${eventId}`])
      expect(await w.api.get(`/api/${path}`)).to.deep.equal(await w.api.get(`${w.base}/${path}`));
  },
  'HTTP-16 HTTP-17 bodies are JSON': async (w) => {
    const { path } = await w.delivered();
    for (const answer of [await w.api.request('GET', path), await w.api.request('GET', '/api/unknown')]) {
      expect(answer.headers.get('content-type')).to.match(/^application\/json/);
    }
    const answer = await w.api.request('POST', '/api/destinations', undefined, { raw: 'name=x' });
    expect(answer.status).to.equal(415);
  },
  'HTTP-08 times': async (w) => {
    const { path, route, source, destination } = await w.delivered();
    expectTimestamps(await w.api.get(path), 'receivedAt', 'createdAt');
    expectTimestamps(await w.api.get(`/api/routes/${route.id}`), 'lastEventAt', 'createdAt', 'updatedAt');
    expectTimestamps(await w.api.get(`${w.base}/sources/${source.id}`), 'lastEventAt', 'createdAt', 'updatedAt');
    expectTimestamps(await w.api.get(`/api/destinations/${destination.id}`), 'lastDeliveryAt', 'createdAt');
  },
  'HTTP-10 latencies are whole numbers': async (w) => {
    const { destination, delivery } = await w.delivered();
    expectIntegers(await w.api.get(`/api/destinations/${destination.id}`), 'avgLatency');
    expectIntegers(
      await w.api.get(`/api/destinations/${destination.id}/health`),
      'avgLatency',
      'p50Latency',
      'p99Latency',
    );
    expectIntegers(delivery, 'latency');
  },
  'HTTP-11 prefixes of ids': async (w) => {
    const { source, destination, route, eventId, delivery } = await w.delivered();
    const transform = await w.api.create('/api/transforms', { name: 'T', type: 'jsonata', code: '$' });
    const conditions = [{ field: 'method', operator: 'exists' }];
    const filter = await w.api.create('/api/filters', { name: 'F', conditions });
    const ids = [destination, route, source, { id: eventId }, delivery, transform, filter].map(({ id }) => id);
    const prefixes = ['dst_', 'rte_', 'src_', 'evt_', 'dlv_', 'tfm_', 'flt_'];
    for (const [index, prefix] of prefixes.entries()) expect(ids[index]).to.match(new RegExp(`^${prefix}[^_]+$`));
    const warehouse = { name: 'W', type: 'r2', config: { bucket: 'contract-bucket' } };
    expect((await w.api.create('/api/destinations', warehouse)).id).to.match(/^dst_wh_[^_]+$/);
  },
  'HTTP-04 the id of the organization in paths': async (w) => {
    const me = await w.api.get<{ organization: { id: string } }>('/api/auth/me');
    expect((await w.api.request('GET', `/api/organizations/${me.organization.id}/events`)).status).to.equal(200);
    expect((await w.api.request('GET', '/api/organizations/other/events')).status).to.equal(404);
  },
  'LIST-01 the shape of lists': async (w) => {
    for (const path of listsOf(w)) {
      const list = await w.api.get<{ data: unknown[]; pagination: Json }>(path);
      expect(list).to.have.all.keys('data', 'pagination');
      expect(list.data).to.be.an('array');
      expect(list.pagination).to.have.all.keys('total', 'page', 'pageSize');
      expectIntegers(list.pagination, 'total', 'page', 'pageSize');
    }
  },
  'HTTP-12 files name records by slug': async (w) => {
    const { route } = await w.delivered();
    const file = JSON.stringify(await w.api.get(`/api/routes/export?ids=${route.id}`));
    expect(file)
      .to.include('"sourceSlug":"')
      .and.not.match(/"(src|dst|rte|flt|tfm)_[0-9a-z]{26}"/);
  },
  'HTTP-01 paths start at the base address': async (w) => {
    for (const path of listsOf(w)) expect((await fetch(`${w.api.url}${path}`)).status, path).to.equal(401);
    expect((await w.api.request('GET', '/destinations')).status).to.equal(404);
  },
  'HTTP-09 times in requests': async (w) => {
    const { eventId, source } = await w.delivered();
    const matching = async (query: string) =>
      (await w.api.list(`${w.base}/events?sourceId=${source.id}&${query}`)).data.map(({ id }) => id);
    expect(await matching('from=2020-01-01T00:00:00Z')).to.deep.equal([eventId]);
    expect(await matching('to=2020-01-01T00:00:00%2B02:00')).to.deep.equal([]);
    for (const same of ['2999-12-31', '2999-12-31 00:00', '2999-12-31T02:00:00+02', '2999-12-31T00:00Z']) {
      expect(await matching(`from=2020-01-01&to=${encodeURIComponent(same)}`), same).to.deep.equal([eventId]);
    }
    for (const wrong of ['yesterday', '2026-02-30', '2026-04-31T10:00:00Z', '2026-13-01', '2026-11-21T25:00:00Z']) {
      expectInvalid(await w.api.request('GET', `${w.base}/events?from=${wrong}`), 'from');
      expectInvalid(await w.api.request('POST', `${w.base}/events/replay`, { from: wrong, dryRun: true }), 'from');
    }
    for (const [path, name] of [
      ['/api/api-keys', 'expiresAt'],
      [`/api/routes/${(await w.route()).id}/pause`, 'until'],
    ] as const) {
      expectInvalid(await w.api.request('POST', path, { name: 'CI', [name]: '2999-02-30' }), name);
    }
  },
  'HTTP-16 EVT-18 the raw payload is not JSON, the rest is': async (w) => {
    const { path } = await w.delivered();
    // Noted: the raw payload.
    expect((await w.api.request('GET', `${path}/payload`)).headers.get('content-disposition')).to.match(/^attachment/);
    expect((await w.api.request('GET', `${path}/timeline`)).headers.get('content-type')).to.match(/json/);
  },
  'LIST-02 LIST-03 pages of every list': async (w) => {
    for (const path of listsOf(w)) {
      expect((await w.api.list(path)).pagination).to.include({ page: 1, pageSize: 20 });
      expect((await w.api.list(`${path}?page=2&pageSize=3`)).pagination).to.include({ page: 2, pageSize: 3 });
      expect((await w.api.list(`${path}?pageSize=101`)).pagination.pageSize).to.equal(100);
    }
  },
  'LIST-03 pageSize is 20 by default, 100 at most': async (w) => {
    const organization = await w.organization();
    for (let n = 0; n < 21; n += 1) {
      await organization.api.create('/api/destinations', { name: `D${n}`, url: 'https://d.example' });
    }
    expect((await organization.api.list('/api/destinations')).data).to.have.length(20);
    const all = await organization.api.list('/api/destinations?pageSize=5000');
    expect([all.data.length, all.pagination.pageSize]).to.deep.equal([21, 100]);
  },
  'LIST-02 LIST-04 page is 1 by default': async (w) => {
    for (const path of listsOf(w)) {
      expect((await w.api.list(path)).pagination.page).to.equal(1);
      expect((await w.api.request('GET', `${path}?page=0`)).status).to.equal(400);
    }
  },
  'DEST-12 timeoutMs is 30,000 by default, 60,000 at most': async (w) => {
    expect((await w.destination()).timeoutMs).to.equal(30_000);
    expect((await w.destination({ timeoutMs: 60_000 })).timeoutMs).to.equal(60_000);
    const body = { name: 'CRM', url: 'https://crm.example', timeoutMs: 60_001 };
    expect((await w.api.request('POST', '/api/destinations', body)).status).to.equal(400);
  },
  'DEST-13 rateLimitPerMinute null is no limit': async (w) => {
    expect((await w.destination()).rateLimitPerMinute).to.equal(null);
    expect((await w.destination({ rateLimitPerMinute: null })).rateLimitPerMinute).to.equal(null);
  },
  'ROUTE-12 at most three failover destinations': async (w) => {
    const ids = (await Promise.all([1, 2, 3, 4].map(() => w.destination()))).map(({ id }) => id);
    expect(await w.route({ failoverDestinationIds: ids.slice(1) })).to.deep.include({
      failoverDestinationIds: ids.slice(1),
    });
    const [source, destination] = await Promise.all([w.source(), w.destination()]);
    const body = { name: 'R', sourceId: source.id, destinationIds: [destination.id], failoverDestinationIds: ids };
    expect((await w.api.request('POST', '/api/routes', body)).status).to.equal(400);
  },
  'EXP-06 files have a version': async (w) => {
    for (const kind of ['destinations', 'routes']) {
      expect((await w.api.get(`/api/${kind}/export`)).version)
        .to.be.a('string')
        .and.not.equal('');
    }
  },
});
