// ROUTE and EXP: requests.
import { expect } from 'chai';
import { expectError, expectInvalid, type Json } from '../../support/api-client.ts';
import { rowsOf } from '../world.ts';
import { bodyOf, circuit, conditions, created, exported, PATH } from './route-records.ts';

export const routesRows = rowsOf({
  'ROUTE-32 GET list and its filters': async (w) => {
    const { api, source, destination, route } = await exported(w);
    const second = await api.create('/api/destinations', { name: 'D', url: 'https://d.example' });
    const other = await api.create(PATH, {
      name: 'Off',
      sourceId: source.id,
      destinationIds: [second.id],
      enabled: false,
    });
    const ids = async (query: string) => (await api.list(`${PATH}${query}`)).data.map(({ id }) => id);
    expect(await ids('')).to.deep.equal([other.id, route.id]);
    expect(await ids('?page=2&pageSize=1')).to.deep.equal([route.id]);
    expect(await ids('?enabled=true')).to.deep.equal([route.id]);
    expect(await ids(`?destinationId=${destination.id}`)).to.deep.equal([route.id]);
    expect(await ids(`?sourceId=${source.id}`)).to.deep.equal([other.id, route.id]);
    expect(await ids('?sourceId=src_other')).to.deep.equal([]);
    expect((await api.list(PATH)).data[0]).to.include.all.keys(
      ...['id', 'name', 'sourceId', 'destinationIds', 'enabled', 'eventsRouted', 'source', 'destinations'],
    );
  },
  'ROUTE-33 POST': async (w) => {
    const failover = await w.destination();
    const optional = {
      ...{ description: 'd', priority: 3, filterConditions: conditions, filterLogic: 'OR', enabled: false },
      ...{ failoverDestinationIds: [failover.id], failoverAfterAttempts: 2, circuitCooldownSeconds: 10 },
      ...{
        circuitFailureThreshold: 3,
        circuitProbeSuccessThreshold: 1,
        notifyOnFailure: true,
        notifyOnSuccess: true,
      },
      ...{ notifyOnRecovery: true, notifyEmails: 'a@ops.example', expectedResponse: { statusCodes: [201] } },
      ...{ transformId: null, filterId: null },
    };
    const body = await bodyOf(w, optional);
    const answer = await w.api.request('POST', PATH, body);
    expect(answer.status).to.equal(201);
    expect(answer.body).to.deep.include(body);
  },
  'ROUTE-34 GET': async (w) => {
    const { id } = await created(w);
    const route = await w.api.get(`${PATH}/${id}`);
    expect(route).to.include.all.keys(
      'source',
      'destinations',
      'transform',
      'filter',
      'circuitState',
      'expectedResponse',
    );
  },
  'ROUTE-35 HTTP-21 PATCH': async (w) => {
    const transform = await w.api.create('/api/transforms', { name: 'T', type: 'jsonata', code: '$' });
    const filter = await w.api.create('/api/filters', { name: 'F', conditions });
    const { id } = await w.route({ transformId: transform.id, filterId: filter.id });
    const destination = await w.destination();
    for (const patch of [
      ...[{ name: 'N' }, { destinationIds: [destination.id] }, { description: 'x' }, { transformId: null }],
      ...[{ filterId: null }, { enabled: false }, {}],
    ]) {
      expect(await w.api.patch(`${PATH}/${id}`, patch)).to.deep.include({ id, ...patch });
    }
  },
  'ROUTE-36 DELETE': async (w) => {
    const { id } = await w.route();
    await w.api.delete(`${PATH}/${id}`);
    expectError(await w.api.request('GET', `${PATH}/${id}`), 404, 'RESOURCE_NOT_FOUND');
  },
  'ROUTE-39 GET stats of a period': async (w) => {
    const { route } = await w.delivered();
    for (const period of ['1h', '24h', '7d', '30d']) {
      expect(await w.api.get(`${PATH}/${route.id}/stats?period=${period}`)).to.include({ period, eventsRouted: 1 });
    }
    expectInvalid(await w.api.request('GET', `${PATH}/${route.id}/stats?period=1y`), 'period');
  },
  'ROUTE-40 GET circuit-status': async (w) => {
    expect(await circuit(w, (await w.delivered()).route.id)).to.include({ circuitState: 'closed', failureCount: 0 });
  },
  'ROUTE-41 POST reset-circuit': async (w) => {
    const answer = await w.api.post<Json>(`${PATH}/${(await created(w)).id}/reset-circuit`);
    expect(answer.message).to.be.a('string');
    expect(answer.circuitState).to.equal('closed');
  },
  'ROUTE-42 PATCH circuit-config': async (w) => {
    const { id } = await w.route();
    const settings = { circuitCooldownSeconds: 11, circuitFailureThreshold: 12, circuitProbeSuccessThreshold: 13 };
    for (const patch of [{ circuitCooldownSeconds: 11 }, settings, {}]) {
      const answer = await w.api.patch<Json>(`${PATH}/${id}/circuit-config`, patch);
      expect(answer).to.include.all.keys(...Object.keys(settings), 'message');
      expect(answer).to.include(patch);
    }
    expect(await w.api.get(`${PATH}/${id}`)).to.include(settings);
    expectInvalid(
      await w.api.request('PATCH', `${PATH}/${id}/circuit-config`, { circuitCooldownSeconds: '1' }),
      'circuitCooldownSeconds',
    );
  },
  'EXP-02 GET export': async (w) => {
    const { api, route } = await exported(w);
    const count = async (query: string) => (await api.get<{ routes: [] }>(`${PATH}/export${query}`)).routes.length;
    expect([await count(''), await count(`?ids=${route.id}`), await count('?ids=rte_unknown')]).to.deep.equal([
      1, 1, 0,
    ]);
  },
  'EXP-05 EXP-08 POST import, and a dry run': async (w) => {
    const { api, file, run, names } = await exported(w);
    expect(await run('rename', { validateOnly: true })).to.include({ imported: 1 });
    expect(await names()).to.deep.equal(['R']);
    for (const wrong of [
      { routes: file.routes },
      { conflictStrategy: 'skip' },
      { routes: file.routes, conflictStrategy: 'x' },
    ]) {
      expect((await api.request('POST', `${PATH}/import`, wrong)).status).to.equal(400);
    }
  },
  'ROUTE-37 POST bulk-pause': async (w) => {
    const { id } = await w.route();
    for (const isActive of [false, true]) {
      const answer = await w.api.post(`${PATH}/bulk-pause`, { routeIds: [id], isActive });
      expect(answer).to.deep.equal({ updated: 1, routes: [{ id, name: 'Orders to CRM', isActive }] });
      expect((await w.api.get(`${PATH}/${id}`)).enabled).to.equal(isActive);
    }
    for (const wrong of [{ routeIds: [id] }, { isActive: true }]) {
      expect((await w.api.request('POST', `${PATH}/bulk-pause`, wrong)).status).to.equal(400);
    }
  },
  'ROUTE-38 POST bulk-delete': async (w) => {
    const { id } = await w.route();
    const answer = await w.api.post(`${PATH}/bulk-delete`, { routeIds: [id] });
    expect(answer).to.deep.equal({ deleted: 1, routes: [{ id, name: 'Orders to CRM' }] });
    expect((await w.api.request('POST', `${PATH}/bulk-delete`, {})).status).to.equal(400);
  },
  'ROUTE-04 ROUTE-35 another sourceId is refused': async (w) => {
    const { id, sourceId } = await w.route();
    expect((await w.api.request('PATCH', `${PATH}/${id}`, { sourceId: (await w.source()).id })).status).to.equal(400);
    expect((await w.api.get(`${PATH}/${id}`)).sourceId).to.equal(sourceId);
  },
  'ROUTE-45 deleted alone': async (w) => {
    const transform = await w.api.create('/api/transforms', { name: 'T', type: 'jsonata', code: '$' });
    const filter = await w.api.create('/api/filters', { name: 'F', conditions });
    const { id, sourceId, destinationIds } = await w.route({ transformId: transform.id, filterId: filter.id });
    await w.api.delete(`${PATH}/${id}`);
    await w.api.get(`${w.base}/sources/${sourceId}`);
    await w.api.get(`/api/destinations/${destinationIds[0]}`);
    await w.api.get(`/api/transforms/${transform.id}`);
    await w.api.get(`/api/filters/${filter.id}`);
  },
  'ROUTE-45 ROUTE-46 bulk-delete is final, and unknown ids are passed over': async (w) => {
    const { id } = await w.route();
    await w.api.post(`${PATH}/bulk-delete`, { routeIds: [id] });
    expectError(await w.api.request('GET', `${PATH}/${id}`), 404, 'RESOURCE_NOT_FOUND');
    expect(await w.api.post(`${PATH}/bulk-pause`, { routeIds: [id], isActive: true })).to.deep.equal({
      updated: 0,
      routes: [],
    });
  },
  'EXP-18 conflicts of names': async (w) => {
    const { api, route, run, names, item } = await exported(w);
    expect(await run('skip')).to.include({ imported: 0, skipped: 1 });
    expect(await run('rename')).to.include({ imported: 1 });
    expect((await names())[0]).to.match(/^R \(\d+\)$/);
    expect(await run('overwrite', { routes: [{ ...item, priority: 77 }] })).to.include({ overwritten: 1 });
    expect(await api.get(`${PATH}/${route.id}`)).to.include({ name: 'R', priority: 77 });
  },
  'EXP-19 what an item names must exist': async (w) => {
    const { run, item } = await exported(w);
    for (const member of ['sourceSlug', 'destinationSlug', 'filterSlug', 'transformSlug', 'schemaSlug']) {
      const routes = [{ ...item, name: 'New', destinationSlugs: undefined, [member]: 'missing' }];
      expect(await run('skip', { routes }), member).to.include({ imported: 0 });
    }
  },
  'EXP-20 what is missing is named, and nothing is imported': async (w) => {
    const { run, item, names } = await exported(w);
    const routes = [
      { ...item, name: 'Good' },
      { ...item, name: 'Bad', sourceSlug: 'not-there' },
    ];
    const result = await run('skip', { routes });
    expect(result).to.include({ imported: 0 });
    expect((result.errors as string[]).join()).to.include('not-there');
    expect(await names()).to.deep.equal(['R']);
  },
  'EXP-21 the result of an import': async (w) => {
    const { run } = await exported(w);
    const result = await run('rename');
    expect(result).to.deep.include({ imported: 1, skipped: 0, overwritten: 0, errors: [] });
    expect(result.warnings).to.be.an('array');
    const [route] = result.routes as Json[];
    expect(route).to.have.all.keys('id', 'name', 'status');
    expect(route?.status).to.equal('created');
  },
  'ROUTE-43 ROUTE-44 a duplicate, and an unknown source': async (w) => {
    const { sourceId, destinationIds } = await w.route();
    expectError(await w.api.request('POST', PATH, { name: 'Again', sourceId, destinationIds }), 409, 'DUPLICATE_ROUTE');
    expectError(
      await w.api.request('POST', PATH, { name: 'X', sourceId: 'src_unknown', destinationIds }),
      400,
      'INVALID_SOURCE',
    );
  },
});
