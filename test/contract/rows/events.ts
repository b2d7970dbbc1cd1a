// EVT, RPL.
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { valueBytes } from '../../../core/http/header-text.ts';
import { expectError, expectInvalid, type Json } from '../../support/api-client.ts';
import { BODY, expectIntegers, expectTimestamps, rowsOf, type World } from '../world.ts';

const event = async (w: World, query = '') => w.api.get<Json>(`${(await w.delivered()).path}${query}`);

/** An event with one delivery that succeeds and one that fails. */
async function half(w: World) {
  return w.once('partial', async () => {
    const source = await w.records.source();
    const ends = await Promise.all([200, 500].map((status) => w.records.destination(w.receiver.endpoint(status).url)));
    await w.records.route(
      source.id,
      ends.map(({ id }) => id),
    );
    const eventId = await w.records.accepted(source, BODY);
    return w.records.eventWith('partial', eventId);
  });
}

export const eventRows = rowsOf({
  'EVT-01 id': async (w) => expect((await event(w)).id).to.match(/^evt_/),
  'EVT-02 sourceId': async (w) => expect((await event(w)).sourceId).to.equal((await w.delivered()).source.id),
  'EVT-03 source': async (w) => {
    expect((await event(w)).source).to.deep.equal({ id: (await w.delivered()).source.id, name: 'Orders' });
  },
  'EVT-04 status': async (w) => {
    expect((await event(w)).status).to.equal('delivered');
    expect((await w.api.get(`${w.base}/events/${(await w.failed()).eventId}`)).status).to.equal('failed');
  },
  'EVT-06 headers as received': async (w) => {
    const { source } = await w.pipe();
    const id = await w.records.accepted(source, '{}', {
      ...{ 'content-type': 'application/json', 'X-Shop': 'Nord', cookie: ['a=1', 'b=2'], 'user-agent': 'one' },
      ...{
        from: ['a@b.example', 'c@d.example'],
        'x-utf8': valueBytes('Renée'),
        'x-latin': 'Renée',
        'set-cookie': ['x', 'y'],
      },
    });
    expect((await w.api.get<{ headers: Json }>(`${w.base}/events/${id}`)).headers).to.include({
      ...{ 'x-shop': 'Nord', cookie: 'a=1; b=2', 'user-agent': 'one', from: 'a@b.example, c@d.example' },
      ...{ 'x-utf8': 'Renée', 'x-latin': 'Renée', 'set-cookie': 'x, y' },
    });
  },
  'EVT-07 payload only when asked for': async (w) => {
    expect(await event(w)).to.not.have.property('payload');
    expect((await event(w, '?includePayload=true')).payload).to.deep.equal(JSON.parse(BODY));
    for (const body of ['[1]', '"text"', '5', 'null']) {
      const { source } = await w.pipe();
      const id = await w.records.accepted(source, body);
      expect((await w.api.get(`${w.base}/events/${id}?includePayload=true`)).payload).to.deep.equal(JSON.parse(body));
    }
  },
  'EVT-08 payloadSize': async (w) => expect((await event(w)).payloadSize).to.equal(Buffer.byteLength(BODY)),
  'EVT-09 payloadHash': async (w) => {
    expect((await event(w)).payloadHash).to.equal(`sha256:${createHash('sha256').update(BODY).digest('hex')}`);
  },
  'EVT-10 counts of deliveries': async (w) => {
    expect(await half(w)).to.include({ deliveriesCount: 2, deliveriesSucceeded: 1, deliveriesFailed: 1 });
  },
  'EVT-11 deliveries only when asked for': async (w) => {
    expect(await event(w)).to.not.have.property('deliveries');
    expect((await event(w, '?includeDeliveries=true')).deliveries)
      .to.be.an('array')
      .with.length(1);
  },
  'EVT-12 receivedAt and createdAt': async (w) => expectTimestamps(await event(w), 'receivedAt', 'createdAt'),
  'EVT-11 DLV-02 deliveries of an event': async (w) => {
    const { delivery, destination } = await w.delivered();
    const [item] = (await event(w, '?includeDeliveries=true')).deliveries as Json[];
    expect(item).to.include({ id: delivery.id, destinationId: destination.id, status: 'delivered', attemptCount: 1 });
    expectIntegers(item ?? {}, 'latency');
    expectTimestamps(item ?? {}, 'deliveredAt');
  },
  'EVT-19 the timeline with its attempts': async (w) => {
    const { path, destination } = await w.delivered();
    const timeline = await w.api.get<Json & { deliveries: (Json & { attempts: Json[] })[] }>(`${path}/timeline`);
    expectTimestamps(timeline, 'received', 'validated', 'queued');
    expectIntegers(timeline, 'totalDuration');
    const [delivery] = timeline.deliveries;
    expect(delivery).to.include({ destinationId: destination.id, destinationName: 'CRM' });
    const attempt = delivery?.attempts[0] ?? {};
    expectTimestamps(attempt, 'startedAt', 'completedAt');
    expectIntegers(attempt, 'latency');
    expect(attempt).to.include({ attemptNumber: 1, status: 'success', statusCode: 200 });
  },
  'DLV-03 an attempt is a success or failed': async (w) => {
    expect((await w.delivered()).delivery.attempts[0]?.status).to.equal('success');
    expect((await w.failed()).delivery.attempts[0]?.status).to.equal('failed');
  },
  'EVT-13 every status': async (w) => {
    const slow = await w.pipe(503, {
      destination: { retryPolicy: { maxRetries: 1, initialDelay: 3_600_000, maxDelay: 3_600_000 } },
    });
    const pending = await w.records.accepted(slow.source, '{}');
    await w.records.deliveryWith('retrying', pending);
    expect((await w.records.event(pending)).status).to.equal('pending');
    expect((await event(w)).status).to.equal('delivered');
    expect((await half(w)).status).to.equal('partial');
    expect((await w.records.event((await w.failed()).eventId)).status).to.equal('failed');
  },
  'DLV-07 delivered': async (w) => {
    expect((await w.delivered()).delivery.status).to.equal('delivered');
  },
  'EVT-16 GET list and its filters': async (w) => {
    const { eventId, source } = await w.delivered();
    await w.failed();
    const ids = async (query: string) => (await w.api.list(`${w.base}/events?${query}`)).data.map(({ id }) => id);
    expect(await ids(`sourceId=${source.id}`)).to.deep.equal([eventId]);
    expect(await ids(`sourceId=${source.id}&status=delivered`)).to.deep.equal([eventId]);
    expect(await ids(`sourceId=${source.id}&status=failed`)).to.deep.equal([]);
    expect(await ids(`sourceId=${source.id}&from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00Z`)).to.deep.equal([
      eventId,
    ]);
    expect(await ids(`sourceId=${source.id}&to=2020-01-01T00:00:00Z`)).to.deep.equal([]);
    expect(await ids(`sourceId=${source.id}&search=PAID`)).to.deep.equal([eventId]);
    expect(await ids(`sourceId=${source.id}&search=unpaid`)).to.deep.equal([]);
    expect((await w.api.list(`${w.base}/events?pageSize=1&page=2`)).data).to.have.length(1);
    const [item] = (await w.api.list(`${w.base}/events?sourceId=${source.id}`)).data;
    expect(item).to.include.all.keys(
      'id',
      'sourceId',
      'source',
      'status',
      'payloadSize',
      'deliveriesCount',
      'receivedAt',
    );
    expectInvalid(await w.api.request('GET', `${w.base}/events?status=lost`), 'status');
  },
  'EVT-17 GET, with payload and deliveries on request': async (w) => {
    expect(await event(w)).to.not.have.any.keys('payload', 'deliveries');
    expect(await event(w, '?includePayload=false&includeDeliveries=false')).to.not.have.any.keys(
      'payload',
      'deliveries',
    );
    expect(await event(w, '?includePayload=true&includeDeliveries=true')).to.include.all.keys('payload', 'deliveries');
    expectInvalid(await w.api.request('GET', `${(await w.delivered()).path}?includePayload=1`), 'includePayload');
  },
  'RPL-01 POST replay': async (w) => {
    const source = await w.records.source();
    const ends = [w.receiver.endpoint(200), w.receiver.endpoint(200)];
    const destinations = await Promise.all(ends.map(({ url }) => w.records.destination(url)));
    await w.records.route(
      source.id,
      destinations.map(({ id }) => id),
    );
    const id = await w.records.accepted(source, BODY);
    await w.records.eventWith('delivered', id);
    const replay = (body?: unknown) => w.api.post<Json>(`${w.base}/events/${id}/replay`, body);
    const all = await replay();
    expect(all.deliveriesCreated).to.equal(2);
    expect(all.message).to.be.a('string');
    await w.records.eventWith('delivered', id);
    expect((await replay({ destinationIds: [destinations[1]?.id] })).deliveriesCreated).to.equal(1);
    await w.records.eventWith('delivered', id);
    expect(ends.map(({ requests }) => requests.length)).to.deep.equal([2, 3]);
  },
  'EVT-20 DELETE': async (w) => {
    const { path } = await w.deliver();
    await w.api.delete(path);
    expectError(await w.api.request('GET', path), 404, 'RESOURCE_NOT_FOUND');
  },
  'EVT-18 GET payload': async (w) => {
    const { source } = await w.pipe();
    const bytes = Buffer.from([0, 255, 10, 13, 123]);
    const id = await w.records.accepted(source, bytes, { 'content-type': 'application/x-own' });
    const response = await fetch(`${w.api.url}${w.base}/events/${id}/payload`, { headers: await authorization(w) });
    expect(response.headers.get('content-type')).to.equal('application/x-own');
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).to.equal(true);
  },
  'EVT-19 GET timeline': async (w) => {
    const timeline = await w.api.get(`${(await w.delivered()).path}/timeline`);
    expect(timeline).to.include.all.keys('received', 'validated', 'queued', 'deliveries', 'totalDuration');
  },
  'RPL-02 POST bulk/replay': async (w) => {
    const [a, b] = [await w.deliver(), await w.deliver()];
    const path = `${w.base}/events/bulk/replay`;
    const answer = await w.api.post<Json>(path, { eventIds: [a.eventId, b.eventId] });
    expect(answer).to.include({ eventsQueued: 2, deliveriesCreated: 2 });
    expect(answer.message).to.be.a('string');
    await w.records.eventWith('delivered', a.eventId);
    const one = { eventIds: [a.eventId], destinationIds: [a.destination.id] };
    expect(await w.api.post(path, one)).to.include({ eventsQueued: 1, deliveriesCreated: 1 });
    expectInvalid(await w.api.request('POST', path, {}), 'eventIds');
  },
  'EVT-23 deleted with its deliveries and payload': async (w) => {
    const { path, delivery, eventId } = await w.deliver();
    await w.api.delete(path);
    expectError(await w.api.request('GET', `/api/deliveries/${delivery.id}`), 404, 'RESOURCE_NOT_FOUND');
    expectError(await w.api.request('GET', `${path}/payload`), 404, 'RESOURCE_NOT_FOUND');
    const { rows } = await w.testInstance.pool.query('select 1 from event_payloads where event_id = $1', [eventId]);
    expect(rows).to.deep.equal([]);
  },
  'ERR-30 410 PAYLOAD_EXPIRED': async (w) => {
    const { path, eventId } = await w.deliver();
    // As the retention does it.
    await w.testInstance.pool.query('delete from event_payloads where event_id = $1', [eventId]);
    for (const [method, rest] of [
      ['GET', '/payload'],
      ['GET', '?includePayload=true'],
      ['POST', '/replay'],
    ] as const) {
      const answer = await w.api.request(method, `${path}${rest}`);
      expectError(answer, 410, 'PAYLOAD_EXPIRED');
      expect(answer.body.error).to.equal('Gone');
    }
  },
});

/** A key of the shared organization, to send requests whose answer is not read as JSON. */
async function authorization(w: World): Promise<Record<string, string>> {
  const { token } = await w.once('another key', () =>
    w.api.create<{ token: string }>('/api/api-keys', { name: 'raw' }),
  );
  return { Authorization: `Bearer ${token}` };
}
