// npm run bench -- metrics [--seconds 60 --rounds 4]: what metrics cost in the lane `express`, where a delivery costs least. Metrics work
// for each delivery (they count it, which is always on) and by the clock (samples, scrapes). Both parts are small, so each is measured where
// it can be seen: counting in a loop, the clock's part at rest, where nothing else runs. Their sum has a bar. To show that nothing else
// is added under load, a saturated service without metrics is also compared with one that is scraped in each turn of five seconds.
import { countAttempt, countRecorded } from '../activities/count-attempts.ts';
import { newId } from '../core/ids.ts';
import { httpServerDuration } from '../core/metrics/process.ts';
import { ingestAck, ingestRequests } from '../core/metrics/ingest.ts';
import type { AttemptResult } from '../db/hot-path/record-results.ts';
import { freePorts } from '../local/ports.ts';
import type { Stack } from '../local/stack.ts';
import type { SendResult } from '../outbound/http/sender.ts';
import { barLine } from './support/bars.ts';
import { addedBy, type Beside, describeAdded, measureAtRest, measureBeside, type Pair } from './support/beside.ts';
import { median } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import type { Receiver } from './support/traffic.ts';

const COUNTED = 200_000;
const MOST_PERCENT = 2;

export async function measureMetrics(stacks: [Stack, Stack], receiver: Receiver, options: BenchOptions): Promise<void> {
  const sides = async () => {
    const ports = await freePorts(2);
    const [api, worker] = ports.map((port) => ({ OTEL_EXPORTER_PROMETHEUS_PORT: String(port) }));
    const off = { OTEL_EXPORTER_PROMETHEUS_PORT: '0' };
    return {
      without: { api: off, worker: off },
      withFeature: { api: api ?? off, worker: worker ?? off, during: () => scrape(ports) },
    };
  };
  const rest = await measureAtRest(stacks, receiver, options, await sides());
  const rounds = await measureBeside(stacks, receiver, options, sides);
  console.log(report(rest, rounds, countingMs()));
}

/** @throws when a port answers without metrics: there would be nothing to measure */
async function scrape(ports: number[]): Promise<void> {
  for (const port of ports) {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    const text = await answer.text();
    if (!text.includes('hookyard_build_info')) throw new Error(`Port ${port} serves no metrics`);
  }
}

/** CPU of what is counted for one delivery, from its webhook to its recorded result, ms. */
function countingMs(): number {
  const sent = { kind: 'response', statusCode: 200, latency: 12 } as SendResult;
  const result = { deliveryId: newId('dlv'), deliveryStatus: 'delivered', lane: 'express' } as AttemptResult;
  Object.assign(result, { completedAt: new Date() });
  const changed = new Map([[result.deliveryId, { failedOver: false }]]);
  const http = { http_request_method: 'POST', http_response_status_code: '200', url_scheme: 'http' } as const;
  const began = process.cpuUsage();
  for (let turn = 0; turn < COUNTED; turn += 1) {
    ingestRequests.add({ result: 'stored' });
    ingestAck.observe({}, 0.01);
    httpServerDuration.observe({ ...http, http_route: '/ingest/:organization/:source' }, 0.01);
    countAttempt(sent, 'delivered', 1);
    countRecorded([result], changed);
  }
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000 / COUNTED;
}

function report(rest: Beside[], rounds: Pair[][], counting: number): string {
  // Both have what counting costs.
  const added = addedBy(rounds, ({ without, withFeature }) => (withFeature / (without - counting) - 1) * 100);
  const pairs = rounds.flat();
  const of = (pick: (pair: Pair) => number) => median(pairs.map(pick));
  const without = of((pair) => pair.without);
  const clock = rest.map((pair) => pair.withFeature - pair.without);
  const [least, most] = [Math.min(...clock), Math.max(...clock)];
  const perSecond = of((pair) => pair.perSecond);
  const percent = (clockMs: number) => ((counting + clockMs / perSecond) / (without - counting)) * 100;
  const bar = { what: 'CPU per delivery, with metrics', unit: ' % more', atMost: MOST_PERCENT };
  return [
    '',
    `lane express; medians of ${rest.length} pairs of turns at rest, and of ${pairs.length} saturated ones in ${rounds.length} rounds`,
    `  counting                           ${counting.toFixed(3)} ms of CPU per delivery`,
    `  samples and scrapes                ${median(clock).toFixed(1)} ms per second (${least.toFixed(1)} to ${most.toFixed(1)})`,
    `  saturated, without metrics         ${without.toFixed(3)} ms per delivery, ${Math.round(perSecond)}/s`,
    `  saturated, scraped                 ${of(({ withFeature }) => withFeature).toFixed(3)} ms`,
    `  more, compared in turns            ${describeAdded(added, pairs.length)}`,
    `  rounds                             ${added.rounds.map((each) => each.toFixed(2)).join(', ')} %`,
    barLine({ ...bar, value: percent(median(clock)), rounds: clock.map(percent) }),
  ].join('\n');
}
