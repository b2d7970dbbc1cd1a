// Hookyard with one lane for everything, and one destination: saturated, and at a rate.
import type { LaneSetting } from '../../core/delivery/delivery.ts';
import type { Stack } from '../../local/stack.ts';
import { type Cost, costPer } from './cost.ts';
import type { RunningChild } from './processes.ts';
import { createPipe, drained, type Memory, type OwnSettings, quiet, SECRET, startService } from './service.ts';
import { createSender, measureLatency, type Percentiles, type Receiver, saturate } from './traffic.ts';

/**
 * Webhooks sent and not yet delivered while saturating: enough to keep the places busy that a destination starts with
 * (core/delivery/destination-concurrency.ts), and a group waiting behind them. More only waits longer.
 */
const OUTSTANDING: Record<LaneSetting, number> = { workflow: 100, express: 200, adaptive: 200 };

export interface Phase {
  /** Deliveries. */
  perSecond: number;
  /** Per delivery. */
  cost: Cost;
}

/** ms */
export interface Latencies {
  ack: Percentiles;
  endToEnd: Percentiles;
}

export interface RunningLane {
  processes: RunningChild[];
  /** Resolves when nothing of it is left to be done: a workflow task of a suspended process would time out. */
  saturate(times: { warmUpSeconds: number; seconds: number }): Promise<Phase>;
  atRate(perSecond: number, seconds: number): Promise<Phase & Latencies>;
  memoryMiB(): Memory;
  stop(): Promise<void>;
}

/** @param options.own of one of its processes only, and which checkout they are of */
export async function startLane(
  stack: Stack,
  receiver: Receiver,
  options: { lane: LaneSetting; body: string; own?: OwnSettings },
): Promise<RunningLane> {
  const { lane, body, own } = options;
  const service = await startService(stack, { HOOKYARD_LANE: lane }, own);
  const { webhookUrl } = await createPipe(service, receiver.url);
  const { send, close } = createSender(webhookUrl, SECRET, body);
  await send();
  await drained(service);
  return {
    processes: [service.api, service.worker],
    async saturate(times) {
      const outstanding = OUTSTANDING[lane];
      const read = service.counters;
      const { perSecond, deliveries, before, after } = await saturate(send, receiver, { ...times, outstanding, read });
      await quiet(service);
      return { perSecond, cost: costPer(deliveries, before, after) };
    },
    async atRate(perSecond, seconds) {
      receiver.arrivals.clear();
      const before = await service.counters();
      const latencies = await measureLatency(send, receiver, perSecond, seconds);
      await drained(service);
      return { perSecond, cost: costPer(perSecond * seconds, before, await service.counters()), ...latencies };
    },
    memoryMiB: service.memoryMiB,
    async stop() {
      await close();
      await service.stop();
    },
  };
}
