// npm run bench -- overload [--seconds 60 --waiting 100000 --lane express --save]: five times as many webhooks as deliveries can
// be made, until so many wait: how long answers take, memory, the order in which deliveries come out, what is lost, and what
// another destination notices.
//
// The destination takes so many a second that five times as many are half of what a small machine ingests: what is asked is
// whether a backlog hurts, not how quick ingest is. The part of the backlog that the load does not make is sent before, as
// quickly as ingest takes it. After the load the destination takes whatever comes.
import type { Stack } from '../local/stack.ts';
import { OUTSTANDING } from './lanes/lane.ts';
import { type Bar, barLine } from './support/bars.ts';
import { chart } from './support/curves.ts';
import { memoryBars, memoryChart } from './support/memory.ts';
import { percentiles } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { saveResults } from './support/save.ts';
import { createPipe, drained, type Memory, SECRET, type Service, startService } from './support/service.ts';
import { svgDocument } from './support/svg.ts';
import {
  type Answered,
  createSender,
  measureLatency,
  type Percentiles,
  type Receiver,
  saturate,
  sendAtRate,
  sendMany,
  startReceiver,
} from './support/traffic.ts';
import { delay } from './support/wait.ts';

const OVERLOAD = 5;
const DESTINATION_PER_SECOND = 150;
const ACK_BAR_MS = 250;
// Two times what may be in flight to one destination.
const ORDER_BAR = 100;

const WARM_UP_SECONDS = 5;
const SATURATE_SECONDS = 10;
// Of the other destination, which is measured alone and beside the load.
const QUIET_PER_SECOND = 10;
const QUIET_SECONDS = 10;
const DRAIN_SECONDS = 90;
const LOOK_AGAIN_MS = 50;
const SAMPLE_MS = 1000;

interface Sample extends Memory {
  /** Acknowledged and not arrived yet. */
  waiting: number;
}

/** Five times the capacity, and what it did. */
interface Load {
  /** Deliveries a second without a backlog, webhooks a second, and deliveries a second beside them. */
  capacity: number;
  perSecond: number;
  delivered: number;
  ack: Percentiles;
  /** Webhooks that were answered otherwise than 200. */
  refused: number;
  samples: Sample[];
  /** From request to arrival, at another destination. */
  quietAlone: Percentiles;
  quietBeside: Percentiles;
}

/** What became of the acknowledged events afterwards. */
interface Outcome {
  acknowledged: number;
  /** Arrivals per second when the load was over. */
  drainedPerSecond: number;
  stillWaiting: number;
  lost: number;
  repeated: number;
  /** Places between where an event arrived and where it would have in order of receipt. */
  displacement: Percentiles & { largest: number };
}

export async function measureOverload(stack: Stack, receiver: Receiver, options: BenchOptions): Promise<void> {
  const service = await startService(stack, { HOOKYARD_LANE: options.lane });
  const { webhookUrl } = await createPipe(service, receiver.url);
  const { post, close } = createSender(webhookUrl, SECRET, options.body);
  const answers: Answered[] = [];
  const noted = async () => {
    const answer = await post();
    answers.push(answer);
    return answer;
  };
  try {
    const capacity = await measureCapacity(service, receiver, noted, options);
    // What was sent to measure it has arrived; from here on everything counts.
    answers.length = 0;
    receiver.arrivals.clear();
    const receivedBefore = receiver.received();
    const load = await overload(service, receiver, { send: noted, answers, capacity, options });
    const acknowledged = answers.filter(({ status }) => status === 200).map(({ eventId }) => eventId);
    const drainedPerSecond = await drain(receiver, acknowledged.length);
    const repeated = receiver.received() - receivedBefore - receiver.arrivals.size;
    const outcome = {
      acknowledged: acknowledged.length,
      drainedPerSecond,
      repeated,
      ...(await account(service, receiver, acknowledged)),
    };
    const bars = barsOf(load, outcome);
    console.log(report(load, outcome, bars, options));
    if (options.save) saveResults(`overload-${options.lane}`, { bars, load, outcome }, plot(load, options));
  } finally {
    await close();
    await service.stop();
  }
}

