// One measurement of each of the two limits.
import { createPool } from '../../db/pool.ts';
import type { Stack } from '../../local/stack.ts';
import { type Cost, costPer, readCounters } from '../support/cost.ts';
import { type RunningChild, startProcess } from '../support/processes.ts';
import { SECRET } from '../support/service.ts';
import { createSender, type Receiver, saturate } from '../support/traffic.ts';
import type { BareOrder } from './worker.ts';

export interface BareFigures {
  /** Per second, saturated. */
  perSecond: number;
  /** Per workflow or webhook, while saturated. */
  cost: Cost;
}

const END_DEADLINE_MS = 60_000;

/** Runs the bare workflow, which brings its own load. @returns what it reached after the warm-up */
export async function measureBareWorkflow(stack: Stack, order: BareOrder): Promise<BareFigures> {
  const env = { TEMPORAL_ADDRESS: stack.temporalAddress, TEMPORAL_NAMESPACE: stack.namespace };
  const worker = await startProcess('bench/bare/worker.ts', env);
  return withCounters(stack, worker, async (read) => {
    const measuring = worker.next(order.warmUpSeconds * 1000 + END_DEADLINE_MS);
    worker.child.send(order);
    await measuring;
    const before = await read();
    const { completed } = await worker.next<{ completed: number }>(order.seconds * 1000 + END_DEADLINE_MS);
    return { perSecond: completed / order.seconds, cost: costPer(completed, before, await read()) };
  });
}

/** Saturates the bare pipeline as a lane of Hookyard is. @returns what it reached after the warm-up */
export async function measureBarePipeline(
  stack: Stack,
  receiver: Receiver,
  options: { body: string; outstanding: number; warmUpSeconds: number; seconds: number },
): Promise<BareFigures> {
  const env = { DATABASE_URL: stack.databaseUrl, BARE_TARGET: receiver.url };
  const pipeline = await startProcess('bench/bare/pipeline.ts', env);
  const sender = createSender(pipeline.ready.url ?? '', SECRET, options.body);
  return withCounters(stack, pipeline, async (read) => {
    const { perSecond, deliveries, before, after } = await saturate(sender.send, receiver, { ...options, read });
    return { perSecond, cost: costPer(deliveries, before, after) };
  }).finally(() => sender.close());
}

async function withCounters(
  stack: Stack,
  child: RunningChild,
  measure: (read: () => Promise<Cost>) => Promise<BareFigures>,
): Promise<BareFigures> {
  const pool = createPool(stack.databaseUrl, { max: 1, statementTimeoutMs: 10_000, onError: () => {} });
  try {
    return await measure(() => readCounters(stack, pool, { worker: child.pid }));
  } finally {
    await child.stop();
    await pool.end();
  }
}
