// Organizations never see each other: every path of the management API, asked for with another organization's ids.
import { expect } from 'chai';
import { managementRouter } from '../../api/app.ts';
import type { ApiDeps } from '../../api/context.ts';
import { readSettings } from '../../core/config.ts';
import { expectError, expectInvalid } from '../support/api-client.ts';
import { deliveryOf, forgetQueued, ingest, makePipeline, type Pipeline } from '../support/api-records.ts';
import { createOrganization, type TestOrganization } from '../support/service.ts';

/** Every method and path pattern that the API serves. Only the patterns are used, so nothing is behind the handlers. */
function servedPaths(): { method: string; path: string }[] {
  const router = managementRouter({ settings: readSettings({}) } as unknown as ApiDeps);
  return router.stack.flatMap((layer) =>
    layer.methods.filter((method) => method !== 'HEAD').map((method) => ({ method, path: String(layer.path) })),
  );
}

describe('Tenant separation', () => {
  let mine: TestOrganization;
  let theirs: TestOrganization;
  let records: Pipeline;
  let eventId: string;
  let deliveryId: string;
  let keyId: string;
  let filterId: string;
  let schemaId: string;
  let transformId: string;
  let replayId: string;
  let before_: unknown[];
  before(async () => {
    mine = await createOrganization();
    theirs = await createOrganization();
    records = await makePipeline(theirs);
    eventId = await ingest(theirs, records.source, '{"secret":"theirs"}');
    deliveryId = (await deliveryOf(theirs, eventId)).id;
    keyId = (await theirs.api.create('/api/api-keys', { name: 'Theirs' })).id;
    const conditions = [{ field: 'a', operator: 'exists' }];
    filterId = (await theirs.api.create('/api/filters', { name: 'Theirs', conditions })).id;
    schemaId = (await theirs.api.create('/api/schemas', { name: 'Theirs', schema: {} })).id;
    const transform = { name: 'Theirs', type: 'jsonata', code: '$' };
    transformId = (await theirs.api.create('/api/transforms', transform)).id;
    // Of nothing, so that it changes nothing.
    replayId = String((await theirs.api.post(`${theirs.base}/events/replay`, { sourceId: 'src_none' })).id);
    before_ = await snapshot();
  });
  after(() => forgetQueued(theirs));

  /** Everything the other organization has. */
  const snapshot = () =>
    Promise.all(
      [
        `/api/destinations/${records.destination.id}`,
        `/api/routes/${records.route.id}`,
        `${theirs.base}/sources/${records.source.id}`,
        `${theirs.base}/events/${eventId}?includePayload=true&includeDeliveries=true`,
        `/api/deliveries/${deliveryId}`,
        '/api/api-keys',
        `/api/filters/${filterId}`,
        `/api/schemas/${schemaId}`,
        `/api/transforms/${transformId}`,
      ].map((path) => theirs.api.get(path)),
    );

  /** The path with the other organization's record in place of `:id`. */
  function withTheirRecord(path: string): string {
    const kind = /\/([a-z-]+)\/:id/.exec(path)?.[1] ?? '';
    const id = {
      destinations: records.destination.id,
      routes: records.route.id,
      sources: records.source.id,
      events: eventId,
      deliveries: deliveryId,
      'api-keys': keyId,
      filters: filterId,
      schemas: schemaId,
      transforms: transformId,
      replays: replayId,
    }[kind];
    if (id === undefined) throw new Error(`${path}: this test needs a record of the kind "${kind}"`);
    return path.replace(':id', id);
  }
  const bodyFor = (method: string) => (method === 'PATCH' || method === 'POST' ? {} : undefined);

  for (const { method, path } of servedPaths()) {
    if (path.includes(':orgId')) {
      it(`${method} ${path}: another organization's id is unknown`, async () => {
        const foreign = path.replace(':orgId', theirs.id);
        const full = foreign.includes(':id') ? withTheirRecord(foreign) : foreign;
        const body = full.endsWith('/bulk/replay') ? { eventIds: [eventId] } : bodyFor(method);
        expectError(await mine.api.request(method, full, body), 404, 'RESOURCE_NOT_FOUND');
      });
    }
    if (path.includes(':id')) {
      it(`${method} ${path}: another organization's record is unknown`, async () => {
        const full = withTheirRecord(path.replace(':orgId', mine.id));
        expectError(await mine.api.request(method, full, bodyFor(method)), 404, 'RESOURCE_NOT_FOUND');
      });
    }
    if (method === 'GET' && !path.includes(':id')) {
      it(`GET ${path}: shows nothing of another organization`, async () => {
        const answer = await mine.api.request('GET', path.replace(':orgId', mine.id));
        const text = JSON.stringify(answer.body);
        for (const id of [
          theirs.id,
          records.source.id,
          records.destination.id,
          records.route.id,
          eventId,
          deliveryId,
          keyId,
          filterId,
          schemaId,
          transformId,
          replayId,
        ]) {
          expect(text).to.not.include(id);
        }
      });
    }
  }

  it('covers the whole API', () => {
    expect(servedPaths().length).to.be.greaterThan(30);
  });

  it('filters by ids of another organization find nothing', async () => {
    for (const query of [
      `eventId=${eventId}`,
      `routeId=${records.route.id}`,
      `destinationId=${records.destination.id}`,
    ]) {
      expect((await mine.api.list(`/api/deliveries?${query}`)).pagination.total).to.equal(0);
    }
    expect((await mine.api.list(`/api/routes?sourceId=${records.source.id}`)).pagination.total).to.equal(0);
    expect((await mine.api.list(`${mine.base}/events?sourceId=${records.source.id}`)).pagination.total).to.equal(0);
  });

  it("routes cannot name another organization's records", async () => {
    const own = await makePipeline(mine);
    const route = { name: 'x', sourceId: own.source.id, destinationIds: [own.destination.id] };
    const post = (members: object) => mine.api.request('POST', '/api/routes', { ...route, ...members });
    expectInvalid(await post({ sourceId: records.source.id }), 'sourceId', 'INVALID_SOURCE');
    expectInvalid(await post({ destinationIds: [records.destination.id] }), 'destinationIds');
    expectInvalid(await post({ failoverDestinationIds: [records.destination.id] }), 'failoverDestinationIds');
    expectInvalid(await post({ filterId }), 'filterId');
    expectInvalid(await post({ schemaId }), 'schemaId');
    expectInvalid(await post({ transformId }), 'transformId');
  });

  it("events cannot be replayed to another organization's destination", async () => {
    const own = await makePipeline(mine);
    const ownEvent = await ingest(mine, own.source, '{}');
    const body = { destinationIds: [records.destination.id] };
    expectInvalid(await mine.api.request('POST', `${mine.base}/events/${ownEvent}/replay`, body), 'destinationIds');
    await forgetQueued(mine);
  });

  it('left everything of the other organization as it was', async () => {
    expect(await snapshot()).to.deep.equal(before_);
  });
});
