import { createServer } from 'node:net';
import { expect } from 'chai';
import { LANE_SETTINGS } from '../../core/delivery/delivery.ts';
import { type ReceivedSpan, SPAN_KIND, STATUS_ERROR, startTraceReceiver } from '../support/telemetry/otlp.ts';
import type { Endpoint } from '../support/receiver.ts';
import { type EventView, onceMore } from '../support/records.ts';
import { listen } from '../support/servers/listen.ts';
import { startTlsReceiver } from '../support/servers/tls-receiver.ts';
import { until } from '../support/until.ts';
import { useHookyard, useStarted } from '../support/use-hookyard.ts';
import { execute, selectRows } from '../support/database/sql.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const SENT = `00-${TRACE}-${PARENT}-01`;
const STATE = 'congo=t61rcWkgMzE,rojo=00f067aa0ba902b7';
const INVALID = `00-${'0'.repeat(32)}-${PARENT}-01`;
const OTHER = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`;
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/;
// Where it must not be: in a span.
const SECRET = 'planted-secret-71fd';

describe('traces', () => {
  const secure = useStarted(startTlsReceiver);
  const collector = useStarted(startTraceReceiver);
  const { testInstance, records, receiver } = useHookyard({
    settings: () => ({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '100',
      HOOKYARD_DELIVERY_ALLOW: '127.0.0.1,::1,localhost',
    }),
  });
  before(() => testInstance.startWorker({ NODE_EXTRA_CA_CERTS: secure.certificateFile }));

  const webhook = (headers: Record<string, string>, body = '{}') =>
    [body, { 'content-type': 'application/json', ...headers }] as const;

  const ofEvent = (eventId: string) =>
    collector.spans.filter((span) => span.attributes['hookyard.event.id'] === eventId);

  /** The spans of an event's trace, when they have come: its webhook, and so many attempts. */
  async function traceOf(eventId: string, attempts: number) {
    const [ingest, ...made] = await until(`the spans of ${eventId}`, () => {
      const found = ofEvent(eventId);
      const first = found.filter(({ name }) => name === 'ingest');
      const others = found.filter(({ name }) => name === 'attempt').sort((a, b) => Number(a.start - b.start));
      return first.length === 1 && others.length === attempts && [...first, ...others];
    });
    if (!ingest) throw new Error('no ingest span');
    const children = (span: ReceivedSpan) => collector.spans.filter(({ parentId }) => parentId === span.spanId);
    return { ingest, attempts: made, children };
  }

  const traceparentAt = ({ requests }: Endpoint, index = 0) => requests[index]?.headers.traceparent;
  const childNames = (spans: ReceivedSpan[]) => spans.map(({ name }) => name).sort();
  const traceIdOf = async (eventId: string) =>
    ((await records.event(eventId)) as EventView & { traceId: string | null }).traceId;

  for (const lane of LANE_SETTINGS) {
    it(`lead from the webhook through its storing to each attempt, in the lane ${lane}`, async () => {
      const endpoint = receiver.endpoint(200);
      const url = endpoint.url.replace('127.0.0.1', 'localhost');
      const { source, destination, route } = await records.pipe(url, { route: { lane } });
      const eventId = await records.accepted(source, ...webhook({}));
      const delivery = await records.deliveryWith('delivered', eventId);
      const { ingest, attempts, children } = await traceOf(eventId, 1);
      const [attempt] = attempts;
      expect(ingest).to.include({ service: 'hookyard-api', kind: SPAN_KIND.server, parentId: '', status: 0 });
      expect(ingest.attributes).to.include({
        'http.request.method': 'POST',
        'http.route': '/ingest/:organization/:source',
        'http.response.status_code': 200,
        'http.request.body.size': 2,
        'hookyard.organization.id': testInstance.organizationId,
        'hookyard.source.id': source.id,
      });
      const [store] = children(ingest).filter(({ name }) => name === 'store');
      expect(store).to.include({ service: 'hookyard-api', traceId: ingest.traceId, kind: SPAN_KIND.client });
      expect(attempt).to.include({ service: 'hookyard-worker', traceId: ingest.traceId, kind: SPAN_KIND.client });
      expect(attempt?.parentId).to.equal(ingest.spanId);
      expect(attempt?.attributes).to.include({
        'http.request.method': 'POST',
        'http.response.status_code': 200,
        'url.scheme': 'http',
        'server.address': 'localhost',
        'server.port': Number(new URL(url).port),
        'network.peer.port': Number(new URL(url).port),
        'hookyard.organization.id': testInstance.organizationId,
        'hookyard.route.id': route.id,
        'hookyard.destination.id': destination.id,
        'hookyard.delivery.id': delivery.id,
        'hookyard.delivery.lane': delivery.lane ?? '',
        'hookyard.attempt.number': 1,
        'hookyard.attempt.outcome': 'delivered',
      });
      expect(attempt?.attributes).to.not.have.property('http.request.resend_count');
      const steps = attempt ? children(attempt) : [];
      expect(childNames(steps)).to.deep.equal(['DNS', 'connect', 'first byte']);
      for (const [outer, inner] of [[ingest, store] as const, ...steps.map((step) => [attempt, step] as const)]) {
        if (!outer || !inner) throw new Error('a span is missing');
        expect(inner.traceId).to.equal(outer.traceId);
        expect(inner.start >= outer.start && inner.end >= inner.start && inner.end <= outer.end, inner.name).to.equal(
          true,
        );
      }
      expect(traceparentAt(endpoint)).to.equal(`00-${ingest.traceId}-${attempt?.spanId}-01`);
      expect(await traceIdOf(eventId)).to.equal(ingest.traceId);
      expect(collector.requests[0]).to.deep.equal({ path: '/v1/traces', type: 'application/x-protobuf' });
    });
  }

  it('continue from the trace of the sender, with what its vendors keep beside it', async () => {
    const endpoint = receiver.endpoint(200);
    const { source } = await records.pipe(endpoint.url);
    const eventId = await records.accepted(source, ...webhook({ traceparent: SENT, tracestate: STATE }));
    await records.deliveryWith('delivered', eventId);
    const { ingest, attempts } = await traceOf(eventId, 1);
    expect(ingest).to.include({ traceId: TRACE, parentId: PARENT, traceState: STATE });
    expect(attempts[0]).to.include({ traceId: TRACE, parentId: ingest.spanId, traceState: STATE });
    expect(endpoint.requests[0]?.headers).to.include({
      traceparent: `00-${TRACE}-${attempts[0]?.spanId}-01`,
      tracestate: STATE,
    });
    expect(await traceIdOf(eventId)).to.equal(TRACE);
  });

  it('have retries and replays of an event in one trace, each attempt a span of its own', async () => {
    const endpoint = receiver.endpoint(500, 200);
    const { source } = await records.pipe(endpoint.url, { destination: { retryPolicy: onceMore(1) } });
    const eventId = await records.accepted(source, ...webhook({}));
    const first = await records.deliveryWith('delivered', eventId);
    await testInstance.client.post(`/api/deliveries/${first.id}/replay`);
    await until('the replay', async () =>
      (await records.deliveries(eventId)).some(
        ({ replayOf, status }) => replayOf === first.id && status === 'delivered',
      ),
    );
    const { ingest, attempts } = await traceOf(eventId, 3);
    expect(attempts.map(({ traceId }) => traceId)).to.deep.equal(Array.from(attempts, () => ingest.traceId));
    expect(attempts.map(({ parentId }) => parentId)).to.deep.equal(Array.from(attempts, () => ingest.spanId));
    const resent = [undefined, 1, undefined];
    expect(attempts.map(({ attributes }) => attributes['http.request.resend_count'])).to.deep.equal(resent);
    const replayOf = [undefined, undefined, first.id];
    expect(attempts.map(({ attributes }) => attributes['hookyard.delivery.replay_of'])).to.deep.equal(replayOf);
    expect(attempts[0]).to.include({ status: STATUS_ERROR });
    expect(attempts[0]?.attributes).to.include({ 'error.type': '500', 'hookyard.attempt.outcome': 'retrying' });
    expect(endpoint.requests.map((request) => request.headers.traceparent)).to.deep.equal(
      attempts.map(({ spanId }) => `00-${ingest.traceId}-${spanId}-01`),
    );
  });

  it('say what went wrong where there was no answer', async () => {
    const { url, close } = await listen(createServer());
    await close();
    const { source } = await records.pipe(url);
    const eventId = await records.accepted(source, ...webhook({}));
    await records.deliveryWith('failed', eventId);
    const { attempts } = await traceOf(eventId, 1);
    expect(attempts[0]).to.include({ status: STATUS_ERROR });
    expect(attempts[0]?.message).to.match(/refused/i);
    expect(attempts[0]?.attributes['error.type']).to.be.a('string');
    expect(attempts[0]?.attributes).to.not.have.property('http.response.status_code');
  });

  it('hold nothing of payloads and headers, and no path or query of a destination', async () => {
    const endpoint = receiver.endpoint(200);
    const url = `${endpoint.url}?token=${SECRET}`;
    const { source } = await records.pipe(url, {
      destination: { headers: { 'X-Key': SECRET }, authType: 'bearer', authConfig: { token: SECRET } },
    });
    const eventId = await records.accepted(source, ...webhook({ 'x-from': SECRET }, JSON.stringify({ a: SECRET })));
    await records.deliveryWith('delivered', eventId);
    const { ingest, attempts, children } = await traceOf(eventId, 1);
    const all = [ingest, ...attempts, ...[ingest, ...attempts].flatMap(children)];
    expect(all.length).to.be.above(3);
    const text = JSON.stringify(all, (_name, value) => (typeof value === 'bigint' ? String(value) : value));
    expect(text).to.not.include(SECRET);
    expect(text).to.not.include(new URL(url).pathname);
  });

  it('are none for what is refused before it is stored', async () => {
    const endpoint = receiver.endpoint(200);
    const { source } = await records.pipe(endpoint.url);
    const limit = (limits: object | null) =>
      execute(testInstance.pool)`update organizations
        set limits = ${limits && JSON.stringify(limits)}, config_version = config_version + 1`;
    const before = await testInstance.pool.query<{ limits: object | null }>('select limits from organizations');
    await limit({ waitingDeliveries: 0 });
    try {
      await until(
        'the limit',
        async () => (await records.post(source, ...webhook({ traceparent: OTHER }))).status === 429,
      );
    } finally {
      await limit(before.rows[0]?.limits ?? null);
    }
    const { source: next } = await records.pipe(endpoint.url);
    const eventId = await records.accepted(next, ...webhook({}));
    await traceOf(eventId, 1);
    const known = new Set(collector.spans.map(({ spanId }) => spanId));
    const orphans = collector.spans.filter(({ name, parentId }) => name === 'store' && !known.has(parentId));
    expect(orphans).to.deep.equal([]);
  });

  it('are sent to their end when a process ends', async () => {
    const endpoint = receiver.endpoint(200);
    const { source } = await records.pipe(endpoint.url);
    const before = testInstance.api;
    const api = await testInstance.startApi({ OTEL_BSP_SCHEDULE_DELAY: '600000' });
    const eventId = await records.accepted(source, ...webhook({}));
    expect(await api.stop()).to.equal(0);
    testInstance.api = before;
    await records.deliveryWith('delivered', eventId);
    await traceOf(eventId, 1);
  });
});

describe('without a receiver of traces', () => {
  const { testInstance, records, receiver } = useHookyard();

  /** What an event keeps of its trace. */
  const keptOf = async (eventId: string) => {
    const { traceId } = (await records.event(eventId)) as EventView & { traceId: string | null };
    const rows = await selectRows<{ kept: string | null }>(testInstance.pool)`select traceparent as kept from events
      where id = ${eventId}`;
    return { traceId, kept: rows[0]?.kept };
  };

  it('the trace of the sender travels as it came where it is valid; else one is made, kept and told', async () => {
    const endpoint = receiver.endpoint(200);
    const { source } = await records.pipe(endpoint.url);
    const traceOf = async (headers: Record<string, string>) => {
      const eventId = await records.accepted(source, '{}', { 'content-type': 'application/json', ...headers });
      await records.deliveryWith('delivered', eventId);
      const { traceparent, tracestate } = endpoint.requests.at(-1)?.headers ?? {};
      return { ...(await keptOf(eventId)), traceparent, tracestate };
    };
    expect(await traceOf({ traceparent: SENT, tracestate: STATE })).to.deep.equal({
      ...{ traceId: TRACE, kept: null, traceparent: SENT, tracestate: STATE },
    });
    const made = new Set<string>();
    const withoutTrace: Record<string, string>[] = [
      { traceparent: INVALID, tracestate: STATE },
      { tracestate: STATE },
      {},
    ];
    for (const headers of withoutTrace) {
      const { traceId, kept, traceparent, tracestate } = await traceOf(headers);
      expect(traceparent).to.match(TRACEPARENT).and.equal(kept);
      expect(traceId).to.equal(traceparent?.toString().split('-')[1]);
      expect(tracestate).to.equal(undefined);
      made.add(traceId ?? '');
    }
    expect(made.size).to.equal(3);
  });
});
