// DEST and EXP: requests; what is of warehouses is in warehouses.ts.
import { expect } from 'chai';
import { expectError, type Json } from '../../support/api-client.ts';
import { expectIntegers, rowsOf } from '../world.ts';

const PATH = '/api/destinations';
const minimal = { name: 'CRM', url: 'https://crm.example/hooks' };
const HTTP_MEMBERS = 'method headers authType authConfig timeoutMs rateLimitPerMinute retryPolicy'.split(' ');
const FULL = [
  ...'id name type url enabled successRate avgLatency deliveriesCount lastDeliveryAt'.split(' '),
  'createdAt',
  'updatedAt',
  ...HTTP_MEMBERS,
];

export const destinationsRows = rowsOf({
  'DEST-28 GET list, its filters and summaries': async (w) => {
    const { api } = await w.organization();
    const make = (name: string, extra: Json = {}) =>
      api.create(PATH, { name, url: `https://${name}.example/in`, ...extra });
    const [a, b] = [await make('alpha'), await make('beta', { enabled: false })];
    const ids = async (query: string) => (await api.list(`${PATH}${query}`)).data.map(({ id }) => id);
    expect(await ids('')).to.deep.equal([b.id, a.id]);
    expect(await ids('?pageSize=1&page=2')).to.deep.equal([a.id]);
    expect(await ids('?enabled=false')).to.deep.equal([b.id]);
    expect(await ids('?enabled=true')).to.deep.equal([a.id]);
    expect(await ids('?search=ALPH')).to.deep.equal([a.id]);
    expect(await ids('?search=beta.example%2Fin')).to.deep.equal([b.id]);
    expect((await api.list(PATH)).data[0]).to.include.all.keys(
      ...['id', 'name', 'slug', 'type', 'url', 'enabled', 'successRate', 'avgLatency', 'deliveriesCount'],
    );
    expect((await api.request('GET', `${PATH}?enabled=yes`)).status).to.equal(400);
  },
  'DEST-29 POST': async (w) => {
    const answer = await w.api.request('POST', PATH, {
      ...minimal,
      authType: 'bearer',
      authConfig: { token: 'secret-token' },
    });
    expect(answer.status).to.equal(201);
    expect(answer.body).to.include.all.keys(...FULL);
    expect(answer.body.authConfig).to.deep.equal({ token: '••••oken' });
  },
  'DEST-30 GET': async (w) => {
    const { id } = await w.destination({ authType: 'bearer', authConfig: { token: 'secret-token' } });
    const record = await w.api.get(`${PATH}/${id}`);
    expect(record).to.include.all.keys(...FULL);
    expect(JSON.stringify(record)).to.not.include('secret-token');
  },
  'DEST-31 PATCH': async (w) => {
    const { id, ...before } = await w.destination();
    for (const patch of [
      { name: 'New name' },
      { url: 'https://new.example/' },
      { headers: { 'X-New': '1' } },
      { retryPolicy: { maxRetries: 2, initialDelay: 5, maxDelay: 9, backoffMultiplier: 3 } },
      { enabled: false },
    ]) {
      expect(await w.api.patch(`${PATH}/${id}`, patch)).to.deep.include({ id, ...patch });
    }
    expect(await w.api.patch(`${PATH}/${id}`, {})).to.include({ id, createdAt: before.createdAt, name: 'New name' });
  },
  'DEST-32 DELETE': async (w) => {
    const { id } = await w.destination();
    await w.api.delete(`${PATH}/${id}`);
    expect((await w.api.request('GET', `${PATH}/${id}`)).status).to.equal(404);
  },
  'DEST-34 POST test, with a sample or a payload': async (w) => {
    const endpoint = w.receiver.endpoint(200);
    const { id } = await w.destination({ url: endpoint.url });
    await w.api.post(`${PATH}/${id}/test`);
    await w.api.post(`${PATH}/${id}/test`, { payload: { mine: true } });
    const bodies = endpoint.requests.map(({ body }) => JSON.parse(body.toString()));
    expect(bodies[0]).to.be.an('object').that.is.not.empty;
    expect(bodies[1]).to.deep.equal({ mine: true });
    expect((await w.api.request('POST', `${PATH}/${id}/test`, { payload: 'text' })).status).to.equal(400);
  },
  'DEST-35 GET health': async (w) => {
    const { destination } = await w.delivered();
    const health = await w.api.get(`${PATH}/${destination.id}/health`);
    expect(health).to.include.all.keys('successRate', 'status', 'totalDeliveries', 'p99Latency', 'lastSuccessAt');
  },
  'EXP-01 EXP-03 GET export, credentials in clear on request only': async (w) => {
    const { api, slug } = await w.organization();
    const secret = { authType: 'bearer', authConfig: { token: 'exported-token' } };
    const [a, b] = [await api.create(PATH, { ...minimal, ...secret }), await api.create(PATH, minimal)];
    const file = (query: string) => api.get<{ destinations: Json[] }>(`${PATH}/export${query}`);
    expect(await file('')).to.include({ organizationSlug: slug });
    expect((await file('')).destinations).to.have.length(2);
    expect((await file(`?ids=${b.id}`)).destinations).to.have.length(1);
    expect((await file(`?ids=${a.id},${b.id}`)).destinations).to.have.length(2);
    expect(JSON.stringify(await file(''))).to.not.include('exported-token');
    expect(JSON.stringify(await file('?includeSensitive=false'))).to.not.include('exported-token');
    expect(JSON.stringify(await file('?includeSensitive=true'))).to.include('exported-token');
  },
  'EXP-04 POST import': async (w) => {
    const { api } = await w.organization();
    const body = { destinations: [{ ...minimal, slug: 'crm', type: 'http' }], conflictStrategy: 'skip' };
    const answer = await api.request('POST', `${PATH}/import`, body);
    expect(answer.status).to.equal(200);
    expect(answer.body).to.include.all.keys('success', 'summary', 'details');
  },
  'DEST-33 DELETE bulk': async (w) => {
    const [a, b] = [await w.destination(), await w.destination()];
    const answer = await w.api.request('DELETE', `${PATH}/bulk`, { ids: [a.id, b.id] });
    expect(answer.status).to.equal(200);
    expect(answer.body).to.deep.equal({ success: true, deleted: 2 });
    expect((await w.api.request('GET', `${PATH}/${a.id}`)).status).to.equal(404);
    expect((await w.api.request('DELETE', `${PATH}/bulk`, { ids: 'x' })).status).to.equal(400);
  },
  'DEST-37 deleted, it leaves its routes and keeps its history': async (w) => {
    const { destination, route, eventId, delivery } = await w.deliver();
    await w.api.delete(`${PATH}/${destination.id}`);
    expect((await w.api.get(`/api/routes/${route.id}`)).destinationIds).to.deep.equal([]);
    expect((await w.records.deliveries(eventId))[0]).to.include({ id: delivery.id, status: 'delivered' });
  },
  'DEST-45 a test that succeeds': async (w) => {
    const { id } = await w.destination({ url: w.receiver.endpoint({ status: 202, body: 'thank you' }).url });
    const result = await w.api.post<Json>(`${PATH}/${id}/test`);
    expect(result).to.include({ success: true, statusCode: 202, responseBody: 'thank you' });
    expectIntegers(result, 'latency');
    expect(result.message).to.be.a('string');
  },
  'DEST-46 a test that fails': async (w) => {
    const { id } = await w.destination({ url: w.receiver.endpoint(503).url });
    const result = await w.api.post<Json>(`${PATH}/${id}/test`);
    expect(result).to.include({ success: false, statusCode: 503 });
    expectIntegers(result, 'latency');
    expect(result.error).to.be.a('string').and.include('503');
    expect(result.message).to.be.a('string');
  },
  'EXP-08 strategies, and a dry run': async (w) => {
    const { api } = await w.organization();
    const items = [{ ...minimal, slug: 'crm' }];
    for (const strategy of ['skip', 'rename', 'overwrite']) {
      const body = { destinations: items, conflictStrategy: strategy, validateOnly: true };
      expect((await api.request('POST', `${PATH}/import`, body)).status).to.equal(200);
    }
    expect((await api.list(PATH)).data, 'validateOnly imports nothing').to.deep.equal([]);
    for (const wrong of [
      { destinations: items },
      { conflictStrategy: 'skip' },
      { destinations: items, conflictStrategy: 'merge' },
    ]) {
      expect((await api.request('POST', `${PATH}/import`, wrong)).status).to.equal(400);
    }
    await api.post(`${PATH}/import`, { destinations: items, conflictStrategy: 'skip' });
    expect((await api.list(PATH)).data, 'the default is to import').to.have.length(1);
  },
  'EXP-14 conflicts of slugs': async (w) => {
    const { api } = await w.organization();
    const first = await api.create(PATH, { ...minimal, slug: 'crm' });
    const item = { name: 'Imported', url: 'https://imported.example/', slug: 'crm' };
    const run = (conflictStrategy: string) => api.post(`${PATH}/import`, { destinations: [item], conflictStrategy });
    const slugs = async () =>
      (await api.get<{ destinations: { slug: string }[] }>(`${PATH}/export`)).destinations.map(({ slug }) => slug);
    expect(await run('skip')).to.have.nested.property('summary.skipped', 1);
    expect(await api.get(`${PATH}/${first.id}`)).to.include({ name: 'CRM' });
    expect(await run('rename')).to.have.nested.property('summary.imported', 1);
    expect((await slugs())[1]).to.match(/^crm-\d+$/);
    expect(await run('overwrite')).to.have.nested.property('summary.overwritten', 1);
    expect(await api.get(`${PATH}/${first.id}`)).to.include({ name: 'Imported', url: item.url });
  },
  'EXP-15 EXP-16 the result of an import': async (w) => {
    const { api } = await w.organization();
    const destinations = [
      { ...minimal, slug: 'crm' },
      { name: 'Bad', url: 'nowhere', slug: 'bad' },
    ];
    const result = await api.post<Json>(`${PATH}/import`, { destinations, conflictStrategy: 'skip' });
    expect(result.success).to.equal(false);
    expect(result.summary).to.deep.equal({ imported: 1, skipped: 0, overwritten: 0, failed: 1 });
    expect(result.details).to.deep.equal({ imported: ['CRM'], skipped: [], overwritten: [], failed: ['Bad'] });
  },
  'HTTP-05 fixed words are no ids': async (w) => {
    expect(await w.api.get(`${PATH}/export`)).to.have.property('destinations');
    for (const [method, word] of [
      ['POST', 'import'],
      ['DELETE', 'bulk'],
    ] as const) {
      expect((await w.api.request(method, `${PATH}/${word}`, {})).status, 'reads its own body').to.equal(400);
    }
    expectError(await w.api.request('GET', `${PATH}/exports`), 404, 'RESOURCE_NOT_FOUND');
  },
});
