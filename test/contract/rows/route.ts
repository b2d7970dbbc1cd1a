// ROUTE: members; EXP: items.
import { expect } from 'chai';
import { expectInvalid, type Json } from '../../support/api-client.ts';
import { NOT_PAUSED } from '../../support/pauses.ts';
import { expectTimestamps, rowsOf, type World } from '../world.ts';
import { bodyOf, circuit, conditions, created, exported, PATH } from './route-records.ts';

async function expectDefault(
  w: World,
  member: string,
  value: unknown,
  other: unknown,
  ...bad: unknown[]
): Promise<void> {
  expect((await created(w))[member], member).to.deep.equal(value);
  expect((await w.route({ [member]: other }))[member], member).to.deep.equal(other);
  for (const wrong of bad)
    expectInvalid(await w.api.request('POST', PATH, await bodyOf(w, { [member]: wrong })), member);
}
async function expectMissing(w: World, member: string): Promise<void> {
  const { [member]: _left, ...body } = await bodyOf(w);
  expect((await w.api.request('POST', PATH, body)).status).to.equal(400);
}

export const routeRows = rowsOf({
  'ROUTE-01 id': async (w) => expect((await created(w)).id).to.match(/^rte_/),
  'ROUTE-02 name is required': (w) => expectMissing(w, 'name'),
  'ROUTE-03 description': (w) => expectDefault(w, 'description', null, 'All orders', 5),
  'ROUTE-04 sourceId is required and stays': async (w) => {
    await expectMissing(w, 'sourceId');
    const { id } = await created(w);
    expectInvalid(await w.api.request('PATCH', `${PATH}/${id}`, { sourceId: (await w.source()).id }), 'sourceId');
  },
  'ROUTE-05 destinationIds are required': async (w) => {
    await expectMissing(w, 'destinationIds');
    expect((await w.api.request('POST', PATH, await bodyOf(w, { destinationIds: [] }))).status).to.equal(400);
  },
  'ROUTE-06 transformId': async (w) => {
    const { id } = await w.api.create('/api/transforms', { name: 'T', type: 'jsonata', code: '$' });
    await expectDefault(w, 'transformId', null, id, 5, 'tfm_unknown');
  },
  'ROUTE-07 filterId': async (w) => {
    const { id } = await w.api.create('/api/filters', { name: 'F', conditions });
    await expectDefault(w, 'filterId', null, id, 5, 'flt_unknown');
  },
  'ROUTE-11 priority orders routes': async (w) => {
    await expectDefault(w, 'priority', 0, 12, '1', 1.5);
    const source = await w.source();
    const made = [];
    for (const priority of [1, 9, 5]) {
      const { id } = await w.destination();
      made.push(await w.api.create(PATH, { name: 'R', sourceId: source.id, destinationIds: [id], priority }));
    }
    // Deliveries are made in the order in which the routes run.
    const deliveries = await w.records.deliveries(await w.records.accepted(source as never, '{}'));
    expect(deliveries.map(({ routeId }) => routeId)).to.deep.equal([made[1]?.id, made[2]?.id, made[0]?.id]);
  },
  'ROUTE-08 filterConditions, or a filterId': async (w) => {
    await expectDefault(w, 'filterConditions', null, conditions, 'x');
    const { id } = await w.api.create('/api/filters', { name: 'F', conditions });
    const both = await bodyOf(w, { filterConditions: conditions, filterId: id });
    expect((await w.api.request('POST', PATH, both)).status, 'an alternative to filterId').to.equal(400);
  },
  'ROUTE-09 filterLogic': async (w) => {
    await expectDefault(w, 'filterLogic', 'AND', 'OR', 'XOR');
    const either = [...conditions, { field: 'payload.order.id', operator: 'equals', value: 0 }];
    const routed = async (filterLogic: string) => {
      const { source } = await w.pipe(200, { route: { filterConditions: either, filterLogic } });
      return (await w.records.event(await w.records.accepted(source, '{"order":{"id":1,"kind":"paid"}}')))
        .deliveriesCount;
    };
    expect([await routed('AND'), await routed('OR')]).to.deep.equal([0, 1]);
  },
  'ROUTE-12 failoverDestinationIds': async (w) => {
    const ids = (await Promise.all([1, 2, 3, 4].map(() => w.destination()))).map(({ id }) => id);
    await expectDefault(w, 'failoverDestinationIds', [], ids.slice(0, 3), ids);
  },
  'ROUTE-13 failoverAfterAttempts': (w) => expectDefault(w, 'failoverAfterAttempts', 3, 1, 0, '3'),
  'ROUTE-14 circuitState': async (w) => expect((await created(w)).circuitState).to.equal('closed'),
  'ROUTE-16 circuitCooldownSeconds': (w) => expectDefault(w, 'circuitCooldownSeconds', 300, 60, 0, '1'),
  'ROUTE-15 circuitFailureThreshold': (w) => expectDefault(w, 'circuitFailureThreshold', 5, 9, 0, '5'),
  'ROUTE-17 circuitProbeSuccessThreshold': (w) => expectDefault(w, 'circuitProbeSuccessThreshold', 2, 1, 0, '2'),
  'ROUTE-18 notifyOnFailure': (w) => expectDefault(w, 'notifyOnFailure', false, true, 'true'),
  'ROUTE-19 notifyOnSuccess': (w) => expectDefault(w, 'notifyOnSuccess', false, true, 1),
  'ROUTE-20 notifyOnRecovery': (w) => expectDefault(w, 'notifyOnRecovery', false, true, 'on'),
  'ROUTE-21 notifyEmails': (w) => expectDefault(w, 'notifyEmails', null, 'a@ops.example,b@ops.example', 'nobody', 5),
  'ROUTE-22 DLV-18 expectedResponse judges answers': async (w) => {
    const expected = { statusCodes: [200, 404], bodyContains: 'stored' };
    await expectDefault(w, 'expectedResponse', null, expected, 'x');
    const judged = async (answer: { status: number; body: string }, ending: string) => {
      const { url } = w.receiver.endpoint(answer);
      const { delivery } = await w.records.deliver(url, '{}', ending, { route: { expectedResponse: expected } });
      return delivery.status;
    };
    expect(await judged({ status: 404, body: 'it was stored' }, 'delivered')).to.equal('delivered');
    expect(await judged({ status: 202, body: 'it was stored' }, 'failed')).to.equal('failed');
    expect(await judged({ status: 200, body: 'refused' }, 'failed')).to.equal('failed');
  },
  'ROUTE-24 enabled': (w) => expectDefault(w, 'enabled', true, false, 'true'),
  'ROUTE-25 source': async (w) => {
    const { id, sourceId } = await created(w);
    expect((await w.api.get(`${PATH}/${id}`)).source).to.deep.include({ id: sourceId, name: 'Orders' });
  },
  'ROUTE-26 destinations': async (w) => {
    const { id, destinationIds } = await created(w);
    expect((await w.api.get(`${PATH}/${id}`)).destinations).to.deep.equal([{ id: destinationIds[0], name: 'CRM' }]);
  },
  'ROUTE-27 transform': async (w) => {
    const transform = await w.api.create('/api/transforms', { name: 'T', type: 'jsonata', code: '$' });
    const { id } = await w.route({ transformId: transform.id });
    expect((await w.api.get(`${PATH}/${id}`)).transform).to.deep.equal({ id: transform.id, name: 'T' });
  },
  'ROUTE-28 filter': async (w) => {
    const filter = await w.api.create('/api/filters', { name: 'F', conditions });
    const { id } = await w.route({ filterId: filter.id });
    expect((await w.api.get(`${PATH}/${id}`)).filter).to.deep.equal({ id: filter.id, name: 'F' });
  },
  'ROUTE-29 eventsRouted': async (w) => {
    expect((await created(w)).eventsRouted).to.equal(0);
    expect((await w.api.get(`${PATH}/${(await w.delivered()).route.id}`)).eventsRouted).to.equal(1);
  },
  'ROUTE-30 lastEventAt': async (w) => {
    expect((await created(w)).lastEventAt).to.equal(null);
    expectTimestamps(await w.api.get(`${PATH}/${(await w.delivered()).route.id}`), 'lastEventAt');
  },
  'ROUTE-31 createdAt and updatedAt': async (w) => expectTimestamps(await created(w), 'createdAt', 'updatedAt'),
  'ROUTE-40 the status of a circuit': async (w) => {
    expect(await circuit(w, (await created(w)).id)).to.deep.equal({
      ...{ circuitState: 'closed', failureCount: 0, failureThreshold: 5, cooldownSeconds: 300 },
      ...{ lastFailureAt: null, lastSuccessAt: null, openedAt: null, probeSuccessCount: 0, probeSuccessThreshold: 2 },
      ...NOT_PAUSED,
    });
  },
  'ROUTE-39 statistics': async (w) => {
    const stats = await w.api.get<Json>(`${PATH}/${(await w.delivered()).route.id}/stats`);
    expect(stats).to.deep.include({
      eventsRouted: 1,
      eventsFiltered: 0,
      deliveriesSucceeded: 1,
      deliveriesFailed: 0,
    });
    expect(stats.avgLatency).to.be.a('number');
    expect(stats.period).to.be.a('string');
  },
  'EXP-12 EXP-13 a route in a file': async (w) => {
    const { item } = await exported(w, { priority: 4, notifyEmails: 'a@ops.example' });
    expect(item).to.deep.include({
      ...{
        name: 'R',
        sourceSlug: 'orders',
        destinationSlug: 'crm',
        filterSlug: null,
        transformSlug: null,
        schemaSlug: null,
      },
      ...{ filterConditions: null, filterLogic: 'AND', priority: 4, isActive: true, notifyOnFailure: false },
      ...{ notifyOnSuccess: false, notifyOnRecovery: false, notifyEmails: 'a@ops.example', failureThreshold: 5 },
      ...{ failoverDestinationSlugs: [], failoverAfterAttempts: 3, circuitCooldownSeconds: 300 },
      ...{ circuitFailureThreshold: 5, circuitProbeSuccessThreshold: 2 },
    });
  },
  'EXP-10 a destination in a file': async (w) => {
    const { api } = await exported(w);
    const { destinations } = await api.get<{ destinations: Json[] }>('/api/destinations/export?includeSensitive=true');
    expect(destinations[0]).to.deep.include({
      ...{ name: 'CRM', slug: 'crm', type: 'http', url: 'https://crm.example', method: 'POST', headers: {} },
      ...{ authType: 'none', authConfig: {}, timeoutMs: 30_000, rateLimitPerMinute: null, isActive: true },
    });
  },
  'EXP-11 credentials in a file': async (w) => {
    const { api } = await exported(w);
    const { destinations } = await api.get<{ destinations: Json[] }>('/api/destinations/export');
    expect(destinations[0]?.authConfig).to.equal('***REDACTED***');
  },
  'EXP-06 the envelope of a file': async (w) => {
    const { api, file, slug } = await exported(w);
    expect(file).to.have.all.keys('version', 'exportedAt', 'organizationSlug', 'routes');
    expectTimestamps(file, 'exportedAt');
    expect(file.organizationSlug).to.equal(slug);
    const other = await api.get<Json>('/api/destinations/export');
    expect(other).to.have.all.keys('version', 'exportedAt', 'organizationSlug', 'destinations');
  },
});
