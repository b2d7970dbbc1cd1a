// npm run bench -- metrics [--seconds 20 --rounds 3]: what metrics cost in the lane `express`, where a delivery costs least. Hookyard
// is saturated in turns without metrics, and with all of them served and scraped every five seconds. Counting itself is always
// on: it is measured apart, and added.
import { countAttempt, countRecorded } from '../activities/count-attempts.ts';
import { newId } from '../core/ids.ts';
import { httpServerDuration } from '../core/metrics/process.ts';
import { ingestAck, ingestRequests } from '../core/metrics/ingest.ts';
import type { AttemptResult } from '../db/hot-path/record-results.ts';
import { freePorts } from '../local/ports.ts';
import type { Stack } from '../local/stack.ts';
import type { SendResult } from '../outbound/http/sender.ts';
import { startLane } from './lanes/lane.ts';
import { type Bar, barLine } from './support/bars.ts';
import { costPer, totalCpuMs } from './support/cost.ts';
import { median } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import type { Receiver } from './support/traffic.ts';
import { undisturbed } from './support/undisturbed.ts';

const WARM_UP_SECONDS = 15;
const SCRAPE_MS = 5000;
const COUNTED = 200_000;
const MOST_PERCENT = 2;

/** CPU per delivery, ms. */
interface Round {
  without: number;
  served: number;
  /** Of the records of a delivery alone. */
  counting: number;
}

export async function measureMetrics(stack: Stack, receiver: Receiver, options: BenchOptions): Promise<void> {
  const rounds: Round[] = [];
  for (let number = 1; number <= options.rounds; number += 1) {
    const label = `round ${number} of ${options.rounds}`;
    console.log(`${label}: without and with metrics in turn, ${options.seconds} s each`);
    rounds.push(await undisturbed(label, options, () => measureRound(stack, receiver, options, number % 2 === 0)));
  }
  console.log(report(rounds, options.seconds));
}

/** @param servedFirst every second round, so that neither is always the one that finds the larger database */
async function measureRound(
  stack: Stack,
  receiver: Receiver,
  options: BenchOptions,
  servedFirst: boolean,
): Promise<Round> {
  const [api = 0, worker = 0] = await freePorts(2);
  const measureServed = () => measure(stack, receiver, options, api, worker);
  const measureWithout = () => measure(stack, receiver, options, 0, 0);
  const first = await (servedFirst ? measureServed() : measureWithout());
  const second = await (servedFirst ? measureWithout() : measureServed());
  const [without, served] = servedFirst ? [second, first] : [first, second];
  return { without, served, counting: countingMs() };
}

async function measure(
  stack: Stack,
  receiver: Receiver,
  { body, seconds }: BenchOptions,
  api: number,
  worker: number,
): Promise<number> {
  const ports = { api: { HOOKYARD_METRICS_PORT: String(api) }, worker: { HOOKYARD_METRICS_PORT: String(worker) } };
  const lane = await startLane(stack, receiver, { lane: 'express', body, ports });
  const timer = setInterval(() => void scrape([api, worker]), SCRAPE_MS);
  try {
    const { deliveries, before, after } = await lane.saturate({ warmUpSeconds: WARM_UP_SECONDS, seconds });
    if (api !== 0) await scrape([api, worker]);
    return totalCpuMs(costPer(deliveries, before, after));
  } finally {
    clearInterval(timer);
    await lane.stop();
  }
}

/** @throws when a port answers without metrics: there would be nothing to measure */
async function scrape(ports: number[]): Promise<void> {
  for (const port of ports) {
    if (port === 0) continue;
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
    countAttempt(sent, 'delivered', 1, null);
    countRecorded([result], changed);
  }
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000 / COUNTED;
}

function report(rounds: Round[], seconds: number): string {
  // Both have what counting costs.
  const percent = ({ without, served, counting }: Round) => (served / (without - counting) - 1) * 100;
  const more = rounds.map(percent);
  const of = (pick: (round: Round) => number) => median(rounds.map(pick)).toFixed(3);
  const bar: Bar = {
    what: 'CPU per delivery, with metrics',
    unit: ' % more',
    atMost: MOST_PERCENT,
    value: median(more),
    rounds: more,
  };
  return [
    '',
    `lane express, saturated; medians of ${rounds.length} rounds of ${seconds} s`,
    `  CPU per delivery without metrics   ${of(({ without }) => without)} ms`,
    `  served and scraped                 ${of(({ served }) => served)} ms`,
    `  counting alone                     ${of(({ counting }) => counting)} ms`,
    barLine(bar),
  ].join('\n');
}
