// The picture of docs/observing.md: an outage of one of three destinations, in the pages of a Prometheus that scraped it. It takes six
// minutes: npm test -- test/deploy/outage-picture.ts
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { chromium } from 'playwright-core';
import { freePorts } from '../../local/ports.ts';
import { browserProgram } from '../support/browser.ts';
import { breaker, Circuits, switchedEndpoint } from '../support/circuits.ts';
import { type OwnHookyard, startHookyard } from '../support/hookyard.ts';
import { type Prometheus, requirePrometheus, startPrometheus } from '../support/prometheus.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { Records, type SourceView } from '../support/records.ts';
import { until } from '../support/until.ts';

const PICTURE = join(import.meta.dirname, '..', '..', 'docs', 'images', 'observing-outage.png');
const WIDTH = 1000;
const MINUTE_MS = 60_000;
const CALM_MS = MINUTE_MS;
const OUTAGE_MS = 1.9 * MINUTE_MS;
const COOLDOWN_SECONDS = 120;
// Webhooks per second come and go like those of a day.
const TICK_MS = 100;
const perSecond = (sinceMs: number) => 35 + 25 * Math.sin((2 * Math.PI * sinceMs) / (4 * MINUTE_MS));

const GRAPHS = [
  'sum by (result) (rate(hookyard_ingest_requests_total[30s])) > 0',
  'max by (state) (hookyard_circuits_open)',
  'max(hookyard_deliveries_held)',
];

describe('the picture of an outage', function () {
  this.timeout(15 * MINUTE_MS);
  let testInstance: OwnHookyard;
  let receiver: Receiver;
  let prometheus: Prometheus;

  before(async function () {
    requirePrometheus(this);
    const ports = await freePorts(2);
    const [ofApi, ofWorker] = ports.map((port) => ({ OTEL_EXPORTER_PROMETHEUS_PORT: String(port) }));
    [testInstance, receiver] = await Promise.all([startHookyard(undefined, ofApi), startReceiver()]);
    await testInstance.startWorker(ofWorker);
    prometheus = await startPrometheus(ports, []);
  });
  after(() => Promise.all([prometheus?.close(), testInstance?.close(), receiver?.close()]));

  it('is made of a real one: webhooks are taken, deliveries are held and released', async () => {
    const began = performance.now();
    const records = new Records(testInstance);
    const circuits = new Circuits(testInstance, records);
    const { endpoint, answer } = switchedEndpoint(receiver, 200);
    const route = breaker({ circuitCooldownSeconds: COOLDOWN_SECONDS });
    const pipes = await Promise.all(
      [endpoint, receiver.endpoint(200), receiver.endpoint(200)].map(({ url }) => records.pipe(url, { route })),
    );
    const [failing] = pipes;
    if (!failing) throw new Error('no pipe');
    const traffic = startTraffic(
      records,
      pipes.map(({ source }) => source),
    );
    try {
      await delay(CALM_MS);
      answer({ status: 503 });
      await circuits.untilState(failing.route, 'open');
      await delay(OUTAGE_MS);
      answer({ status: 200 });
      await circuits.untilState(failing.route, 'closed', 3 * MINUTE_MS);
      const seconds = () => Math.ceil((performance.now() - began) / 1000);
      const valuesOf = async (expression: string) =>
        (await prometheus.query(expression, seconds())).flatMap(({ values }) => values);
      await until(
        'what was held to be released',
        async () => (await valuesOf('max(hookyard_deliveries_held)')).at(-1) === 0,
        3 * MINUTE_MS,
      );
      await delay(CALM_MS);
      expect(Math.max(...(await valuesOf('max(hookyard_deliveries_held)')))).to.be.above(500);
      expect(Math.max(...(await valuesOf('max(hookyard_circuits_open{state="open"})')))).to.equal(1);
      const taken = await valuesOf('sum(rate(hookyard_ingest_requests_total{result="stored"}[30s]))');
      expect(Math.min(...taken.slice(30)), 'webhooks are taken all the while').to.be.above(0);
      await takePicture(prometheus.url, seconds());
    } finally {
      await traffic.stop();
    }
  });
});

function startTraffic(records: Records, sources: SourceView[]): { stop(): Promise<void> } {
  const began = performance.now();
  let [running, sent, owed] = [true, 0, 0];
  const sending = (async () => {
    while (running) {
      owed += (perSecond(performance.now() - began) * TICK_MS) / 1000;
      const now = Math.floor(owed);
      owed -= now;
      const batch = Array.from({ length: now }, (_, index) => sources[(sent + index) % sources.length]);
      sent += now;
      await Promise.all([
        delay(TICK_MS),
        ...batch.map((source) => source && records.accepted(source, '{"order":{"id":42}}')),
      ]);
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

async function takePicture(url: string, seconds: number): Promise<void> {
  const log = (line: string) => console.log(`    ${line}`);
  const browser = await chromium.launch({ ...(await browserProgram(log)), args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const page = await browser.newPage({ viewport: { width: WIDTH, height: 900 } });
    const query = GRAPHS.flatMap((expression, place): [string, string][] => [
      [`g${place}.expr`, expression],
      [`g${place}.tab`, '0'],
      [`g${place}.range_input`, `${seconds}s`],
      [`g${place}.step_input`, '1'],
    ]);
    await page.goto(`${url}/graph?${new URLSearchParams(query)}`);
    await until(
      'every graph',
      async () => (await page.getByText(/(?:Total time|Result) series/).count()) === GRAPHS.length,
    );
    await page.waitForLoadState('networkidle');
    await page.screenshot({ path: PICTURE, fullPage: true });
  } finally {
    await browser.close();
  }
}
