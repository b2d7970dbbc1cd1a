// npm run bench -- soak [--minutes 30 --lane express --save]: each lane, or one, at half load for a long time, with the memory of the
// processes and the backlog over time. What is saved is a summary and a plot.
import type { Lane } from '../core/lane.ts';
import type { Stack } from '../local/stack.ts';
import { OUTSTANDING } from './lanes/lane.ts';
import { type Bar, barLine } from './support/bars.ts';
import { chart } from './support/curves.ts';
import { median, percentiles } from './support/measure.ts';
import { memoryBars, memoryChart } from './support/memory.ts';
import type { BenchOptions } from './support/options.ts';
import { saveResults } from './support/save.ts';
import { createPipe, drained, type Memory, SECRET, type Service, startService } from './support/service.ts';
import { svgDocument } from './support/svg.ts';
import { createSender, type Receiver, type Sent, saturate, sendAtRate } from './support/traffic.ts';
import { waitFor } from './support/wait.ts';

const WARM_UP_SECONDS = 5;
const SATURATE_SECONDS = 10;
const SAMPLES = 300;
const LAST_ARRIVAL_DEADLINE_MS = 60_000;

interface Sample extends Memory {
  seconds: number;
  /** Deliveries without a result of their first attempt. */
  backlog: number;
  /** Of the webhooks since the sample before, ms. */
  ackP99: number;
}

interface Soak {
  perSecond: number;
  acknowledged: number;
  arrived: number;
  samples: Sample[];
}

export async function measureSoak(stack: Stack, receiver: Receiver, options: BenchOptions): Promise<void> {
  for (const lane of options.lanes) {
    const soak = await soakLane(stack, receiver, lane, options);
    const bars = barsOf(soak);
    console.log(report(lane, soak, bars, options.minutes));
    if (options.save)
      saveResults(`soak-${lane}`, { minutes: options.minutes, bars, ...summaryOf(soak) }, plot(lane, soak, options));
  }
}

async function soakLane(stack: Stack, receiver: Receiver, lane: Lane, { minutes, body }: BenchOptions): Promise<Soak> {
  const service = await startService(stack, { HOOKYARD_LANE: lane });
  const { webhookUrl } = await createPipe(service, receiver.url);
  const sender = createSender(webhookUrl, SECRET, body);
  try {
    const { perSecond: maximum } = await saturate(sender.send, receiver, {
      outstanding: OUTSTANDING[lane],
      warmUpSeconds: WARM_UP_SECONDS,
      seconds: SATURATE_SECONDS,
      read: async () => {},
    });
    await drained(service);
    const perSecond = maximum / 2;
    console.log(`lane ${lane}: ${perSecond.toFixed(0)}/s for ${minutes} minutes`);
    const before = receiver.received();
    const { samples, acknowledged } = await load(service, receiver, sender.send, perSecond, minutes * 60);
    const arrived = () => receiver.received() - before;
    await drained(service);
    await waitFor('the last deliveries', () => arrived() >= acknowledged, LAST_ARRIVAL_DEADLINE_MS);
    return { perSecond, acknowledged, arrived: arrived(), samples };
  } finally {
    await sender.close();
    await service.stop();
  }
}

async function load(
  service: Service,
  receiver: Receiver,
  send: () => Promise<Sent>,
  perSecond: number,
  seconds: number,
): Promise<{ samples: Sample[]; acknowledged: number }> {
  const samples: Sample[] = [];
  let acknowledged = 0;
  const startedAt = performance.now();
  const elapsed = () => (performance.now() - startedAt) / 1000;
  while (elapsed() < seconds) {
    const sent = await sendAtRate(send, perSecond, Math.max(1, seconds / SAMPLES));
    acknowledged += sent.length;
    // Nobody asks when a single event arrived, and there may be millions.
    receiver.arrivals.clear();
    const { rows } = await service.pool.query<{ backlog: number }>('select count(*)::int as backlog from outbox');
    samples.push({
      seconds: elapsed(),
      ...service.memoryMiB(),
      backlog: rows[0]?.backlog ?? Number.NaN,
      ackP99: percentiles(sent.map((event) => event.ack)).p99,
    });
  }
  return { samples, acknowledged };
}

function barsOf({ acknowledged, arrived, samples }: Soak): Bar[] {
  return [
    ...memoryBars(samples),
    { what: 'events that did not arrive', unit: '', atMost: 0, value: Math.max(0, acknowledged - arrived) },
    { what: 'deliveries too many', unit: '', atMost: 0, value: Math.max(0, arrived - acknowledged) },
  ];
}

/** What is kept of a soak as figures; its samples are in the plot. */
function summaryOf({ samples, ...totals }: Soak) {
  return {
    ...totals,
    samples: samples.length,
    workerMiB: courseOf(samples, 'worker'),
    apiMiB: courseOf(samples, 'api'),
    backlog: courseOf(samples, 'backlog'),
    ackP99Ms: courseOf(samples, 'ackP99'),
  };
}

interface Course {
  /** Medians: of the first and the last tenth of the time, and of all of it. */
  firstTenth: number;
  lastTenth: number;
  median: number;
  highest: number;
}

function courseOf(samples: Sample[], name: keyof Sample): Course {
  const values = samples.map((sample) => sample[name]);
  const tenth = Math.ceil(values.length / 10);
  return {
    firstTenth: median(values.slice(0, tenth)),
    lastTenth: median(values.slice(-tenth)),
    median: median(values),
    highest: Math.max(...values),
  };
}

function report(lane: Lane, { perSecond, acknowledged, samples }: Soak, bars: Bar[], minutes: number): string {
  const ends = (name: keyof Sample) => {
    const { firstTenth, lastTenth, highest } = courseOf(samples, name);
    return `${firstTenth.toFixed(0)} in the first tenth, ${lastTenth.toFixed(0)} in the last, at most ${highest.toFixed(0)}`;
  };
  return [
    '',
    `lane ${lane}, ${minutes} minutes at ${perSecond.toFixed(0)}/s: ${acknowledged} webhooks`,
    `  memory of the worker     ${ends('worker')} MiB`,
    `  memory of the API        ${ends('api')} MiB`,
    `  backlog                  ${ends('backlog')} deliveries`,
    `  acknowledged p99         ${ends('ackP99')} ms`,
    '',
    ...bars.map(barLine),
    '',
  ].join('\n');
}

function plot(lane: Lane, { samples }: Soak, { minutes }: BenchOptions): string {
  const place = { x: 60, width: 640, height: 120, end: `${minutes} min` };
  return svgDocument(740, 590, [
    ...memoryChart({ ...place, y: 50 }, lane, samples),
    ...chart({
      ...place,
      y: 240,
      title: `lane ${lane}: backlog, deliveries`,
      curves: [{ name: '', color: '#4477aa', values: samples.map((sample) => sample.backlog) }],
    }),
    ...chart({
      ...place,
      y: 430,
      title: `lane ${lane}: acknowledged, p99, ms`,
      curves: [{ name: '', color: '#4477aa', values: samples.map((sample) => sample.ackP99) }],
    }),
  ]);
}
