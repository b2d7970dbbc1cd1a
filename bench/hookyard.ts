// One measurement of Hookyard: saturated, then at half of what it reached.
import type { Lane } from '../core/lane.ts';
import type { Stack } from '../local/stack.ts';
import { cpuMs, type DatabaseCounters, databaseCounters, residentMiB, treeCpuMs } from './support/measure.ts';
import { createPipe, drained, SECRET, type Service, startService } from './support/service.ts';
import { createSender, measureLatency, type Percentiles, type Receiver, saturate } from './support/traffic.ts';

export interface HookyardFigures {
  /** Deliveries per second, saturated. */
  perSecond: number;
  /** Per delivery, while saturated. */
  cost: {
    cpuMs: { worker: number; api: number; temporal: number; postgres: number };
    hookyardCommits: number;
    temporalCommits: number;
    walBytes: number;
  };
  memoryMiB: { worker: number; api: number };
  /** ms, at half load. */
  half: { perSecond: number; ack: Percentiles; endToEnd: Percentiles };
}

// Webhooks sent and not yet delivered while saturating: enough to keep every slot of one destination busy.
const OUTSTANDING = 100;

export async function measureHookyard(
  stack: Stack,
  receiver: Receiver,
  options: { body: string; warmUpSeconds: number; seconds: number; lane: Lane },
): Promise<HookyardFigures> {
  const service = await startService(stack, { HOOKYARD_LANE: options.lane });
  const { webhookUrl } = await createPipe(service, receiver.url);
  const sender = createSender(webhookUrl, SECRET, options.body);
  try {
    let before = await snapshot(stack, service);
    let receivedBefore = 0;
    const perSecond = await saturate(sender.send, receiver, {
      outstanding: OUTSTANDING,
      ...options,
      atStart: async () => {
        before = await snapshot(stack, service);
        receivedBefore = receiver.received();
      },
    });
    const after = await snapshot(stack, service);
    const cost = costPerDelivery(before, after, receiver.received() - receivedBefore);
    const memoryMiB = { worker: residentMiB(service.worker.pid), api: residentMiB(service.api.pid) };
    await drained(service.pool);
    const half = {
      perSecond: perSecond / 2,
      ...(await measureLatency(sender.send, receiver, perSecond / 2, options.seconds)),
    };
    return { perSecond, cost, memoryMiB, half };
  } finally {
    await sender.close();
    await service.stop();
  }
}

type Snapshot = DatabaseCounters & { worker: number; api: number; temporal: number; postgres: number };

async function snapshot(stack: Stack, service: Service): Promise<Snapshot> {
  return {
    worker: cpuMs(service.worker.pid),
    api: cpuMs(service.api.pid),
    temporal: cpuMs(stack.temporal?.pid ?? 0),
    postgres: treeCpuMs(stack.postgres?.pid ?? 0),
    ...(await databaseCounters(service.pool)),
  };
}

function costPerDelivery(before: Snapshot, after: Snapshot, deliveries: number): HookyardFigures['cost'] {
  const per = (name: keyof Snapshot) => (after[name] - before[name]) / deliveries;
  return {
    cpuMs: { worker: per('worker'), api: per('api'), temporal: per('temporal'), postgres: per('postgres') },
    hookyardCommits: per('hookyardCommits'),
    temporalCommits: per('temporalCommits'),
    walBytes: per('walBytes'),
  };
}
