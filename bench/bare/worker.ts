// The process of the bare delivery workflow: a closed loop of eager starts, with the connection, slots and cache of
// Hookyard's own worker. Driven over IPC: BareOrders in; out, for each, that the warm-up is over, and how many were completed after it.
import { fileURLToPath } from 'node:url';
import { activityInfo } from '@temporalio/activity';
import { Client } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { Pool } from 'undici';
import { onEndRequest } from '../../core/process/end-request.ts';
import { temporalConnectionOptions } from '../../temporal-config/connection.ts';
import { waitFor } from '../support/wait.ts';
import type { bare } from './workflow.ts';

const TASK_QUEUE = 'bare';
const SLOTS = 500;
const QUIET_DEADLINE_MS = 30_000;

export interface BareOrder {
  url: string;
  body: string;
  inFlight: number;
  warmUpSeconds: number;
  seconds: number;
}

const logger = new DefaultLogger('WARN');
Runtime.install({ logger });

const { connectionOptions, namespace } = temporalConnectionOptions();
const connection = await NativeConnection.connect(connectionOptions);
const client = new Client({ connection, namespace });
let order: BareOrder = { url: '', body: '', inFlight: 1, warmUpSeconds: 0, seconds: 0 };
const pools = new Map<string, Pool>();
// Frees the place of a workflow when its request is answered, as Hookyard's relay does.
const sent = new Map<string, () => void>();

const activities = {
  async post(url: string): Promise<number> {
    const target = new URL(url);
    const pool = pools.get(target.origin) ?? new Pool(target.origin, { connections: 64 });
    pools.set(target.origin, pool);
    const response = await pool.request({
      method: 'POST',
      path: target.pathname,
      headers: { 'content-type': 'application/json' },
      body: order.body,
    });
    await response.body.dump();
    sent.get(activityInfo().workflowExecution?.workflowId ?? '')?.();
    return response.statusCode;
  },
};
export type BareActivities = typeof activities;

const worker = await Worker.create({
  connection,
  namespace,
  taskQueue: TASK_QUEUE,
  activities,
  workflowBundle: await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./workflow.ts', import.meta.url)),
    preloadModules: ['@temporalio/workflow'],
    logger,
  }),
  maxConcurrentWorkflowTaskExecutions: SLOTS,
  maxConcurrentLocalActivityExecutions: SLOTS,
  maxConcurrentActivityTaskExecutions: SLOTS,
  maxCachedWorkflows: 10 * SLOTS,
  shutdownGraceTime: 5000,
});
const ended = worker.run();

process.on('message', (message: BareOrder) => {
  order = message;
  void drive().then((completed) => process.send?.({ completed }));
});
onEndRequest(() => {
  worker.shutdown();
  void ended.then(() => connection.close()).then(() => process.exit(0));
});
process.send?.({ type: 'ready' });

let number = 0;

async function drive(): Promise<number> {
  const from = performance.now() + order.warmUpSeconds * 1000;
  const until = from + order.seconds * 1000;
  let completed = 0;
  const loop = async (): Promise<void> => {
    while (performance.now() < until) {
      number += 1;
      const workflowId = `bare-${process.pid}-${number}`;
      const answered = new Promise<void>((resolve) => sent.set(workflowId, resolve));
      await client.workflow.start<typeof bare>('bare', {
        workflowId,
        taskQueue: TASK_QUEUE,
        args: [order.url],
        requestEagerStart: true,
      });
      await answered;
      sent.delete(workflowId);
      const now = performance.now();
      if (now >= from && now < until) completed += 1;
    }
  };
  const loops = Promise.all(Array.from({ length: order.inFlight }, loop));
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, from - performance.now())));
  process.send?.({ type: 'measuring' });
  await loops;
  await waitFor(
    'every bare workflow ended',
    async () => worker.getStatus().numCachedWorkflows === 0,
    QUIET_DEADLINE_MS,
  );
  return completed;
}
