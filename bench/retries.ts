// npm run bench -- retries [--seconds 20 --rounds 3]: what one retry costs beside a first attempt, in each lane. At the same rate
// of webhooks: nothing at all, then every delivery succeeds at once, then every first attempt fails and the second, a short
// delay later, succeeds. What an idle service costs is taken off both.
import { LANES, type Lane } from '../core/lane.ts';
import type { Stack } from '../local/stack.ts';
import { type Bar, barLine } from './support/bars.ts';
import { costPer, totalCpuMs } from './support/cost.ts';
import { median } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { saveResults } from './support/save.ts';
import { createPipe, quiet, SECRET, type Service, startService } from './support/service.ts';
import { allArrived, createSender, type Receiver, type Sent, sendAtRate } from './support/traffic.ts';
import { undisturbed } from './support/undisturbed.ts';
import { delay } from './support/wait.ts';

/** A retry may cost this many times what a first attempt costs, ingest and all. */
const BAR = 2;
/** Webhooks per second: what both lanes take with a retry for each. */
const RATE = 30;
const RETRY_DELAY_MS = 200;
const WARM_UP_SECONDS = 4;
// Failures of many deliveries follow each other here, and none of them is to open the circuit.
const NEVER = 10_000;

/** CPU of API, worker and servers, ms. */
interface Figures {
  /** Of a service that does nothing, per second; the others are without it. */
  idle: number;
  /** Per delivery that succeeds at once, and what is added when it succeeds at the second attempt. */
  first: number;
  retry: number;
}

export async function measureRetries(stack: Stack, receiver: Receiver, options: BenchOptions): Promise<void> {
  const rounds: Record<Lane, Figures[]> = { workflow: [], express: [] };
  for (let number = 1; number <= options.rounds; number += 1) {
    for (const lane of LANES) {
      const label = `round ${number} of ${options.rounds}, lane ${lane}`;
      console.log(`${label}: three phases of ${options.seconds} s`);
      rounds[lane].push(await undisturbed(label, options, () => measureLane(stack, receiver, lane, options)));
    }
  }
  const bars = LANES.map((lane) => barOf(lane, rounds[lane]));
  console.log(report(rounds, bars, options));
  if (options.save) saveResults('retries', { rate: RATE, retryDelayMs: RETRY_DELAY_MS, bars, rounds });
}

async function measureLane(
  stack: Stack,
  receiver: Receiver,
  lane: Lane,
  { seconds, body }: BenchOptions,
): Promise<Figures> {
  const service = await startService(stack, { HOOKYARD_LANE: lane });
  const retryPolicy = { initialDelay: RETRY_DELAY_MS, maxDelay: RETRY_DELAY_MS };
  const { webhookUrl } = await createPipe(service, receiver.url, {
    destination: { retryPolicy },
    route: { circuitFailureThreshold: NEVER },
  });
  const sender = createSender(webhookUrl, SECRET, body);
  const perDelivery = (idle: number) => cpuPerDelivery(service, receiver, sender.send, { seconds, idle });
  try {
    const idle = await cpuPerSecond(service, seconds);
    receiver.answer = () => 200;
    const first = await perDelivery(idle);
    receiver.answer = ({ headers }) => (headers['x-hookyard-attempt'] === '1' ? 500 : 200);
    return { idle, first, retry: (await perDelivery(idle)) - first };
  } finally {
    await sender.close();
    await service.stop();
  }
}

async function cpuPerSecond(service: Service, seconds: number): Promise<number> {
  await delay(WARM_UP_SECONDS * 1000);
  const before = await service.counters();
  await delay(seconds * 1000);
  return totalCpuMs(costPer(seconds, before, await service.counters()));
}

/** Counts from the first webhook until the last delivery has ended, so that none is counted in part. */
async function cpuPerDelivery(
  service: Service,
  receiver: Receiver,
  send: () => Promise<Sent>,
  { seconds, idle }: { seconds: number; idle: number },
): Promise<number> {
  await sendAtRate(send, RATE, WARM_UP_SECONDS);
  await quiet(service);
  const before = await service.counters();
  const startedAt = performance.now();
  const sent = await sendAtRate(send, RATE, seconds);
  await allArrived(
    receiver,
    sent.map((event) => event.eventId),
  );
  await quiet(service);
  const idleMs = (idle * (performance.now() - startedAt)) / 1000;
  return (totalCpuMs(costPer(1, before, await service.counters())) - idleMs) / sent.length;
}

function barOf(lane: Lane, figures: Figures[]): Bar {
  const ratios = figures.map(({ first, retry }) => retry / first);
  return { what: `${lane}: retry : first attempt`, value: median(ratios), unit: '', atMost: BAR, rounds: ratios };
}

function report(rounds: Record<Lane, Figures[]>, bars: Bar[], options: BenchOptions): string {
  const line = (lane: Lane) => {
    const of = (name: keyof Figures) => median(rounds[lane].map((figures) => figures[name])).toFixed(2);
    return `  lane ${lane.padEnd(9)} first attempt ${of('first')} ms, retry ${of('retry')} ms (taken off: ${of('idle')} ms per second of an idle service)`;
  };
  return [
    '',
    `CPU per delivery at ${RATE}/s without load and receiver; medians of ${options.rounds} rounds of ${options.seconds} s`,
    ...LANES.map(line),
    '',
    ...bars.map(barLine),
    '',
  ].join('\n');
}
