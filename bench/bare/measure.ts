// The two limits, as contenders of the lanes.
import { createPool } from '../../db/connections/pool.ts';
import type { Stack } from '../../local/stack.ts';
import type { Contender } from '../lanes/in-turn.ts';
import { type Cost, costPer, readCounters } from '../support/cost.ts';
import { type RunningChild, startProcess } from '../support/processes.ts';
import { SECRET } from '../support/service.ts';
import { createSender, measureLatency, type Percentiles, type Receiver, saturate } from '../support/traffic.ts';
import type { BareOrder } from './worker.ts';

const END_DEADLINE_MS = 60_000;

export interface Limit extends Contender {
  stop(): Promise<void>;
}

export interface BarePipeline extends Limit {
  /** At a constant rate, from the request to its answer, ms, and what each costs: what the machine allows to anything that commits first. */
  measureAt(perSecond: number, seconds: number): Promise<{ ack: Percentiles; cost: Cost }>;
}

/** Starts the bare workflow, which brings its own load. */
export async function startBareWorkflow(
  stack: Stack,
  options: Pick<BareOrder, 'url' | 'body' | 'inFlight'>,
): Promise<Limit> {
  const env = { TEMPORAL_ADDRESS: stack.temporalAddress, TEMPORAL_NAMESPACE: stack.namespace };
  const worker = await startProcess('bench/bare/worker.ts', env);
  const { read, close } = countersOf(stack, worker);
  return {
    processes: [worker],
    async saturate({ warmUpSeconds, seconds }) {
      const measuring = worker.next(warmUpSeconds * 1000 + END_DEADLINE_MS);
      worker.child.send({ ...options, warmUpSeconds, seconds } satisfies BareOrder);
      await measuring;
      const before = await read();
      const { completed } = await worker.next<{ completed: number }>(seconds * 1000 + END_DEADLINE_MS);
      return { deliveries: completed, seconds, before, after: await read() };
    },
    async stop() {
      await worker.stop();
      await close();
    },
  };
}

/** Starts the bare pipeline, which is saturated as a lane of Hookyard is. */
export async function startBarePipeline(
  stack: Stack,
  receiver: Receiver,
  options: { body: string; outstanding: number },
): Promise<BarePipeline> {
  const env = { DATABASE_URL: stack.databaseUrl, BARE_TARGET: receiver.url };
  const pipeline = await startProcess('bench/bare/pipeline.ts', env);
  const sender = createSender(pipeline.ready.url ?? '', SECRET, options.body);
  const { read, close } = countersOf(stack, pipeline);
  return {
    processes: [pipeline],
    saturate: (times) => saturate(sender.send, receiver, { ...options, ...times, read }),
    async measureAt(perSecond, seconds) {
      const before = await read();
      const { ack } = await measureLatency(sender.send, receiver, perSecond, seconds);
      return { ack, cost: costPer(perSecond * seconds, before, await read()) };
    },
    async stop() {
      await sender.close();
      await pipeline.stop();
      await close();
    },
  };
}

function countersOf(stack: Stack, child: RunningChild) {
  const pool = createPool(stack.databaseUrl, { max: 1, statementTimeoutMs: 10_000, onError: () => {} });
  return { read: () => readCounters(stack, pool, { worker: child.pid }), close: () => pool.end() };
}