/** @returns deliveries per second to a destination that takes no more than DESTINATION_PER_SECOND */
async function measureCapacity(
  service: Service,
  receiver: Receiver,
  send: () => Promise<unknown>,
  { lane }: BenchOptions,
): Promise<number> {
  receiver.holdMs = pace(DESTINATION_PER_SECOND);
  const { perSecond } = await saturate(send, receiver, {
    outstanding: OUTSTANDING[lane],
    warmUpSeconds: WARM_UP_SECONDS,
    seconds: SATURATE_SECONDS,
    read: async () => {},
  });
  receiver.onArrival = () => {};
  await drained(service);
  return perSecond;
}

/** Takes so many a second, one after the other. */
function pace(perSecond: number): Receiver['holdMs'] {
  let next = 0;
  return () => {
    const now = performance.now();
    next = Math.max(now, next) + 1000 / perSecond;
    return next - now;
  };
}

async function overload(
  service: Service,
  receiver: Receiver,
  load: { send: () => Promise<Answered>; answers: Answered[]; capacity: number; options: BenchOptions },
): Promise<Load> {
  const { send, answers, capacity, options } = load;
  const perSecond = OVERLOAD * capacity;
  const ahead = Math.max(0, Math.round(options.waiting - (perSecond - capacity) * options.seconds));
  const quietReceiver = await startReceiver();
  const { webhookUrl } = await createPipe(service, quietReceiver.url);
  const quiet = createSender(webhookUrl, SECRET, options.body);
  const quietly = async (seconds: number) =>
    (await measureLatency(quiet.send, quietReceiver, QUIET_PER_SECOND, seconds)).endToEnd;
  const samples: Sample[] = [];
  const waiting = () => Math.max(0, answers.length - receiver.arrivals.size);
  const sample = () => samples.push({ ...service.memoryMiB(), waiting: waiting() });
  try {
    await quietly(1);
    const quietAlone = await quietly(QUIET_SECONDS);
    console.log(`${capacity.toFixed(0)}/s are delivered; ${ahead} waiting webhooks, then ${perSecond.toFixed(0)}/s`);
    // New webhooks replace those that are delivered meanwhile.
    for (let left = ahead; left > 0; left = ahead - waiting()) await sendMany(send, left);
    const arrivedBefore = receiver.arrivals.size;
    const startedAt = performance.now();
    const sampling = setInterval(sample, SAMPLE_MS);
    const [quietBeside, loaded] = await Promise.all([
      quietly(options.seconds),
      sendAtRate(send, perSecond, options.seconds).finally(() => clearInterval(sampling)),
    ]);
    const delivered = receiver.arrivals.size - arrivedBefore;
    const elapsed = (performance.now() - startedAt) / 1000;
    const acks = loaded.filter(({ status }) => status === 200).map(({ ack }) => ack);
    return {
      capacity,
      perSecond,
      delivered: delivered / elapsed,
      ack: percentiles(acks),
      refused: answers.filter(({ status }) => status !== 200).length,
      samples,
      quietAlone,
      quietBeside,
    };
  } finally {
    await quiet.close();
    await quietReceiver.close();
  }
}

/** Lets the destination take whatever comes, until all has arrived or the time is over. @returns arrivals per second */
async function drain(receiver: Receiver, all: number): Promise<number> {
  receiver.holdMs = () => 0;
  const startedAt = performance.now();
  const arrivedBefore = receiver.arrivals.size;
  const elapsed = () => (performance.now() - startedAt) / 1000;
  while (receiver.arrivals.size < all && elapsed() < DRAIN_SECONDS) await delay(LOOK_AGAIN_MS);
  return (receiver.arrivals.size - arrivedBefore) / elapsed();
}

