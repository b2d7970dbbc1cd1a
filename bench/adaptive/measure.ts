// One lane, `express` or `adaptive`, at each rate, saturated, and (adaptive) in a jump from the lowest rate to the highest.
import type { LaneSetting } from '../../core/delivery/lane.ts';
import type { Stack } from '../../local/stack.ts';
import { OUTSTANDING } from '../lanes/lane.ts';
import { costPer, totalCpuMs } from '../support/cost.ts';
import { percentiles } from '../support/measure.ts';
import { createPipe, drained, quiet, SECRET, type Service, startService } from '../support/service.ts';
import {
  allArrived,
  createSender,
  measureLatency,
  type Percentiles,
  type Receiver,
  saturate,
  sendAtRate,
} from '../support/traffic.ts';
import { undisturbed } from '../support/undisturbed.ts';

// Before anything is measured: compiled code.
const WARM_UP_SECONDS = 10;
// At each rate before it is measured: the workers learn of the rate, and try it once more.
const SETTLE_SECONDS = 5;
// After all the load, until deliveries are workflows again.
const RETURN_SECONDS = 12;
const JUMP_SECONDS = 5;
/** In a jump, deliveries that were sent later than this are as quick as they are at the new rate. */
export const ABSORBED_SECONDS = 2;

/** ms */
export interface AtRate {
  perSecond: number;
  ack: Percentiles;
  endToEnd: Percentiles;
  /** Share of deliveries that were workflows from their start. */
  workflows: number;
  /** Of everything but load and receiver, per delivery. */
  cpuMs: number;
}

export interface Jump {
  /** End to end of what was sent before the jump should be absorbed, and later. */
  first: Percentiles;
  later: Percentiles;
}

export interface Measured {
  rates: AtRate[];
  saturated: number;
  /** The lowest rate again, when all load is over. */
  afterwards: AtRate;
  jump: Jump;
}

export interface MeasureOptions {
  lane: LaneSetting;
  /** Webhooks per second, ascending. */
  rates: number[];
  seconds: number;
  body: string;
  /** How often a phase is measured again at most of which others took much of the cores. */
  repeats: number;
  /** Of the round. */
  label: string;
}

/** Starts Hookyard in a lane, measures it, and stops it. */
export async function measure(stack: Stack, receiver: Receiver, options: MeasureOptions): Promise<Measured> {
  const { lane, rates, seconds, body, label } = options;
  const service = await startService(stack, { HOOKYARD_LANE: lane });
  const { webhookUrl } = await createPipe(service, receiver.url);
  const { send, close } = createSender(webhookUrl, SECRET, body);
  const [lowest = 0, highest = 0] = [rates.at(0), rates.at(-1)];
  // A lane takes minutes: what was disturbed is measured again, not all of it.
  const phase = <Figures>(what: string, work: () => Promise<Figures>) =>
    undisturbed(`${label}, ${lane}, ${what}`, options, work);
  const atRate = async (perSecond: number) => {
    await sendAtRate(send, perSecond, SETTLE_SECONDS);
    await drained(service);
    receiver.arrivals.clear();
    const before = await service.counters();
    const latencies = await measureLatency(send, receiver, perSecond, seconds);
    await drained(service);
    const eventIds = [...receiver.arrivals.keys()];
    const cost = costPer(eventIds.length, before, await service.counters());
    const figures = { perSecond, ...latencies, workflows: await shareOfWorkflows(service, eventIds) };
    console.log(line(lane, { ...figures, cpuMs: totalCpuMs(cost) }));
    return { ...figures, cpuMs: totalCpuMs(cost) };
  };
  try {
    await sendAtRate(send, lowest, WARM_UP_SECONDS);
    const measured: AtRate[] = [];
    for (const perSecond of rates) measured.push(await phase(`${perSecond}/s`, () => atRate(perSecond)));
    const saturated = await phase('saturated', async () => {
      const { perSecond } = await saturate(send, receiver, {
        outstanding: OUTSTANDING[lane],
        warmUpSeconds: SETTLE_SECONDS,
        seconds,
        read: async () => {},
      });
      await quiet(service);
      return perSecond;
    });
    console.log(`  ${lane}, saturated: ${saturated.toFixed(0)}/s`);
    await sendAtRate(send, lowest, RETURN_SECONDS);
    const afterwards = await phase('afterwards', () => atRate(lowest));
    const jumped = await phase('jump', async () => {
      await sendAtRate(send, lowest, RETURN_SECONDS);
      return jump(send, receiver, highest);
    });
    return { rates: measured, saturated, afterwards, jump: jumped };
  } finally {
    await close();
    await service.stop();
  }
}

type Send = ReturnType<typeof createSender>['send'];

/** At the lowest rate deliveries are workflows. */
async function jump(send: Send, receiver: Receiver, perSecond: number): Promise<Jump> {
  receiver.arrivals.clear();
  const startedAt = performance.now();
  const sent = await sendAtRate(send, perSecond, JUMP_SECONDS);
  await allArrived(
    receiver,
    sent.map(({ eventId }) => eventId),
  );
  const endToEnd = (isFirst: boolean) =>
    percentiles(
      sent
        .filter(({ sentAt }) => sentAt - startedAt < ABSORBED_SECONDS * 1000 === isFirst)
        .map(({ eventId, sentAt }) => (receiver.arrivals.get(eventId) ?? Number.NaN) - sentAt),
    );
  return { first: endToEnd(true), later: endToEnd(false) };
}

async function shareOfWorkflows({ pool }: Service, eventIds: string[]): Promise<number> {
  const { rows } = await pool.query<{ share: number }>(
    `select avg((lane = 'workflow')::int)::float8 as share from deliveries where event_id = any($1::text[])`,
    [eventIds],
  );
  return rows[0]?.share ?? Number.NaN;
}

export function line(name: string, { perSecond, ack, endToEnd, workflows, cpuMs }: AtRate): string {
  const latency = ({ p50, p99 }: Percentiles) => `${p50.toFixed(1)} / ${p99.toFixed(1)} ms`;
  const share = `${(workflows * 100).toFixed(1)} % workflows`;
  return `  ${name.padEnd(9)} ${`${perSecond}/s`.padStart(6)}  acknowledged ${latency(ack).padEnd(18)} end to end ${latency(endToEnd).padEnd(18)} ${share.padEnd(18)} ${cpuMs.toFixed(1)} ms of CPU`;
}
