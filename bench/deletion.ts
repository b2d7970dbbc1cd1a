// npm run bench -- deletion [--events 1000000]: deletes a source with that many events, and says how long the request took, how long
// the background took for the rows, and what other webhooks noticed of it meanwhile.
import { randomUUID } from 'node:crypto';
import { createPool, type Pool } from '../db/connections/pool.ts';
import type { Stack } from '../local/stack.ts';
import { TASK_QUEUE } from '../core/workflow-names.ts';
import { storeMany } from './support/many-events.ts';
import type { BenchOptions } from './support/options.ts';
import { saveResults } from './support/save.ts';
import { createPipe, drained, SECRET, type Service, startService } from './support/service.ts';
import { createSender, measureLatency, type Percentiles, type Receiver } from './support/traffic.ts';
import { waitFor } from './support/wait.ts';

const STATEMENT_TIMEOUT_MS = 600_000;
const PURGE_DEADLINE_MS = 3_600_000;
// Of the webhooks beside it.
const PER_SECOND = 50;

type Latency = { ack: Percentiles; endToEnd: Percentiles };

export async function measureDeletion(stack: Stack, receiver: Receiver, options: BenchOptions): Promise<void> {
  const { events, seconds, body } = options;
  const pool = createPool(stack.databaseUrl, { max: 1, statementTimeoutMs: STATEMENT_TIMEOUT_MS, onError: () => {} });
  const service = await startService(stack, { HOOKYARD_LANE: 'express' });
  try {
    const sourceId = await fill(service, pool, events);
    const beside = await createPipe(service, receiver.url);
    const sender = createSender(beside.webhookUrl, SECRET, body);
    const load = () => measureLatency(sender.send, receiver, PER_SECOND, seconds);
    await load();
    const before = await load();
    const requestMs = await timed(() => remove(service, sourceId));
    const listMs = await timed(() => service.call('GET', `/api/organizations/${service.organizationId}/events`));
    const { purgeMs, during } = await purge(service, pool, sourceId, load);
    await sender.close();
    await drained(service);
    const results = { events, requestMs, listMs, purgeSeconds: purgeMs / 1000, before, during };
    console.log(report(results, seconds));
    if (options.save) saveResults('deletion', results);
  } finally {
    await service.stop();
    await pool.end();
  }
}

/** A source with so many delivered events. @returns its id */
async function fill(service: Service, pool: Pool, events: number): Promise<string> {
  const { routeId, destinationId } = await createPipe(service, 'http://127.0.0.1:1/');
  const { sourceId } = (await service.call('GET', `/api/routes/${routeId}`)) as { sourceId: string };
  const { organizationId } = service;
  console.log(`storing ${events} events`);
  await storeMany(pool, { organizationId, sourceId, routeId, destinationId, count: events, status: 'delivered' });
  // Dirty pages of the fill must not be written during a measurement.
  await pool.query('vacuum (analyze)');
  await pool.query('checkpoint');
  return sourceId;
}

const remove = (service: Service, sourceId: string) =>
  service.call('DELETE', `/api/organizations/${service.organizationId}/sources/${sourceId}`);

/** Runs housekeeping until nothing is left of the source, with the load beside it for as long. */
async function purge(
  service: Service,
  pool: Pool,
  sourceId: string,
  load: () => Promise<Latency>,
): Promise<{ purgeMs: number; during: Latency[] }> {
  const began = performance.now();
  await service.temporal.workflow.start('maintenance', { workflowId: randomUUID(), taskQueue: TASK_QUEUE, args: [] });
  const isGone = async () =>
    (await pool.query('select from events where source_id = $1 limit 1', [sourceId])).rowCount === 0;
  const gone = waitFor('everything to be removed', isGone, PURGE_DEADLINE_MS).then(() => performance.now() - began);
  let purgeMs: number | undefined;
  const during: Latency[] = [];
  gone.then(
    (ms) => {
      purgeMs = ms;
    },
    () => undefined,
  );
  while (purgeMs === undefined) {
    const latency = await load();
    // The last one has seen only a part of it.
    if (purgeMs === undefined || during.length === 0) during.push(latency);
  }
  return { purgeMs: await gone, during };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

function report(
  results: {
    events: number;
    requestMs: number;
    listMs: number;
    purgeSeconds: number;
    before: Latency;
    during: Latency[];
  },
  seconds: number,
): string {
  const { events, requestMs, listMs, purgeSeconds, before, during } = results;
  const line = (what: string, { ack, endToEnd }: Latency) =>
    `  ${what.padEnd(34)}acknowledged p50 ${ack.p50.toFixed(1)}, p99 ${ack.p99.toFixed(1)} ms; end to end p50 ${endToEnd.p50.toFixed(1)}, p99 ${endToEnd.p99.toFixed(1)} ms`;
  return [
    '',
    `a source with ${events} events, one delivery and one attempt each, is deleted`,
    `  the request                       ${requestMs.toFixed(0)} ms; the list of events right after it ${listMs.toFixed(0)} ms`,
    `  its rows                          gone after ${purgeSeconds.toFixed(0)} s, ${(events / purgeSeconds).toFixed(0)} events a second`,
    `${PER_SECOND} other webhooks a second, in phases of ${seconds} s`,
    line('before', before),
    ...during.map((latency) => line('meanwhile', latency)),
    '',
  ].join('\n');
}