/** An acknowledged event has arrived or waits; nothing else is allowed. */
async function account(
  { pool }: Service,
  receiver: Receiver,
  acknowledged: string[],
): Promise<Pick<Outcome, 'stillWaiting' | 'lost' | 'displacement'>> {
  const arrived = [...receiver.arrivals.keys()];
  const missing = acknowledged.filter((eventId) => !receiver.arrivals.has(eventId));
  const { rows } = await pool.query<{ id: string }>(
    'select event_id as id from outbox where event_id = any($1::text[])',
    [missing],
  );
  const waiting = new Set(rows.map(({ id }) => id));
  // Some may have arrived since.
  const lost = missing.filter((eventId) => !waiting.has(eventId) && !receiver.arrivals.has(eventId)).length;
  return { stillWaiting: waiting.size, lost, displacement: displacementOf(acknowledged, arrived, missing) };
}

function displacementOf(acknowledged: string[], arrived: string[], missing: string[]): Outcome['displacement'] {
  // Ids sort by time of receipt.
  const places = new Map(acknowledged.toSorted().map((eventId, place) => [eventId, place]));
  const placeOf = (eventId: string) => places.get(eventId) ?? Number.NaN;
  const displaced = arrived.map((eventId, place) => Math.abs(placeOf(eventId) - place));
  // One that still waits although younger ones have arrived is out of its place as well.
  const overtaken = missing.map((eventId) => Math.max(0, arrived.length - placeOf(eventId)));
  const all = [...displaced, ...overtaken];
  return { ...percentiles(all, 0), largest: all.reduce((most, count) => Math.max(most, count), 0) };
}

function barsOf(load: Load, outcome: Outcome): Bar[] {
  return [
    { what: 'acknowledged, p99', unit: ' ms', atMost: ACK_BAR_MS, value: load.ack.p99 },
    ...memoryBars(load.samples),
    { what: 'places from order of receipt, p99', unit: '', atMost: ORDER_BAR, value: outcome.displacement.p99 },
    { what: 'acknowledged events that are lost', unit: '', atMost: 0, value: outcome.lost },
  ];
}

function report(load: Load, outcome: Outcome, bars: Bar[], { lane, seconds }: BenchOptions): string {
  const { samples } = load;
  const latency = ({ p50, p95, p99 }: Percentiles) => `p50 ${p50} ms, p95 ${p95} ms, p99 ${p99} ms`;
  const memory = (name: keyof Memory) => {
    const values = samples.map((sample) => sample[name]);
    return `${values[0]} MiB at first, ${values.at(-1)} MiB at last, ${Math.max(...values)} MiB at most`;
  };
  const { displacement, stillWaiting } = outcome;
  return [
    '',
    `lane ${lane}: ${load.perSecond.toFixed(0)} webhooks a second for ${seconds} s, ${OVERLOAD} times the ${load.capacity.toFixed(0)} that are delivered without a backlog`,
    `  acknowledged             ${latency(load.ack)}; ${load.refused} refused (503)`,
    `  waiting                  ${samples[0]?.waiting} at first, ${samples.at(-1)?.waiting} at last`,
    `  delivered meanwhile      ${load.delivered.toFixed(0)} /s`,
    `  memory of the API        ${memory('api')}`,
    `  memory of the worker     ${memory('worker')}`,
    `  another destination      ${latency(load.quietAlone)} end to end alone`,
    `                           ${latency(load.quietBeside)} beside it`,
    'afterwards',
    `  delivered                ${outcome.drainedPerSecond.toFixed(0)} /s`,
    `  order of receipt         an event arrives ${displacement.p50} places (median), ${displacement.p99} (p99), at most ${displacement.largest}, from its own`,
    `  of ${outcome.acknowledged} acknowledged ${stillWaiting} still wait, ${outcome.lost} are lost; ${outcome.repeated} arrived more than once`,
    '',
    ...bars.map(barLine),
    '',
  ].join('\n');
}

function plot({ samples }: Load, { lane, seconds }: BenchOptions): string {
  const place = { x: 60, width: 640, height: 120, end: `${seconds} s` };
  const values = (name: keyof Sample) => samples.map((sample) => sample[name]);
  return svgDocument(740, 400, [
    ...memoryChart({ ...place, y: 50 }, lane, samples),
    ...chart({
      ...place,
      y: 240,
      title: `lane ${lane}: waiting deliveries`,
      curves: [{ name: '', color: '#4477aa', values: values('waiting') }],
    }),
  ]);
}
