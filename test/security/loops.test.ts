// A route that leads back to its own source: one webhook must not become endlessly many, no matter who made the loop
// and by which way.
import { expect } from 'chai';
import { createServer, request as httpRequest } from 'node:http';
import { expectInvalid, type Json } from '../support/api-client.ts';
import { onceMore, type SourceView } from '../support/records.ts';
import { type Listening, listen } from '../support/servers/listen.ts';
import { until } from '../support/until.ts';
import { useHookyard } from '../support/use-hookyard.ts';

/**
 * Passes requests on as they are, like a load balancer, so that Hookyard is reached at an address of which it may not
 * know.
 */
async function startRelay(target: () => string): Promise<Listening> {
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url = '/' } = incoming;
    const onward = httpRequest(new URL(url, target()), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  return listen(server);
}

describe('loops', () => {
  /** At HOOKYARD_PUBLIC_URL. */
  let known: Listening;
  let unknown: Listening;
  before(async () => {
    const start = () => startRelay(() => testInstance.api.url);
    [known, unknown] = await Promise.all([start(), start()]);
  });
  after(() => Promise.all([known?.close(), unknown?.close()]));
  const { testInstance, records, receiver } = useHookyard({
    settings: () => ({
      HOOKYARD_PUBLIC_URL: `${known.url}/`,
      // The count must survive installations with different prefixes.
      HOOKYARD_HEADER_PREFIX: 'X-Relay-',
    }),
    workers: [{}],
  });

  /** Where a source takes webhooks, behind a relay. */
  const addressOf = (source: SourceView, relay: { url: string }) => relay.url + new URL(source.webhookUrl).pathname;
  const deliveriesOf = async (source: SourceView) => {
    const { rows } = await testInstance.pool.query<{ status: string; status_code: number; hops: string }>(
      `select d.status, d.status_code, e.headers->>'x-hookyard-hops' as hops from deliveries d join events e on e.id = d.event_id
       where d.source_id = $1`,
      [source.id],
    );
    return rows;
  };

  it('end after five hops, by way of addresses of which Hookyard does not know', async () => {
    const source = await records.source();
    const twice = [1, 2].map((n) =>
      records.destination(`${addressOf(source, unknown)}?n=${n}`, { retryPolicy: onceMore(3) }),
    );
    await records.route(
      source.id,
      (await Promise.all(twice)).map(({ id }) => id),
      // The failures of its end open no circuit.
      { circuitFailureThreshold: 10_000 },
    );
    await records.accepted(source, '{}');
    await until('the loop to end', async () => {
      const deliveries = await deliveriesOf(source);
      return deliveries.length >= 62 && deliveries.every(({ status }) => ['delivered', 'failed'].includes(status));
    });
    const deliveries = await deliveriesOf(source);
    const byHops = Object.groupBy(deliveries, ({ hops }) => hops ?? '0');
    const counts = Object.entries(byHops).map(([hops, each]) => [hops, each?.length]);
    expect(Object.fromEntries(counts)).to.deep.equal({ 0: 2, 1: 4, 2: 8, 3: 16, 4: 32 });
    // The last ones were refused, and not tried again.
    for (const { status, status_code } of byHops[4] ?? []) expect([status, status_code]).to.deep.equal(['failed', 508]);
    expect(await records.storedEvents(source.id)).to.equal(31);
  });

  it('are refused at ingest with a status of their own, and nothing is stored', async () => {
    const source = await records.source();
    for (const hops of ['5', '6', '99999999999999999999', '1, 5']) {
      const answer = await records.post(source, '{}', { 'x-hookyard-hops': hops });
      expect([answer.status, answer.body]).to.deep.include(508);
      expect(answer.body).to.include({ code: 'LOOP_DETECTED', error: 'Loop Detected' });
    }
    expect(await records.storedEvents(source.id)).to.equal(0);
    await records.accepted(source, '{}', { 'x-hookyard-hops': '4' });
  });

  it('are refused before the source is looked for, so that the answer tells nothing about it', async () => {
    const nobody: SourceView = { ...(await records.source()), webhookUrl: 'http://localhost/ingest/nobody/nothing' };
    expect((await records.post(nobody, '{}', { 'x-hookyard-hops': '5' })).status).to.equal(508);
    expect((await records.post(nobody, '{}')).status).to.equal(404);
  });

  describe('through HOOKYARD_PUBLIC_URL', () => {
    let source: SourceView;
    let own: string;
    let elsewhere: string;
    before(async () => {
      source = await records.source();
      own = (await records.destination(addressOf(source, known))).id;
      elsewhere = (await records.destination(receiver.endpoint(200).url)).id;
    });

    const createRoute = (fields: Json) =>
      testInstance.client.request('POST', '/api/routes', { name: 'Back', sourceId: source.id, ...fields });
    /** Also under its other names. */
    const ownUrls = () => {
      const { port } = new URL(known.url);
      return [known.url, `http://localhost:${port}/ingest/a/b`, `http://[::1]:${port}/`, `http://127.1:${port}/api`];
    };

    it('are refused when a route is stored', async () => {
      expectInvalid(await createRoute({ destinationIds: [own] }), 'destinationIds');
      const failover = await createRoute({ destinationIds: [elsewhere], failoverDestinationIds: [own] });
      expectInvalid(failover, 'failoverDestinationIds');
      for (const url of ownUrls()) {
        const { id } = await records.destination(url);
        expectInvalid(await createRoute({ destinationIds: [id] }), 'destinationIds');
      }
    });

    it('are refused when a route or a destination is changed', async () => {
      const route = await records.route(source.id, [elsewhere]);
      const patch = (path: string, body: Json) => testInstance.client.request('PATCH', path, body);
      expectInvalid(await patch(`/api/routes/${route.id}`, { destinationIds: [own] }), 'destinationIds');
      for (const url of ownUrls()) {
        expectInvalid(await patch(`/api/destinations/${elsewhere}`, { url }), 'url', 'INVALID_URL');
        const path = `/api/organizations/${testInstance.organizationId}/destinations/${elsewhere}`;
        expectInvalid(await patch(path, { url }), 'url', 'INVALID_URL');
      }
      await testInstance.client.patch(`/api/routes/${route.id}`, { destinationIds: [own], allowOwnAddress: true });
      expectInvalid(await patch(`/api/routes/${route.id}`, { allowOwnAddress: false }), 'destinationIds');
      await testInstance.client.delete(`/api/routes/${route.id}`);
    });

    it('are refused in an import', async () => {
      const { slug } = await testInstance.client.get<{ slug: string }>(`/api/destinations/${own}`);
      const item = { name: 'Imported', sourceSlug: source.slug, destinationSlugs: [slug] };
      const imported = (fields: object) =>
        testInstance.client.post<{ errors: string[]; imported: number }>('/api/routes/import', {
          routes: [{ ...item, ...fields }],
          conflictStrategy: 'skip',
          validateOnly: true,
        });
      const refused = await imported({});
      expect(refused.imported).to.equal(0);
      expect(refused.errors.join()).to.include(slug).and.include('allowOwnAddress');
      expect(await imported({ allowOwnAddress: true })).to.deep.include({ errors: [], imported: 1 });
    });

    it('are refused at the attempt too, as the setting may have come later', async () => {
      const route = await records.route(source.id, [own], { allowOwnAddress: true });
      await testInstance.pool.query(
        'update routes set allow_own_address = false, version = version + 1 where id = $1',
        [route.id],
      );
      const delivery = await records.deliveryWith('failed', await records.accepted(source, '{}'));
      expect(delivery).to.include({ attemptCount: 0, statusCode: null });
      expect(delivery.error).to.include('HOOKYARD_PUBLIC_URL').and.include('allowOwnAddress');
      expect(await records.storedEvents(source.id)).to.equal(1);
      await testInstance.client.delete(`/api/routes/${route.id}`);
    });

    it('are delivered when the route says that they are wanted', async () => {
      const [entry, inner] = await Promise.all([records.source(), records.source()]);
      const destination = await records.destination(addressOf(inner, known));
      const route = await records.route(entry.id, [destination.id], { allowOwnAddress: true });
      expect(route).to.have.property('allowOwnAddress', true);
      const delivery = await records.deliveryWith('delivered', await records.accepted(entry, '{}'));
      expect(delivery.attempts[0]?.responseBody).to.include('eventId');
      const [event] = (await testInstance.client.list(`${testInstance.base}/events?sourceId=${inner.id}`)).data;
      expect((await records.event(String(event?.id))).headers).to.include({ 'x-hookyard-hops': '1' });
    });
  });

  describe('by way of alerts', () => {
    const secret = `whsec_${Buffer.alloc(24, 's').toString('base64')}`;
    // The issues of the loops above are not told.
    const channel = (type: string, url: string) => ({
      name: type,
      kinds: ['quota_reached'],
      type,
      config: { url, ...(type === 'webhook' && { secret }) },
    });
    const write = (method: string, path: string, body: Json) =>
      testInstance.client.request(method, `/api/alert-channels${path}`, body);

    it('are refused when a channel is stored or changed', async () => {
      const source = await records.source();
      const { port } = new URL(known.url);
      const { pathname } = new URL(source.webhookUrl);
      const elsewhere = channel('webhook', receiver.endpoint(200).url);
      const { id } = await testInstance.client.create('/api/alert-channels', elsewhere);
      for (const url of [addressOf(source, known), `http://localhost:${port}${pathname}`, `http://[::1]:${port}/`]) {
        for (const type of ['webhook', 'slack', 'teams'])
          expectInvalid(await write('POST', '', channel(type, url)), 'config.url', 'INVALID_URL');
        expectInvalid(await write('PATCH', `/${id}`, { config: { url } }), 'config.url', 'INVALID_URL');
      }
      await testInstance.client.delete(`/api/alert-channels/${id}`);
    });

    it('are counted where nobody knows that an address leads back', async () => {
      const source = await records.source();
      const back = channel('webhook', addressOf(source, unknown));
      const { id } = await testInstance.client.create('/api/alert-channels', back);
      expect(await testInstance.client.post(`/api/alert-channels/${id}/test`)).to.include({ success: true });
      const [event] = (await testInstance.client.list(`${testInstance.base}/events?sourceId=${source.id}`)).data;
      expect((await records.event(String(event?.id))).headers).to.include({ 'x-hookyard-hops': '1' });

      // The address is that of the service from now on.
      const usual = testInstance.api;
      const moved = await testInstance.startApi({ HOOKYARD_PUBLIC_URL: unknown.url });
      const result = await testInstance.client.post(`/api/alert-channels/${id}/test`);
      testInstance.api = usual;
      await moved.stop();
      expect(result.success).to.equal(false);
      expect(result.error).to.include('HOOKYARD_PUBLIC_URL');
      expect(await records.storedEvents(source.id)).to.equal(1);
    });
  });
});
