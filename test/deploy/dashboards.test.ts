// The dashboards of deploy/observability/: after a real run every expression gives something in a real Prometheus.
import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { setLimits } from '../../db/organizations/organizations.ts';
import { freePorts } from '../../local/ports.ts';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import {
  type Dashboard,
  dashboards,
  PROMETHEUS_FOLDER,
  RULE_FILES,
  unknownIn,
} from '../support/telemetry/observability.ts';
import { type Prometheus, promtool, requirePrometheus, startPrometheus } from '../support/telemetry/prometheus.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { onceMore, Records } from '../support/records.ts';
import { startTakingStore, type TakingStore } from '../support/warehouse/taking-store.ts';
import { until } from '../support/until.ts';

/** Between webhooks, so that every scrape sees some. */
const PAUSE_MS = 100;
/** So many rounds of webhooks see one that has to wait for its turn. */
const RARELY = 10;
/** And so many one in which a circuit is closed by hand. */
const SELDOM = 30;
/** Panels of what has not to happen, or not while somebody looks; the others show more than zeros. */
const MAY_BE_ZERO = [
  ...['Webhooks failed', 'Oldest due', 'Oldest due delivery', 'Bodies in memory', 'First attempts in flight'],
  ...['Replays', 'Lane changes', 'Repairs', 'Statements waiting for a connection', 'Retention'],
  'Temporal: failures',
];
/** Of a panel whose other lines are not zero. */
const MAY_BE_ZERO_BESIDE = ['max(hookyard_deliveries_due)'];
const MAX_PAYLOAD = 1000;
const expressionsOf = ({ panels }: Dashboard) =>
  panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));

