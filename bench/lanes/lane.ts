// One measurement of a lane of Hookyard: saturated, at half of what it reached, and at a rate that is the same everywhere.
import type { Lane } from '../../core/lane.ts';
import type { Stack } from '../../local/stack.ts';
import { type Cost, costPer } from '../support/cost.ts';
import { createPipe, drained, type Memory, SECRET, startService } from '../support/service.ts';
import {
  createSender,
  measureLatency,
  type Percentiles,
  type Receiver,
  saturate,
  sendMany,
} from '../support/traffic.ts';

/** ms */
export interface Latencies {
  perSecond: number;
  ack: Percentiles;
  endToEnd: Percentiles;
}

export interface LaneFigures {
  /** Deliveries per second, saturated. */
  perSecond: number;
  /** Per delivery, while saturated. */
  cost: Cost;
  memoryMiB: Memory;
  half: Latencies;
  atFixedRate: Latencies;
}

/** Webhooks per second at which latencies of different machines and versions are compared. */
export const FIXED_RATE = 100;

/**
 * Webhooks sent and not yet delivered while saturating, with one destination: enough to keep its 50 places busy and a
 * group waiting behind them. More only waits longer.
 */
export const OUTSTANDING: Record<Lane, number> = { workflow: 100, express: 200 };

/**
 * @param options.paths of the sources that take the load in turn, each used once before; by default one of its own
 * @param options.fixedRate webhooks per second of the last phase; FIXED_RATE by default
 */
export async function measureLane(
  stack: Stack,
  receiver: Receiver,
  options: { lane: Lane; body: string; warmUpSeconds: number; seconds: number; paths?: string[]; fixedRate?: number },
): Promise<LaneFigures> {
  const service = await startService(stack, { HOOKYARD_LANE: options.lane });
  const webhookUrls = options.paths?.map((path) => service.url + path) ?? [
    (await createPipe(service, receiver.url)).webhookUrl,
  ];
  const { send, close } = createSender(webhookUrls, SECRET, options.body);
  const latenciesAt = async (perSecond: number) => {
    await drained(service);
    receiver.arrivals.clear();
    return { perSecond, ...(await measureLatency(send, receiver, perSecond, options.seconds)) };
  };
  try {
    await sendMany(send, webhookUrls.length);
    await drained(service, webhookUrls.length);
    const { perSecond, deliveries, before, after } = await saturate(send, receiver, {
      outstanding: OUTSTANDING[options.lane],
      ...options,
      read: service.counters,
    });
    const memoryMiB = service.memoryMiB();
    // A service that has run for a while uses the files of PostgreSQL's log again, which begins with its first checkpoint.
    await service.pool.query('checkpoint');
    const half = await latenciesAt(perSecond / 2);
    const atFixedRate = await latenciesAt(options.fixedRate ?? FIXED_RATE);
    return { perSecond, cost: costPer(deliveries, before, after), memoryMiB, half, atFixedRate };
  } finally {
    await close();
    await service.stop();
  }
}
