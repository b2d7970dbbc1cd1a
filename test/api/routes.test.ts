import { expect } from 'chai';
import { type Answer, expectError, expectInvalid } from '../support/api-client.ts';
import { makeDestination, makeRoute, makeSource } from '../support/api-records.ts';
import { NOT_PAUSED } from '../support/workflows/pauses.ts';
import { createOrganization, testPool } from '../support/service.ts';
import { useMade, useOrganization } from '../support/use-hookyard.ts';

describe('Routes', () => {
  const organization = useOrganization();
  const source = useMade('a source', () => makeSource(organization, { name: 'Shop' }));
  const destination = (name: string) => useMade(name, () => makeDestination(organization, { name }));
  const [first, second, third] = [destination('First'), destination('Second'), destination('Third')];
  const post = (body: object): Promise<Answer> => organization.api.request('POST', '/api/routes', body);
  const patch = (id: string, body: object) => organization.api.request('PATCH', `/api/routes/${id}`, body);
  /** A route of a source of its own, so that it duplicates no other. */
  const freshRoute = async (extra: object = {}) =>
    makeRoute(organization, (await makeSource(organization)).id, [first.id], extra);

  it('creates a route with defaults and expands what it refers to', async () => {
    const asked = { name: 'All orders', sourceId: source.id, destinationIds: [first.id] };
    const route = await organization.api.create('/api/routes', asked);
    expect(route.id).to.match(/^rte_/);
    expect(route).to.deep.include({
      name: 'All orders',
      description: null,
      sourceId: source.id,
      destinationIds: [first.id],
      transformId: null,
      filterId: null,
      schemaId: null,
      priority: 0,
      filterConditions: null,
      filterLogic: 'AND',
      failoverDestinationIds: [],
      failoverAfterAttempts: 3,
      circuitState: 'closed',
      circuitCooldownSeconds: 300,
      circuitFailureThreshold: 5,
      circuitProbeSuccessThreshold: 2,
      notifyOnFailure: false,
      notifyOnSuccess: false,
      notifyOnRecovery: false,
      notifyEmails: null,
      expectedResponse: null,
      enabled: true,
      source: { id: source.id, name: 'Shop' },
      destinations: [{ id: first.id, name: 'First' }],
      transform: null,
      filter: null,
      eventsRouted: 0,
      lastEventAt: null,
    });
    expect(await organization.api.get(`/api/routes/${route.id}`)).to.deep.equal(route);
  });

  it('stores every member, on create and on update', async () => {
    const members = {
      description: 'd',
      priority: -7,
      filterConditions: [
        { field: 'payload.items[0].sku', operator: 'starts_with', value: 'A' },
        { field: 'headers.x-kind', operator: 'exists' },
        { field: 'payload.total', operator: 'greater_than', value: 5 },
        { field: 'status', operator: 'in', value: ['a', 'b'] },
      ],
      filterLogic: 'OR',
      failoverDestinationIds: [second.id, third.id],
      failoverAfterAttempts: 1,
      circuitCooldownSeconds: 10,
      circuitFailureThreshold: 1,
      circuitProbeSuccessThreshold: 1,
      notifyOnFailure: true,
      notifyOnSuccess: true,
      notifyOnRecovery: true,
      notifyEmails: 'a@example.com, b@example.com',
      expectedResponse: { statusCodes: [200, 202], bodyContains: 'ok' },
      enabled: false,
    };
    const created = await freshRoute(members);
    expect(await organization.api.get(`/api/routes/${created.id}`)).to.deep.include(members);
    const updated = await organization.api.patch(`/api/routes/${(await freshRoute()).id}`, members);
    expect(updated).to.deep.include(members);
    const cleared = {
      description: null,
      filterConditions: null,
      notifyEmails: null,
      expectedResponse: null,
      transformId: null,
      filterId: null,
      failoverDestinationIds: [],
    };
    expect(await organization.api.patch(`/api/routes/${created.id}`, cleared)).to.deep.include({
      ...cleared,
      priority: -7,
    });
  });

  describe('duplicates', () => {
    it('answers 409 to the same source and destinations, whatever their order', async () => {
      const { id: sourceId } = await makeSource(organization);
      await makeRoute(organization, sourceId, [first.id, second.id], { enabled: false });
      expectError(await post({ name: 'x', sourceId, destinationIds: [second.id, first.id] }), 409, 'DUPLICATE_ROUTE');
      await makeRoute(organization, sourceId, [first.id]);
      await makeRoute(organization, sourceId, [first.id, second.id, third.id]);
    });
    it('answers 409 to an update that makes one', async () => {
      const { id: sourceId } = await makeSource(organization);
      await makeRoute(organization, sourceId, [first.id]);
      const { id } = await makeRoute(organization, sourceId, [second.id]);
      expectError(await patch(id, { destinationIds: [first.id] }), 409, 'DUPLICATE_ROUTE');
      expect((await organization.api.get(`/api/routes/${id}`)).destinationIds).to.deep.equal([second.id]);
      await organization.api.patch(`/api/routes/${id}`, { destinationIds: [second.id] });
    });
    it('lets one of several equal creates at once win', async () => {
      const { id: sourceId } = await makeSource(organization);
      const answers = await Promise.all(
        [1, 2, 3, 4].map(() => post({ name: 'x', sourceId, destinationIds: [first.id] })),
      );
      expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([201, 409, 409, 409]);
    });
  });

  describe('refusals', () => {
    it('answers 400 INVALID_SOURCE to a source that does not exist', async () => {
      for (const sourceId of ['src_unknown', '', source.id.replace(/.$/, (last) => (last === '0' ? '1' : '0'))]) {
        expectInvalid(await post({ name: 'x', sourceId, destinationIds: [first.id] }), 'sourceId', 'INVALID_SOURCE');
      }
    });
    it('does not change the source', async () => {
      const { id } = await freshRoute();
      expectInvalid(await patch(id, { sourceId: source.id }), 'sourceId');
      const { sourceId } = await organization.api.get<{ sourceId: string }>(`/api/routes/${id}`);
      await organization.api.patch(`/api/routes/${id}`, { sourceId, name: 'Same source' });
    });
    it('answers 400 to a failover destination that is a primary one', async () => {
      const { id } = await freshRoute();
      expectInvalid(await patch(id, { failoverDestinationIds: [first.id] }), 'failoverDestinationIds');
    });
    it('answers 400 INVALID_FILTER to conditions that cannot work', async () => {
      const filterConditions = [{ field: 'a', operator: 'like', value: 1 }];
      const answer = await post({ name: 'x', sourceId: source.id, destinationIds: [third.id], filterConditions });
      expectInvalid(answer, 'filterConditions.0.operator', 'INVALID_FILTER');
    });
    const wrong: [string, () => object, string][] = [
      ['an unknown destination', () => ({ destinationIds: [first.id, 'dst_unknown'] }), 'destinationIds'],
      ['a destination twice', () => ({ destinationIds: [first.id, first.id] }), 'destinationIds'],
      ['an unknown failover', () => ({ failoverDestinationIds: ['dst_unknown'] }), 'failoverDestinationIds'],
      ['a failover twice', () => ({ failoverDestinationIds: [second.id, second.id] }), 'failoverDestinationIds'],
      ['an address that is no e-mail', () => ({ notifyEmails: 'a@example.com, nobody' }), 'notifyEmails'],
      [
        'a status code out of range',
        () => ({ expectedResponse: { statusCodes: [99] } }),
        'expectedResponse.statusCodes.0',
      ],
    ];
    for (const [what, members, path] of wrong) {
      it(`answers 400 to ${what}`, async () => {
        expectInvalid(await post({ name: 'x', sourceId: source.id, destinationIds: [third.id], ...members() }), path);
      });
    }
  });

  describe('circuit', () => {
    it('shows the status of a closed breaker', async () => {
      const { id } = await freshRoute({
        circuitFailureThreshold: 7,
        circuitCooldownSeconds: 9,
        circuitProbeSuccessThreshold: 3,
      });
      expect(await organization.api.get(`/api/routes/${id}/circuit-status`)).to.deep.equal({
        circuitState: 'closed',
        failureCount: 0,
        failureThreshold: 7,
        cooldownSeconds: 9,
        lastFailureAt: null,
        lastSuccessAt: null,
        openedAt: null,
        probeSuccessCount: 0,
        probeSuccessThreshold: 3,
        ...NOT_PAUSED,
      });
    });
    it('is a filter of the list', async () => {
      const own = await createOrganization();
      const destination = await makeDestination(own);
      const [never, open, half, closed] = await Promise.all(
        Array.from({ length: 4 }, async () => makeRoute(own, (await makeSource(own)).id, [destination.id])),
      );
      for (const [route, state] of [
        [open, 'open'],
        [half, 'half_open'],
        [closed, 'closed'],
      ] as const) {
        await testPool().query(
          `insert into circuits (route_id, organization_id, state, opened_at, version) values ($1, $2, $3, now(), 1)`,
          [route?.id, own.id, state],
        );
      }
      const found = async (query: string) => (await own.api.list(`/api/routes?${query}`)).data.map(({ id }) => id);
      expect(await found('circuitState=open')).to.deep.equal([open?.id]);
      expect(await found('circuitState=half_open')).to.deep.equal([half?.id]);
      expect(await found('circuitState=closed')).to.have.members([never?.id, closed?.id]);
      expect(await found('circuitState=open&enabled=false')).to.deep.equal([]);
      expectInvalid(await own.api.request('GET', '/api/routes?circuitState=broken'), 'circuitState');
    });
    it('is closed after a reset', async () => {
      const result = await organization.api.post(`/api/routes/${(await freshRoute()).id}/reset-circuit`);
      expect(result).to.include({ circuitState: 'closed' });
      expect(result.message).to.be.a('string').that.is.not.empty;
    });
  });

  it('takes an ordering, and warns when an outage would use up the retries before the circuit breaker opens', async () => {
    const route = await freshRoute({ ordering: { key: 'payload.order.id' } });
    const full = { key: 'payload.order.id', missingKey: 'unordered', onExhausted: 'hold', holdSeconds: 86_400 };
    expect(route).to.deep.include({ ordering: full, warnings: [] });
    const path = `/api/routes/${route.id}`;
    const { warnings } = await organization.api.patch<{ warnings: string[] }>(path, { circuitFailureThreshold: 6 });
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include('circuitFailureThreshold (6) is above maxRetries (5)');
    expect(await organization.api.patch(path, { ordering: { key: null, onExhausted: 'continue' } })).to.deep.include({
      ordering: { ...full, key: null, onExhausted: 'continue' },
      warnings: [],
    });
    expect(await organization.api.patch(path, { ordering: null })).to.include({ ordering: null });
  });

  it('refuses an ordering that cannot be used', async () => {
    const { id } = await freshRoute();
    const wrong: [object, string][] = [
      [{}, 'ordering.key'],
      [{ key: 'payload..id' }, 'ordering.key'],
      [{ key: 'payload.id', missingKey: 'drop' }, 'ordering.missingKey'],
      [{ key: 'payload.id', holdSeconds: 0 }, 'ordering.holdSeconds'],
      // Payloads are kept for 30 days.
      [{ key: 'payload.id', holdSeconds: 31 * 86_400 }, 'ordering.holdSeconds'],
    ];
    for (const [ordering, member] of wrong) expectInvalid(await patch(id, { ordering }), member);
  });
});
