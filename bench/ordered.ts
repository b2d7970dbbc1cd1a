// npm run bench -- ordered [--seconds 20 --rounds 2 --waiting 20000]: what order costs. Deliveries without ordering and
// with 1,000 ordering keys, saturated, one after the other in each round; one key at a receiver that takes 5 ms; and
// the p99 of other keys beside one behind whose first delivery a backlog waits.
import type { Stack } from '../local/stack.ts';
import { type Cost, costPer, totalCpuMs } from './support/cost.ts';
import { median } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { createPipe, quiet, SECRET, type Service, startService } from './support/service.ts';
import { createSender, measureLatency, type Receiver, saturate, sendMany } from './support/traffic.ts';
import { undisturbed } from './support/undisturbed.ts';

const KEYS = 1000;
const OUTSTANDING = 200;
const WARM_UP_SECONDS = 15;
const TURN_WARM_UP_SECONDS = 2;
const RECEIVER_MS = 5;
const RATE = 100;
const BESIDE_SECONDS = 20;
// Longer than a measurement, and shorter than the time-out of a destination.
const ANSWER_MS = 29_000;
const MOST_BACKLOG = '10000000';
const ORDERING = { ordering: { key: 'query.k', onExhausted: 'continue' } };

interface Phase {
  perSecond: number;
  cost: Cost;
}

/** Measures and prints a table. */
export async function measureOrdered(stack: Stack, receiver: Receiver, options: BenchOptions): Promise<void> {
  const service = await startService(stack, { HOOKYARD_LANE: 'express', HOOKYARD_MAX_BACKLOG: MOST_BACKLOG });
  try {
    const [plain, ordered] = await Promise.all([
      createPipe(service, receiver.url),
      createPipe(service, receiver.url, { route: ORDERING }),
    ]);
    const senders = {
      unordered: createSender(plain.webhookUrl, SECRET, options.body),
      ordered: createSender(addresses(ordered.webhookUrl, KEYS), SECRET, options.body),
      oneKey: createSender(`${ordered.webhookUrl}?k=one`, SECRET, options.body),
    };
    const runs: Record<'unordered' | 'ordered', Phase[]> = { unordered: [], ordered: [] };
    const measure = async (which: keyof typeof runs, warmUpSeconds: number, seconds: number) => {
      const { send } = senders[which];
      // Pages are written whole once after a checkpoint: each phase has that in its warm-up, and none has it by chance.
      await service.pool.query('checkpoint');
      const found = await saturate(send, receiver, {
        outstanding: OUTSTANDING,
        warmUpSeconds,
        seconds,
        read: service.counters,
      });
      await quiet(service);
      return { perSecond: found.perSecond, cost: costPer(found.deliveries, found.before, found.after) };
    };
    for (const which of ['unordered', 'ordered'] as const) await measure(which, 0, WARM_UP_SECONDS);
    for (let number = 1; number <= options.rounds; number += 1) {
      const label = `round ${number} of ${options.rounds}`;
      console.log(label);
      const round = async () => ({
        unordered: await measure('unordered', TURN_WARM_UP_SECONDS, options.seconds),
        ordered: await measure('ordered', TURN_WARM_UP_SECONDS, options.seconds),
      });
      const measured = await undisturbed(label, options, round);
      runs.unordered.push(measured.unordered);
      runs.ordered.push(measured.ordered);
    }
    console.log(`\n${tableOf(runs)}`);
    const oneKey = await measureOneKey(service, receiver, senders.oneKey.send, options.seconds);
    console.log(`one key, a receiver that takes ${RECEIVER_MS} ms: ${oneKey.toFixed(0)} deliveries per second`);
    const [alone, behind] = await measureBeside(receiver, senders, options.waiting);
    console.log(
      `end to end at ${RATE}/s, p99 of ${KEYS} keys: ${alone.toFixed(1)} ms; while ${options.waiting} wait behind another key: ${behind.toFixed(1)} ms (${(behind / alone).toFixed(2)})\n`,
    );
    await Promise.all(Object.values(senders).map(({ close }) => close()));
  } finally {
    await service.stop();
  }
}

const addresses = (url: string, keys: number): string[] =>
  Array.from({ length: keys }, (_, number) => `${url}?k=${number}`);

async function measureOneKey(
  service: Service,
  receiver: Receiver,
  send: () => Promise<unknown>,
  seconds: number,
): Promise<number> {
  receiver.holdMs = () => RECEIVER_MS;
  try {
    const options = { outstanding: OUTSTANDING, warmUpSeconds: TURN_WARM_UP_SECONDS, seconds, read: async () => null };
    const { perSecond } = await saturate(send, receiver, options);
    await quiet(service);
    return perSecond;
  } finally {
    receiver.holdMs = () => 0;
  }
}

/** @returns p99 without a backlog, and beside one whose first delivery is not answered */
async function measureBeside(
  receiver: Receiver,
  senders: Record<'ordered' | 'oneKey', ReturnType<typeof createSender>>,
  waiting: number,
): Promise<[number, number]> {
  const p99 = async () => (await measureLatency(senders.ordered.send, receiver, RATE, BESIDE_SECONDS)).endToEnd.p99;
  const alone = await p99();
  receiver.holdMs = ({ headers }) => (headers['x-hookyard-order-key'] === 'one' ? ANSWER_MS : 0);
  await sendMany(senders.oneKey.send, waiting);
  return [alone, await p99()];
}

function tableOf(runs: Record<'unordered' | 'ordered', Phase[]>): string {
  const line = (what: string, decimals: number, pick: (phase: Phase) => number) => {
    const [plain, ordered] = [median(runs.unordered.map(pick)), median(runs.ordered.map(pick))];
    const cells = [plain.toFixed(decimals), ordered.toFixed(decimals), (ordered / plain).toFixed(2)];
    return `${what.padEnd(28)}${cells.map((cell) => cell.padStart(14)).join('')}`;
  };
  return [
    `${''.padEnd(28)}${['unordered', `${KEYS} keys`, 'ratio'].map((cell) => cell.padStart(14)).join('')}`,
    line('deliveries per second', 0, ({ perSecond }) => perSecond),
    line('CPU per delivery, ms', 2, ({ cost }) => totalCpuMs(cost)),
    line('  API', 2, ({ cost }) => cost.cpuMs.api),
    line('  worker', 2, ({ cost }) => cost.cpuMs.worker),
    line('  PostgreSQL', 2, ({ cost }) => cost.cpuMs.postgres),
    line('WAL per delivery, KiB', 1, ({ cost }) => cost.walBytes / 1024),
  ].join('\n');
}
