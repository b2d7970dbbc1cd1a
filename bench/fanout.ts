// npm run bench -- fanout [--seconds 20 --rounds 2]: what a delivery costs when a webhook goes to many destinations, beside one.
import { LANES, type Lane } from '../core/lane.ts';
import type { Stack } from '../local/stack.ts';
import { OUTSTANDING } from './lanes/lane.ts';
import { costPer, totalCpuMs } from './support/cost.ts';
import { median } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { saveResults } from './support/save.ts';
import { createPipe, drained, SECRET, startService } from './support/service.ts';
import { createSender, type Receiver, saturate } from './support/traffic.ts';
import { undisturbed } from './support/undisturbed.ts';

const DESTINATIONS = [1, 5, 50] as const;
const WARM_UP_SECONDS = 4;
// Of webhooks; with fewer, the time between two of them would be measured.
const LEAST_OUTSTANDING = 8;

interface Figures {
  lane: Lane;
  destinations: number;
  /** Saturated. */
  deliveriesPerSecond: number;
  /** ms per delivery, without load and receiver. */
  cpuMs: number;
}

export async function measureFanout(stack: Stack, receiver: Receiver, options: BenchOptions): Promise<void> {
  const all: Figures[] = [];
  for (let number = 1; number <= options.rounds; number += 1) {
    for (const lane of LANES) {
      const label = `round ${number} of ${options.rounds}, lane ${lane}`;
      console.log(`${label}: ${DESTINATIONS.join(', ')} destinations`);
      all.push(...(await undisturbed(label, options, () => measureLane(stack, receiver, lane, options))));
    }
  }
  console.log(report(all, options));
  if (options.save) saveResults('fanout', { figures: all });
}

async function measureLane(
  stack: Stack,
  receiver: Receiver,
  lane: Lane,
  { seconds, body }: BenchOptions,
): Promise<Figures[]> {
  const service = await startService(stack, { HOOKYARD_LANE: lane });
  const figures: Figures[] = [];
  try {
    for (const destinations of DESTINATIONS) {
      const urls = Array.from({ length: destinations }, (_, number) => `${receiver.url}/${number}`);
      const sender = createSender((await createPipe(service, urls)).webhookUrl, SECRET, body);
      const { perSecond, deliveries, before, after } = await saturate(sender.send, receiver, {
        outstanding: Math.max(LEAST_OUTSTANDING, Math.ceil(OUTSTANDING[lane] / destinations)),
        perWebhook: destinations,
        warmUpSeconds: WARM_UP_SECONDS,
        seconds,
        read: service.counters,
      });
      await sender.close();
      await drained(service);
      const cpuMs = totalCpuMs(costPer(deliveries, before, after));
      figures.push({ lane, destinations, deliveriesPerSecond: perSecond, cpuMs });
    }
    return figures;
  } finally {
    await service.stop();
  }
}

function report(all: Figures[], { rounds, seconds }: BenchOptions): string {
  const line = (lane: Lane, destinations: number) => {
    const own = all.filter((figures) => figures.lane === lane && figures.destinations === destinations);
    const rate = median(own.map((figures) => figures.deliveriesPerSecond));
    const cpu = median(own.map((figures) => figures.cpuMs));
    const webhooks = (rate / destinations).toFixed(1);
    return `  lane ${lane.padEnd(9)} ${String(destinations).padStart(2)} destinations   ${rate.toFixed(1)} deliveries/s of ${webhooks} webhooks/s, CPU ${cpu.toFixed(2)} ms per delivery`;
  };
  return [
    '',
    `saturated; medians of ${rounds} rounds of ${seconds} s`,
    ...LANES.flatMap((lane) => DESTINATIONS.map((destinations) => line(lane, destinations))),
    '',
  ].join('\n');
}
