// Events (EVT). Their replay: events-replay.test.ts.
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { expectError, type Json } from '../support/api-client.ts';
import {
  deliveriesOf,
  deliveryOf,
  expirePayload,
  forgetQueued,
  ingest,
  makeDestination,
  makePipeline,
  makeRoute,
  makeSource,
  recordAttempt,
} from '../support/api-records.ts';
import { useMade, useOrganization } from '../support/use-hookyard.ts';

const ISO_MS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('Events', () => {
  const organization = useOrganization();
  const events = '/api/events';
  const pipeline = useMade('a pipeline', () => makePipeline(organization));
  afterEach(() => forgetQueued(organization));

  describe('get', () => {
    it('shows what was received', async () => {
      const body = '{"order": {"id": 7}}';
      const id = await ingest(organization, pipeline.source, body, {
        'Content-Type': 'application/json',
        'X-Kind': 'order',
      });
      const event = await organization.api.get(`${events}/${id}`);
      expect(event).to.deep.include({
        id,
        sourceId: pipeline.source.id,
        status: 'pending',
        routed: true,
        method: 'POST',
        payloadSize: body.length,
        payloadHash: `sha256:${createHash('sha256').update(body).digest('hex')}`,
        deliveriesCount: 1,
        deliveriesSucceeded: 0,
        deliveriesFailed: 0,
      });
      expect(event.headers).to.include({ 'x-kind': 'order', 'content-type': 'application/json' });
      expect(event.receivedAt).to.match(ISO_MS);
      expect(event.createdAt).to.match(ISO_MS);
      expect(event).to.not.have.any.keys('payload', 'deliveries');
    });

    it('includes deliveries when asked', async () => {
      const id = await ingest(organization, pipeline.source, '{}');
      const { deliveries } = await organization.api.get<{ deliveries: Json[] }>(
        `${events}/${id}?includeDeliveries=true`,
      );
      expect(deliveries).to.have.length(1);
      expect(deliveries[0]).to.deep.include({
        destinationId: pipeline.destination.id,
        routeId: pipeline.route.id,
        status: 'pending',
        attemptCount: 0,
        latency: null,
        deliveredAt: null,
      });
    });

    const payloads: [string, string | Uint8Array<ArrayBuffer>, object][] = [
      ['JSON', '{"a":[1,null]}', { payload: { a: [1, null] } }],
      ['text', 'plain text', { payload: 'plain text' }],
      ['bytes', new Uint8Array([0, 255, 1]), { payload: 'AP8B', payloadEncoding: 'base64' }],
      ['nothing', '', { payload: '' }],
    ];
    for (const [what, body, shown] of payloads) {
      it(`shows ${what} as payload when asked`, async () => {
        const id = await ingest(organization, pipeline.source, body, { 'Content-Type': 'application/octet-stream' });
        const event = await organization.api.get(`${events}/${id}?includePayload=true`);
        expect(event).to.deep.include(shown);
      });
    }

    it('is delivered with no deliveries when no route takes it', async () => {
      const source = await makeSource(organization);
      const id = await ingest(organization, source, '{}');
      const event = await organization.api.get(`${events}/${id}`);
      expect(event).to.include({ status: 'delivered', routed: false, deliveriesCount: 0 });
    });
  });

  describe('payload', () => {
    it('answers the bytes as received, as a download', async () => {
      const bytes = new Uint8Array([0, 255, 13, 10, 60]);
      const id = await ingest(organization, pipeline.source, bytes, { 'Content-Type': 'text/html' });
      const response = await fetch(`${organization.api.url}${events}/${id}/payload`, {
        headers: { Authorization: `Bearer ${organization.token}` },
      });
      expect(new Uint8Array(await response.arrayBuffer())).to.deep.equal(bytes);
      expect(response.headers.get('content-type')).to.equal('text/html');
      expect(response.headers.get('content-disposition')).to.match(/^attachment/);
      expect(response.headers.get('x-content-type-options')).to.equal('nosniff');
    });
  });

  describe('expired payload', () => {
    it('answers 410 wherever the payload is needed, and shows the rest', async () => {
      const id = await ingest(organization, pipeline.source, '{}');
      const { id: deliveryId } = await deliveryOf(organization, id);
      await expirePayload(id);
      expect(await organization.api.get(`${events}/${id}`)).to.include({ id, payloadSize: 2 });
      const needing: [string, string, object?][] = [
        ['GET', `${events}/${id}/payload`],
        ['GET', `${events}/${id}?includePayload=true`],
        ['POST', `${events}/${id}/replay`],
        ['POST', `${events}/bulk/replay`, { eventIds: [id] }],
        ['POST', `/api/deliveries/${deliveryId}/replay`],
      ];
      for (const [method, path, body] of needing) {
        expectError(await organization.api.request(method, path, body), 410, 'PAYLOAD_EXPIRED', new RegExp(id));
      }
    });
  });

  describe('list', () => {
    const own = useOrganization();
    const first = useMade('a pipeline', () => makePipeline(own));
    const second = useMade('a pipeline', () => makePipeline(own));
    const ids: Record<string, string> = {};
    const found = async (query: string) => {
      const { data } = await own.api.list<{ id: string }>(`${own.base}/events?${query}`);
      return data.map((event) => Object.keys(ids).find((name) => ids[name] === event.id));
    };
    before(async () => {
      ids.percent = await ingest(own, first.source, '{"text":"100% Größe"}');
      ids.plain = await ingest(own, first.source, '{"text":"1000 Groesse"}');
      ids.bytes = await ingest(own, second.source, new Uint8Array([255, 49, 48, 48]), {});
      ids.later = await ingest(own, second.source, 'a_b');
      await recordAttempt({ eventId: ids.later, deliveryId: (await deliveryOf(own, ids.later)).id });
    });
    after(() => forgetQueued(own));

    it('shows newest first', async () => {
      expect(await found('')).to.deep.equal(['later', 'bytes', 'plain', 'percent']);
      expect(await found('pageSize=1&page=2')).to.deep.equal(['bytes']);
    });
    it('searches JSON as people read it: escapes match what they stand for, and what was received matches too', async () => {
      const spelled = await makePipeline(own);
      const escaped = {
        php: String.raw`{"url":"https:\/\/shop.example\/o\/77","name":"Ren\u00e9e \uD83D\ude00"}`,
        quoted: String.raw`{"text":"She said \"yes\":\n\tC:\\new\\u0041 \u0041\u0042c"}`,
        broken: String.raw`{"nul":"\u0000 caf\u00E9","half":"\ud83d","low":"\ude00 \ud83d\ud83d\ude01","other":"C:\users \x"}`,
        plain: 'no JSON: Renée at shop.example/o/77',
      };
      for (const [name, body] of Object.entries(escaped)) ids[name] = await ingest(own, spelled.source, body);
      const table: [search: string, names: string[]][] = [
        ['shop.example/o/77', ['plain', 'php']],
        [String.raw`shop.example\/o\/77`, ['php']],
        ['RENÉE', ['plain', 'php']],
        [String.raw`ren\u00e9e`, ['php']],
        ['😀', ['php']],
        ['😁', ['broken']],
        ['said "yes":\n\tc:', ['quoted']],
        [String.raw`\"yes\"`, ['quoted']],
        [String.raw`C:\new\u0041 ABC`, ['quoted']],
        [String.raw`C:\\new`, ['quoted']],
        ['Café', ['broken']],
        [String.raw`C:\users \x`, ['broken']],
        [String.raw`\u0000`, ['broken']],
        ['%77', []],
      ];
      for (const [search, names] of table) {
        const query = `sourceId=${spelled.source.id}&search=${encodeURIComponent(search)}`;
        expect(await found(query), search).to.deep.equal(names);
      }
      const dryRun = { sourceId: spelled.source.id, search: 'Renée', dryRun: true };
      const { body } = await own.api.request('POST', `${own.base}/events/replay`, dryRun);
      expect(body).to.include({ eventsTotal: 2 });
    });
  });

  it('shows the timeline', async () => {
    const id = await ingest(organization, pipeline.source, '{}');
    const { id: deliveryId } = await deliveryOf(organization, id);
    const receivedAt = Date.parse((await organization.api.get<{ receivedAt: string }>(`${events}/${id}`)).receivedAt);
    const ids = { eventId: id, deliveryId };
    await recordAttempt({ ...ids, deliveryStatus: 'retrying', latency: 20, completedAt: new Date(receivedAt + 100) });
    await recordAttempt({ ...ids, attemptNumber: 2, latency: 50, completedAt: new Date(receivedAt + 1000) });
    const timeline = await organization.api.get<Json & { deliveries: Json[] }>(`${events}/${id}/timeline`);
    for (const name of ['received', 'validated', 'queued']) expect(timeline[name]).to.match(ISO_MS);
    expect(timeline.totalDuration).to.equal(1000);
    expect(timeline.deliveries).to.have.length(1);
    expect(timeline.deliveries[0]).to.deep.include({
      destinationId: pipeline.destination.id,
      destinationName: (await organization.api.get(`/api/destinations/${pipeline.destination.id}`)).name,
      attempts: [
        {
          attemptNumber: 1,
          startedAt: new Date(receivedAt + 80).toISOString(),
          completedAt: new Date(receivedAt + 100).toISOString(),
          status: 'failed',
          statusCode: 500,
          latency: 20,
        },
        {
          attemptNumber: 2,
          startedAt: new Date(receivedAt + 950).toISOString(),
          completedAt: new Date(receivedAt + 1000).toISOString(),
          status: 'success',
          statusCode: 200,
          latency: 50,
        },
      ],
    });
  });

  describe('status', () => {
    const outcomes: [string, ('delivered' | 'failed')[]][] = [
      ['pending', ['delivered']],
      ['delivered', ['delivered', 'delivered']],
      ['partial', ['delivered', 'failed']],
      ['failed', ['failed', 'failed']],
    ];
    for (const [status, results] of outcomes) {
      it(`is ${status} after ${results.join(' and ')} of two deliveries`, async () => {
        const source = await makeSource(organization);
        const destinations = [await makeDestination(organization), await makeDestination(organization)];
        await makeRoute(
          organization,
          source.id,
          destinations.map(({ id }) => id),
        );
        const eventId = await ingest(organization, source, '{}');
        const deliveries = await deliveriesOf(organization, eventId);
        for (const [index, deliveryStatus] of results.entries()) {
          await recordAttempt({ eventId, deliveryId: deliveries[index]?.id ?? '', deliveryStatus });
        }
        expect(await organization.api.get(`${events}/${eventId}`)).to.include({
          status,
          deliveriesCount: 2,
          deliveriesSucceeded: results.filter((result) => result === 'delivered').length,
          deliveriesFailed: results.filter((result) => result === 'failed').length,
        });
      });
    }
  });

  it('is deleted with its deliveries and payload', async () => {
    const id = await ingest(organization, pipeline.source, '{}');
    const { id: deliveryId } = await deliveryOf(organization, id);
    await organization.api.delete(`${events}/${id}`);
    for (const path of ['', '/payload', '/timeline']) {
      expectError(await organization.api.request('GET', `${events}/${id}${path}`), 404, 'RESOURCE_NOT_FOUND');
    }
    expectError(await organization.api.request('GET', `/api/deliveries/${deliveryId}`), 404, 'RESOURCE_NOT_FOUND');
    expectError(await organization.api.request('DELETE', `${events}/${id}`), 404, 'RESOURCE_NOT_FOUND');
    expectError(await organization.api.request('POST', `${events}/${id}/replay`), 404, 'RESOURCE_NOT_FOUND');
  });
});
