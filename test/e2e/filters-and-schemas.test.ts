import { expect } from 'chai';
import type { RouteView, SourceView } from '../support/records.ts';
import { useHookyard } from '../support/use-hookyard.ts';

const kindIs = (value: string) => ({ field: 'payload.kind', operator: 'equals', value });
const orderSchema = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } };

describe('filters and schemas', () => {
  const { testInstance, records, receiver } = useHookyard();

  const stats = (route: RouteView) => testInstance.client.get(`/api/routes/${route.id}/stats?period=1h`);
  const filter = (conditions: object[], extra: object = {}) =>
    testInstance.client.create('/api/filters', { name: 'Filter', conditions, ...extra });
  const schema = (given: object) => testInstance.client.create('/api/schemas', { name: 'Order', schema: given });
  /** Sends a payload; @returns how many deliveries it led to, once they have succeeded */
  const taken = async (source: SourceView, payload: unknown, headers?: Record<string, string>): Promise<number> => {
    const eventId = await records.accepted(source, JSON.stringify(payload), headers);
    return (await records.eventWith('delivered', eventId)).deliveriesCount;
  };

  describe('a filter', () => {
    it('decides which events a route takes; the others are stored, delivered nowhere, and counted', async () => {
      const endpoint = receiver.endpoint(200);
      const { source, route } = await records.pipe(endpoint.url, { route: { filterConditions: [kindIs('paid')] } });
      expect(await taken(source, { kind: 'paid' })).to.equal(1);
      const refused = await records.event(await records.accepted(source, '{"kind":"open"}'));
      expect(refused).to.include({ status: 'delivered', routed: false, deliveriesCount: 0 });
      expect(refused.deliveries).to.deep.equal([]);
      await records.accepted(source, 'no JSON at all');
      expect(endpoint.requests.map(({ body }) => body.toString())).to.deep.equal(['{"kind":"paid"}']);
      expect(await stats(route)).to.include({ eventsRouted: 1, eventsFiltered: 2, deliveriesSucceeded: 1 });
      expect(await testInstance.client.get(`/api/routes/${route.id}`)).to.include({ eventsRouted: 1 });
      expect(await testInstance.client.get(`${testInstance.base}/sources/${source.id}`)).to.include({ eventsCount: 3 });
    });

    it('takes effect at once when it is changed, given or removed', async () => {
      const { id: filterId } = await filter([kindIs('a')]);
      const { source, route } = await records.pipe(receiver.endpoint(200).url, { route: { filterId } });
      expect(await taken(source, { kind: 'b' })).to.equal(0);
      await testInstance.client.patch(`/api/filters/${filterId}`, { conditions: [kindIs('b')] });
      expect(await taken(source, { kind: 'b' })).to.equal(1);
      await testInstance.client.patch(`/api/routes/${route.id}`, { filterConditions: [kindIs('c')] });
      expect(await taken(source, { kind: 'b' })).to.equal(0);
      await testInstance.client.patch(`/api/routes/${route.id}`, { filterConditions: null });
      expect(await taken(source, { kind: 'b' })).to.equal(1);
    });
  });

  describe('a schema', () => {
    it('fails the deliveries of a payload that does not match it, and says why', async () => {
      const endpoints = [receiver.endpoint(200), receiver.endpoint(200)];
      const { id: schemaId } = await schema(orderSchema);
      const source = await records.source();
      const ids = (await Promise.all(endpoints.map(({ url }) => records.destination(url)))).map(({ id }) => id);
      const route = await records.route(source.id, ids, { schemaId });
      const eventId = await records.accepted(source, '{"id":5}');
      const event = await records.event(eventId);
      expect(event).to.include({
        status: 'failed',
        routed: true,
        deliveriesCount: 2,
        deliveriesSucceeded: 0,
        deliveriesFailed: 2,
      });
      for (const { id } of event.deliveries ?? []) {
        const delivery = await testInstance.client.get(`/api/deliveries/${id}`);
        expect(delivery).to.deep.include({
          status: 'schema_failed',
          error: 'The payload does not match the schema Order (version 1): /id must be string',
          attemptCount: 0,
          attempts: [],
          nextAttemptAt: null,
          workflowId: null,
          temporalUrl: null,
        });
        expect(delivery.finishedAt).to.be.a('string');
      }
      const listed = await testInstance.client.list(`/api/deliveries?status=schema_failed&routeId=${route.id}`);
      expect(listed.pagination.total).to.equal(2);
      expect(await taken(source, { id: 'a' })).to.equal(2);
      expect(endpoints.map(({ requests }) => requests.length)).to.deep.equal([1, 1]);
      expect(await records.queued()).to.equal(0);
      expect(await stats(route)).to.include({ eventsRouted: 2, eventsFiltered: 0, deliveriesSucceeded: 2 });
    });

    it('is asked before the filter, and only by its own route', async () => {
      const { id: schemaId } = await schema(orderSchema);
      const { source, destination } = await records.pipe(receiver.endpoint(200).url, {
        route: { schemaId, filterConditions: [kindIs('never')] },
      });
      const strict = await records.event(await records.accepted(source, '{}'));
      expect(strict).to.include({ status: 'failed', deliveriesFailed: 1 });
      const other = await records.destination(receiver.endpoint(200).url);
      await records.route(source.id, [destination.id, other.id]);
      const event = await records.eventWith('partial', await records.accepted(source, '{}'));
      expect(event).to.include({ deliveriesCount: 3, deliveriesSucceeded: 2, deliveriesFailed: 1 });
      expect(await records.event(await records.accepted(source, '{"id":"a"}'))).to.include({ deliveriesCount: 2 });
    });

    it('refuses what is no JSON, with an error that can be stored whatever the payload holds', async () => {
      const { id: schemaId } = await schema({ type: 'object', additionalProperties: false });
      const { source } = await records.pipe(receiver.endpoint(200).url, { route: { schemaId } });
      const cases: [string | Buffer, RegExp][] = [
        ['plain text', /the payload must be object$/],
        [Buffer.from([0xff, 0x00]), /the payload must be object$/],
        ['', /the payload must be object$/],
        ['{"a\\u0000b\\ud800":1}', /must NOT have additional properties: a\ufffdb\ufffd$/],
      ];
      for (const [body, error] of cases) {
        const [delivery] = await records.deliveries(await records.accepted(source, body));
        expect(delivery?.status).to.equal('schema_failed');
        expect(delivery?.error).to.match(error);
      }
    });

    it('is asked again by a replay: fixed, it lets the same event through', async () => {
      const endpoint = receiver.endpoint(200);
      const { id: schemaId } = await schema(orderSchema);
      const { source } = await records.pipe(endpoint.url, { route: { schemaId } });
      const eventId = await records.accepted(source, '{"id":5}');
      await testInstance.client.post(`${testInstance.base}/events/${eventId}/replay`);
      expect(await records.event(eventId)).to.include({ status: 'failed', deliveriesCount: 1, deliveriesFailed: 1 });
      await testInstance.client.patch(`/api/schemas/${schemaId}`, { schema: { type: 'object' } });
      const bulk = { eventIds: [eventId] };
      await testInstance.client.post(`${testInstance.base}/events/bulk/replay`, bulk);
      const event = await records.eventWith('delivered', eventId);
      expect(event).to.include({ deliveriesCount: 1, deliveriesSucceeded: 1, deliveriesFailed: 0 });
      const statuses = (await records.deliveries(eventId)).map(({ status }) => status);
      expect(statuses).to.deep.equal(['schema_failed', 'schema_failed', 'delivered']);
      expect(endpoint.requests).to.have.length(1);
      await testInstance.client.patch(`/api/schemas/${schemaId}`, { schema: false });
      const last = (await records.deliveries(eventId)).at(-1);
      await testInstance.client.post(`/api/deliveries/${last?.id}/replay`);
      expect((await records.deliveries(eventId)).at(-1)).to.include({ status: 'schema_failed', replayOf: last?.id });
      expect(await records.event(eventId)).to.include({ status: 'failed', deliveriesCount: 1, deliveriesFailed: 1 });
      expect(endpoint.requests).to.have.length(1);
    });
  });
});