describe('The dashboards', () => {
  for (const { file, dashboard } of dashboards) {
    it(`asks for metrics that Hookyard has: ${file}`, () => {
      for (const { title, expr } of expressionsOf(dashboard)) expect(unknownIn(expr), title).to.deep.equal([]);
    });
  }

  describe('of a running Hookyard', () => {
    let testInstance: OwnHookyard;
    let receiver: Receiver;
    let store: TakingStore;
    let prometheus: Prometheus;
    let traffic: Traffic;
    let ports: number[] = [];

    before(async function () {
      requirePrometheus(this);
      ports = await freePorts(2);
      const [ofApi, ofWorker] = ports.map((port) => ({ OTEL_EXPORTER_PROMETHEUS_PORT: String(port) }));
      [testInstance, receiver, store] = await Promise.all([
        startHookyard(undefined, { ...ofApi, HOOKYARD_MAX_DATABASE_BYTES: '1000000000000' }),
        startReceiver(),
        startTakingStore(),
      ]);
      await testInstance.startWorker(ofWorker);
      prometheus = await startPrometheus(
        ports,
        RULE_FILES.map((name) => join(PROMETHEUS_FOLDER, name)),
      );
      traffic = await startTraffic(testInstance, receiver, store);
    });
    after(async () => {
      await traffic?.stop();
      await Promise.all([prometheus?.close(), testInstance?.close(), receiver?.close(), store?.close()]);
    });

    it('show something in every panel, and more than zeros where something happens', async () => {
      const titles = dashboards.flatMap(({ dashboard }) => dashboard.panels.map(({ title }) => title));
      expect(titles).to.include.members(MAY_BE_ZERO);
      const all = dashboards.flatMap(({ dashboard }) => expressionsOf(dashboard));
      const empty = new Set(all);
      // Rates begin with the second scrape of a series, and figures of the installation are taken every ten seconds.
      await until(
        'every panel',
        async () => {
          for (const target of empty) if (await hasData(target)) empty.delete(target);
          if (empty.size === 0) return true;
          throw new Error([...empty].map(({ title, expr }) => `${title}: ${expr}`).join('; '));
        },
        120_000,
      );
    });

    it('come with rules that Prometheus can evaluate', async () => {
      // Those that are evaluated rarely have their turn after minutes.
      await until('rules to be evaluated', async () => {
        const rules = await prometheus.rules();
        expect(rules.filter(({ health }) => health === 'err')).to.deep.equal([]);
        return rules.filter(({ health }) => health === 'ok').length > rules.length / 2;
      });
    });

    it('read metrics that are named as Prometheus advises', async () => {
      for (const port of ports) {
        const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
        // What Temporal's SDK calls its own is not ours.
        const ours = text.split('\n').filter((line) => !/^(# \w+ )?temporal_/.test(line));
        const { code, output } = promtool('.', ['check', 'metrics'], `${ours.join('\n')}`);
        expect(code, output).to.equal(0);
      }
    });

    async function hasData({ title, expr }: { title: string; expr: string }): Promise<boolean> {
      const mayBeZero = MAY_BE_ZERO.includes(title) || MAY_BE_ZERO_BESIDE.includes(expr);
      const asked = expr.replaceAll('$__rate_interval', '1m').replaceAll('$__range', '1m');
      const series = await prometheus.query(asked);
      return series.some(({ values }) => values.some((value) => Number.isFinite(value) && (mayBeZero || value !== 0)));
    }
  });
});

interface Traffic {
  stop(): Promise<void>;
}

/**
 * Webhooks that are transformed, delivered, retried, held, made to wait for their turn, written into files and refused,
 * and an alert channel that is told, until it is stopped.
 */
async function startTraffic(testInstance: OwnHookyard, receiver: Receiver, store: TakingStore): Promise<Traffic> {
  const records = new Records(testInstance);
  const { client } = testInstance;
  const transformOf = (code: string) => client.create('/api/transforms', { name: 'Reshape', type: 'javascript', code });
  const transform = await transformOf('export default ({ id }) => ({ id })');
  const broken = await transformOf('export default () => { throw new Error("no"); }');
  const everyOther = Array.from({ length: 10_000 }, (_, index) => (index % 2 === 0 ? 503 : 200));
  const [healthy, flaky, failing] = await Promise.all([
    records.pipe(receiver.endpoint(200).url, { route: { transformId: transform.id } }),
    records.pipe(receiver.endpoint(...everyOther).url, { destination: { retryPolicy: onceMore(3) } }),
    records.pipe(receiver.endpoint(503).url),
  ]);
  const breaking = await records.pipe(receiver.endpoint(200).url, { route: { transformId: broken.id } });
  // First attempts wait in the outbox for their turn: retries are put off.
  const limited = await records.pipe(receiver.endpoint(...everyOther).url, {
    destination: { rateLimitPerMinute: 60, retryPolicy: onceMore(3) },
  });
  const written = await records.source();
  const lake = await client.create('/api/destinations', store.lake({ batchWindowSeconds: 5 }));
  await records.route(written.id, [lake.id]);
  const unrouted = await records.source();
  const config = { url: receiver.endpoint(200).url };
  await client.create('/api/alert-channels', { name: 'Team', type: 'slack', config });
  await setLimits(testInstance.pool, testInstance.organizationId, { payloadBytes: MAX_PAYLOAD });
  const always = [healthy.source, flaky.source, failing.source, breaking.source, written, unrouted];
  let running = true;
  const sending = (async () => {
    for (let round = 0; running; round += 1) {
      for (const source of round % RARELY === 0 ? [...always, limited.source, limited.source] : always)
        await records.accepted(source, '{"id":1}');
      // It opens again.
      if (round % SELDOM === SELDOM - 1) await client.post(`/api/routes/${failing.route.id}/reset-circuit`);
      // Refused, once the limit is known.
      await records.post(unrouted, 'x'.repeat(MAX_PAYLOAD + 1));
      await client.get('/api/auth/me');
      await delay(PAUSE_MS);
    }
  })();
  // Anyone who stops it is told.
  sending.catch(() => undefined);
  return {
    async stop() {
      running = false;
      await sending;
    },
  };
}
