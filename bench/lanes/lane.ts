// A lane of Hookyard: saturated, at half of what it reached, and at a rate that is the same everywhere.
import type { LaneSetting } from '../../core/delivery/lane.ts';
import type { Stack } from '../../local/stack.ts';
import { type Cost, costPer } from '../support/cost.ts';
import { createPipe, drained, type Memory, type OwnSettings, quiet, SECRET, startService } from '../support/service.ts';
import {
  createSender,
  measureLatency,
  type Percentiles,
  type Receiver,
  saturate,
  sendMany,
} from '../support/traffic.ts';
import type { Contender, Saturated } from './in-turn.ts';

/** ms */
export interface Latencies {
  perSecond: number;
  ack: Percentiles;
  endToEnd: Percentiles;
}

export interface LaneFigures extends Saturated {
  memoryMiB: Memory;
  half: Latencies;
  atFixedRate: Latencies;
}

/** Webhooks per second at which latencies of different machines and versions are compared. */
export const FIXED_RATE = 100;

/**
 * Webhooks sent and not yet delivered while saturating, with one destination: enough to keep the places busy that it starts with
 * (core/delivery/destination-places.ts), and a group waiting behind them. More only waits longer; a quick receiver needs no more places.
 */
export const OUTSTANDING: Record<LaneSetting, number> = { workflow: 100, express: 200, adaptive: 200 };

export interface LaneOptions {
  lane: LaneSetting;
  body: string;
  /** Of the sources that take the load in turn, each used once before; by default one of its own. */
  paths?: string[];
  /** Environment variables besides the usual ones. */
  settings?: Record<string, string>;
  /** Of one of its processes only, and which checkout they are of. */
  own?: OwnSettings;
}

export interface RunningLane extends Contender {
  memoryMiB(): Memory;
  /** What everything has used so far. */
  counters(): Promise<Cost>;
  /** Latencies at half of what it reached, and at a fixed rate. */
  measureLatencies(options: {
    perSecond: number;
    seconds: number;
    /** Webhooks per second of the last phase; FIXED_RATE by default. */
    fixedRate?: number;
  }): Promise<Pick<LaneFigures, 'half' | 'atFixedRate'>>;
  stop(): Promise<void>;
}

/** Starts Hookyard with one lane for everything. */
export async function startLane(stack: Stack, receiver: Receiver, options: LaneOptions): Promise<RunningLane> {
  const { lane, body, paths, settings, own } = options;
  const service = await startService(stack, { HOOKYARD_LANE: lane, ...settings }, own);
  const webhookUrls = paths?.map((path) => service.url + path) ?? [
    (await createPipe(service, receiver.url)).webhookUrl,
  ];
  const { send, close } = createSender(webhookUrls, SECRET, body);
  const latenciesAt = async (perSecond: number, seconds: number) => {
    await drained(service);
    receiver.arrivals.clear();
    return { perSecond, ...(await measureLatency(send, receiver, perSecond, seconds)) };
  };
  await sendMany(send, webhookUrls.length);
  await drained(service, webhookUrls.length);
  return {
    processes: [service.api, service.worker],
    async saturate(times) {
      const turn = await saturate(send, receiver, {
        ...times,
        outstanding: OUTSTANDING[lane],
        read: service.counters,
      });
      await quiet(service);
      return turn;
    },
    memoryMiB: service.memoryMiB,
    counters: service.counters,
    async measureLatencies({ perSecond, seconds, fixedRate = FIXED_RATE }) {
      // A service that has run for a while uses the files of PostgreSQL's log again, which begins with its first checkpoint.
      await service.pool.query('checkpoint');
      return {
        half: await latenciesAt(perSecond / 2, seconds),
        atFixedRate: await latenciesAt(fixedRate, seconds),
      };
    },
    async stop() {
      await close();
      await service.stop();
    },
  };
}

/** Measures a lane alone: saturated, and its latencies. */
export async function measureLane(
  stack: Stack,
  receiver: Receiver,
  options: LaneOptions & { warmUpSeconds: number; seconds: number; fixedRate?: number },
): Promise<LaneFigures> {
  const lane = await startLane(stack, receiver, options);
  try {
    const { deliveries, seconds, before, after } = await lane.saturate(options);
    const perSecond = deliveries / seconds;
    const memoryMiB = lane.memoryMiB();
    const latencies = await lane.measureLatencies({ ...options, perSecond });
    return { perSecond, cost: costPer(deliveries, before, after), memoryMiB, ...latencies };
  } finally {
    await lane.stop();
  }
}
