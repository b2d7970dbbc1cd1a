// The metrics of the API move when what they measure happens: each row is a action on a real process, and the series
// that grow by it. What metrics.test.ts counts is not here. Of workers: metrics-moved-worker.test.ts.
import { expect } from 'chai';
import type { LimitName } from '../../core/fairness/organization-limits.ts';
import { setLimits } from '../../db/organizations/organizations.ts';
import { freePorts } from '../../local/ports.ts';
import { openConnection } from '../security/raw-connection.ts';
import { makeSource } from '../support/api-records.ts';
import { send } from '../support/requests/http-client.ts';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import { type Action, MetricGrowth, moves, type Series } from '../support/telemetry/metric-growth.ts';
import { Records, type SourceView } from '../support/records.ts';
import type { Scrape } from '../support/telemetry/scrape.ts';
import { createOrganization } from '../support/service.ts';

const SIGNED = { verificationConfig: { type: 'github', secret: 'a secret of the test' } };
const MAX_PAYLOAD = 100_000;
const HALF = 60_000;

const ingested = (result: string): Series => ['hookyard_ingest_requests_total', { result }];
const refusedBy = (limit: LimitName): Series => ['hookyard_quota_refusals_total', { limit }];

describe('metrics of the API move:', () => {
  let testInstance: OwnHookyard;
  let records: Records;
  let growth: MetricGrowth;
  before(async () => {
    const [port = 0] = await freePorts(1);
    testInstance = await startHookyard(undefined, {
      OTEL_EXPORTER_PROMETHEUS_PORT: String(port),
      HOOKYARD_MAX_PAYLOAD_BYTES: String(MAX_PAYLOAD),
    });
    records = new Records(testInstance);
    growth = await MetricGrowth.since(port);
  });
  after(() => testInstance?.close());

  const pathOf = ({ webhookUrl }: SourceView) => new URL(webhookUrl).pathname;
  const answered = async (status: number, answer: Promise<{ status: number }>) =>
    expect((await answer).status).to.equal(status);

  /** A request whose body is announced, and comes in part. */
  async function beginBody(source: SourceView, sent: number) {
    const connection = await openConnection(Number(new URL(testInstance.api.url).port));
    const head = `POST ${pathOf(source)} HTTP/1.1\r\nHost: a\r\nContent-Length: ${sent + 10}\r\n\r\n`;
    connection.socket.write(head + 'x'.repeat(sent));
    return connection;
  }

  /** Another organization at its limit, and how its source gets webhooks. */
  async function limited(limits: Partial<Record<LimitName, number>>) {
    const of = await createOrganization({ service: testInstance.api, pool: testInstance.pool });
    const { slug } = await makeSource(of);
    await setLimits(testInstance.pool, of.id, limits);
    return { of, webhook: () => send('POST', `${testInstance.api.url}/ingest/${of.slug}/${slug}`, {}, '{"a":1}') };
  }

  const actions: Action[] = [
    [
      'a webhook with a wrong signature',
      [ingested('unauthorized')],
      async () => answered(401, records.post(await records.source(SIGNED), '{}')),
    ],
    [
      'a webhook with a method that none has',
      [ingested('invalid')],
      // Such a request is not in the description of the API.
      async () => answered(405, fetch(testInstance.api.url + pathOf(await records.source()), { method: 'DELETE' })),
    ],
    [
      'a webhook that is too large for the service',
      [ingested('too_large')],
      async () => answered(413, records.post(await records.source(), 'x'.repeat(MAX_PAYLOAD + 1))),
    ],
    [
      'a webhook of an organization at its limit',
      [ingested('over_limit'), refusedBy('eventsPerMonth')],
      async () => answered(429, (await limited({ eventsPerMonth: 0 })).webhook()),
    ],
    [
      'a webhook that is too large for its organization',
      [refusedBy('payloadBytes')],
      async () => answered(413, (await limited({ payloadBytes: 1 })).webhook()),
    ],
    [
      'a source beyond those that an organization may have',
      [refusedBy('sources')],
      async () => {
        const { of } = await limited({ sources: 1 });
        await answered(429, of.api.request('POST', `${of.base}/sources`, { name: 'Another', slug: 'another' }));
      },
    ],
    [
      'a webhook that goes round',
      [ingested('loop')],
      async () => answered(508, records.post(await records.source(), '{}', { 'x-hookyard-hops': '5' })),
    ],
    [
      'a webhook whose body comes too slowly',
      [ingested('too_slow')],
      async () => {
        const { closed } = await beginBody(await records.source(), 1);
        expect((await closed).map(({ status }) => status)).to.deep.equal([408]);
      },
    ],
    [
      'a webhook that is refused because of a mistake of ours',
      [ingested('error')],
      async () => {
        const source = await records.source();
        await testInstance.pool.query('alter table event_payloads rename to event_payloads_away');
        try {
          await answered(500, records.post(source, '{}'));
        } finally {
          await testInstance.pool.query('alter table event_payloads_away rename to event_payloads');
        }
      },
    ],
  ];
  moves(actions, () => growth);

  it('a body that is being received', async () => {
    const buffered = 'hookyard_ingest_buffered_bytes';
    const { socket } = await beginBody(await records.source(), HALF);
    await growth.shown('its memory', (value) => (value(buffered) ?? 0) >= HALF);
    socket.destroy();
    await growth.shown('it to be free', (value) => value(buffered) === 0);
  });

  it('statements that wait for a connection', async () => {
    const waiting = (value: Scrape['value']) => value('hookyard_db_pool_waiting', { pool: 'service' });
    const holder = await testInstance.pool.connect();
    await holder.query('begin; lock table api_keys in access exclusive mode');
    const asked = Array.from({ length: 12 }, () => testInstance.client.get('/api/auth/me'));
    try {
      await growth.shown('them', (value) => (waiting(value) ?? 0) > 0);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    await Promise.all(asked);
    await growth.shown('their end', (value) => waiting(value) === 0);
  });

  it('a gate that is full, and the webhooks that it refuses', async () => {
    const source = await records.source();
    const usual = testInstance.api;
    const [port = 0] = await freePorts(1);
    const full = await testInstance.startApi({
      OTEL_EXPORTER_PROMETHEUS_PORT: String(port),
      HOOKYARD_MAX_DATABASE_BYTES: '1',
    });
    testInstance.api = usual;
    const ofFull = await MetricGrowth.since(port);
    await answered(503, send('POST', full.url + pathOf(source), {}, '{}'));
    const gate = (value: Scrape['value']) =>
      ['open', 'partly_full', 'full'].map((state) => value('hookyard_ingest_gate_state', { state }));
    await ofFull.shown('it', (value) => gate(value).join() === '0,0,1');
    await ofFull.grown(ingested('unavailable'));
    await full.kill();
  });
});
