import { createServer } from 'node:net';
import { expect } from 'chai';
import { instruments } from '../../core/metrics/index.ts';
import { freePorts } from '../../local/ports.ts';
import { send } from '../support/requests/http-client.ts';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import { type Listening, listen, listenHttp } from '../support/servers/listen.ts';
import { listeningPorts } from '../support/servers/listening.ts';
import { onceMore, Records } from '../support/records.ts';
import { nextScrape, type Scrape, scrape } from '../support/telemetry/scrape.ts';
import { stackAddresses } from '../support/stack.ts';
import { startTcpProxy, type TcpProxy } from '../support/servers/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { useReceiver } from '../support/use-hookyard.ts';

// Of ids, addresses and times: nothing that grows with what is stored.
const UNBOUNDED = /(^|_)(org|src|dst|rte|evt|dlv|key|req)_[a-z0-9]{10}|\d{4}-\d\d-\d\d|https?:|@/;

interface Ready {
  status: string;
  problems?: string[];
  relay: { shards: number; lastClaimSeconds: number; inFlight: number };
  temporal: { answers: boolean; searchAttributes: boolean; polling: boolean };
}

describe('metrics', () => {
  let testInstance: OwnHookyard;
  let records: Records;
  const receiver = useReceiver();
  let temporal: TcpProxy;
  let collector: Listening;
  const received: { path: string; type: string | undefined; team: unknown; body: Buffer }[] = [];
  let apiPort = 0;
  let workerPort = 0;
  before(async () => {
    [apiPort = 0, workerPort = 0] = await freePorts(2);
    collector = await listenHttp(({ url: path = '', headers }, response, body) => {
      received.push({ path, type: headers['content-type'], team: headers['x-team'], body });
      response.end();
    });
    temporal = await startTcpProxy(stackAddresses().temporalAddress);
    const servers = { ...stackAddresses(), temporalAddress: temporal.address };
    testInstance = await startHookyard(servers, { OTEL_EXPORTER_PROMETHEUS_PORT: String(apiPort) });
    records = new Records(testInstance);
    await testInstance.startWorker({
      OTEL_EXPORTER_PROMETHEUS_PORT: String(workerPort),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_METRIC_EXPORT_INTERVAL: '1000',
    });
  });
  after(async () => {
    await testInstance.close();
    await Promise.all([temporal.close(), collector.close()]);
  });

  async function grows(port: number, before: Scrape, name: string, labels: Record<string, string>, by: number) {
    const what = `${name} ${JSON.stringify(labels)}`;
    const grown = async () => ((await scrape(port)).value(name, labels) ?? 0) - (before.value(name, labels) ?? 0);
    await until(what, async () => expect(await grown(), what).to.equal(by));
  }

  it('count webhooks by how they are answered', async () => {
    const { source } = await records.pipe(receiver.endpoint(200).url, {
      source: { idempotencyKey: { header: 'X-Id', windowSeconds: 300 } },
    });
    const lonely = await records.source();
    const [before, ofWorker] = await Promise.all([nextScrape(apiPort), nextScrape(workerPort)]);
    const { eventId } = (await records.post(source, '{}', { 'X-Id': '1' })).body;
    expect((await records.post(source, '{}', { 'X-Id': '1' })).body).to.include({ eventId, duplicate: true });
    await records.accepted(lonely, '{}');
    expect((await send('POST', `${testInstance.api.url}/ingest/nobody/nothing`, {}, '{}')).status).to.equal(404);
    const results = { stored: 2, duplicate: 1, unknown_source: 1, unavailable: 0 };
    for (const [result, by] of Object.entries(results)) {
      await grows(apiPort, before, 'hookyard_ingest_requests_total', { result }, by);
    }
    await grows(apiPort, before, 'hookyard_ingest_ack_duration_seconds_count', {}, 3);
    await grows(apiPort, before, 'hookyard_events_unrouted_total', {}, 1);
    const ofServer = { http_route: '/ingest/:organization/:source', http_response_status_code: '404' };
    await grows(apiPort, before, 'http_server_request_duration_seconds_count', ofServer, 1);
    const gate = await scrape(apiPort);
    expect(gate.value('hookyard_ingest_gate_state', { state: 'open' })).to.equal(1);
    expect(gate.value('hookyard_ingest_gate_state', { state: 'full' })).to.equal(0);
    // The next test counts from there.
    await grows(workerPort, ofWorker, 'hookyard_deliveries_finished_total', { status: 'delivered' }, 1);
  });

  it('count attempts, ended deliveries and their latency', async () => {
    const before = await nextScrape(workerPort);
    await records.deliver(receiver.endpoint(500, 200).url, '{"a":1}', 'delivered', {
      destination: { retryPolicy: onceMore(1) },
    });
    await records.deliver(receiver.endpoint(404).url, '{"a":2}', 'failed');
    const attempts = 'hookyard_attempts_total';
    await grows(workerPort, before, attempts, { outcome: 'retrying', code_class: '5xx', kind: 'first' }, 1);
    await grows(workerPort, before, attempts, { outcome: 'delivered', code_class: '2xx', kind: 'retry' }, 1);
    await grows(workerPort, before, attempts, { outcome: 'failed', code_class: '4xx' }, 1);
    await grows(workerPort, before, 'hookyard_deliveries_finished_total', { status: 'delivered' }, 1);
    await grows(workerPort, before, 'hookyard_deliveries_finished_total', { status: 'failed' }, 1);
    await grows(workerPort, before, 'hookyard_delivery_latency_seconds_count', {}, 1);
    const now = await scrape(workerPort);
    expect(now.value('hookyard_outbox_shards')).to.equal(64);
    expect(now.value('hookyard_release_unserved')).to.equal(0);
    expect(now.value('hookyard_relay_claim_duration_seconds_count')).to.be.above(0);
    const ofSdk = ['temporal_workflow_completed_total', { workflow_type: 'delivery' }] as const;
    await until('a metric of the SDK', async () => ((await scrape(workerPort)).value(...ofSdk) ?? 0) > 0);
  });

  it('show the same figures of the whole installation in every process', async () => {
    const destination = { retryPolicy: onceMore(5, 3_600_000) };
    await records.deliver(receiver.endpoint(500).url, '{"a":3}', 'retrying', { destination });
    for (const port of [apiPort, workerPort]) {
      const shown = await until('a snapshot with it', async () => {
        const now = await scrape(port);
        return now.value('hookyard_deliveries_retrying') === 1 && now;
      });
      expect(shown.value('hookyard_deliveries_waiting')).to.be.at.least(1);
      expect(shown.value('hookyard_workers')).to.equal(1);
      expect(shown.value('hookyard_database_bytes')).to.be.above(1_000_000);
      expect(shown.value('hookyard_snapshot_age_seconds')).to.be.at.least(0);
    }
  });

  it('export only what is documented, with labels that are bounded', async () => {
    const documented = new Map(instruments.map((each) => [each.definition.name, each]));
    for (const [port, role] of [
      [apiPort, 'api'],
      [workerPort, 'worker'],
    ] as const) {
      const { samples, types } = await scrape(port);
      for (const [name, type] of types) {
        if (name === 'target_info' || name.startsWith('temporal_')) continue;
        const instrument = documented.get(name);
        expect(type, name).to.equal(instrument?.kind);
        expect(instrument?.definition.in, name).to.include(role);
      }
      for (const { name, labels } of samples) {
        if (name !== 'target_info') expect(Object.values(labels).join(' '), name).to.not.match(UNBOUNDED);
      }
      const series = samples.map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`);
      expect(new Set(series).size).to.equal(series.length);
    }
  });

  it('are sent by OTLP when its variables are set', async () => {
    const { path, type } = await until('metrics in the collector', () =>
      received.find(({ body }) => body.includes('hookyard_deliveries_finished_total')),
    );
    expect({ path, type }).to.deep.equal({ path: '/v1/metrics', type: 'application/x-protobuf' });
    expect(received.some(({ body }) => body.includes('hookyard-worker'))).to.equal(true);
    expect(
      received.some(({ body }) => body.includes('temporal_')),
      'they are served',
    ).to.equal(false);
  });

  it("of Temporal's SDK are sent by OTLP where they are not served, and then no port is open", async () => {
    const before = received.length;
    const worker = await testInstance.startWorker({
      OTEL_EXPORTER_PROMETHEUS_PORT: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-team=blue',
      OTEL_METRIC_EXPORT_INTERVAL: '1000',
    });
    const { path, type, body, team } = await until('them in the collector', () =>
      received.slice(before).find((each) => each.body.includes('temporal_request')),
    );
    expect({ path, type, team }).to.deep.equal({ path: '/v1/metrics', type: 'application/x-protobuf', team: 'blue' });
    expect(body.includes('hookyard-worker')).to.equal(true);
    expect(listeningPorts(worker.pid) ?? []).to.deep.equal([]);
    await worker.stop();
  });

  it('tell whether the worker can start deliveries', async () => {
    const probe = async () => {
      const answer = await fetch(`http://127.0.0.1:${workerPort}/readyz`);
      return { code: answer.status, ...((await answer.json()) as Ready) };
    };
    const ready = await until('it to be ready', async () => {
      const found = await probe();
      return found.code === 200 && found;
    });
    expect(ready.status).to.equal('ok');
    expect(ready.relay.shards).to.equal(64);
    expect(ready.relay.lastClaimSeconds).to.be.a('number');
    expect(ready.temporal).to.deep.equal({ answers: true, searchAttributes: true, polling: true });
    temporal.refuseConnections();
    const unready = await until('it to notice', async () => {
      const found = await probe();
      return found.code === 503 && found;
    });
    expect(unready.problems?.join()).to.match(/^Temporal /);
    temporal.breakConnections();
    await until('it to be ready again', async () => (await probe()).code === 200);
  });

  it('leave a process alone whose port is taken, and come when it is free', async () => {
    const [port = 0] = await freePorts(1);
    const other = await listen(createServer(), '127.0.0.1', port);
    const worker = await testInstance.startWorker({ OTEL_EXPORTER_PROMETHEUS_PORT: String(port) });
    const advice = `port ${port} is in use; set OTEL_EXPORTER_PROMETHEUS_PORT to another port, or to 0`;
    await until('the advice', () => worker.output().includes(advice));
    await other.close();
    await until('its metrics', async () => (await scrape(port)).value('hookyard_build_info') === 1);
    await worker.stop();
  });
});
