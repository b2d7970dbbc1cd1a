// npm run bench -- parked [--events 200000 --seconds 30 --lane express]: what a healthy destination notices of an outage that has failed
// so many deliveries: while some of them wait in Temporal to be replayed, and when the windows of all of them end.
//
// Of more than 10,000, only a part waits: the limit of their organization. That windows end is measured as if 200,000 (or more, with more events) had waited, all had failed in one moment, and the window were its usual length: by
// as many workflows of that kind as end in the measured time then.
import type { Stack } from '../local/stack.ts';
import { newId } from '../core/ids.ts';
import { TUNING } from '../core/tuning.ts';
import { TASK_QUEUE } from '../core/workflow-names.ts';
import { deliveryStatusAttribute } from '../core/search-attributes.ts';
import { type Bar, barLine } from './support/bars.ts';
import type { BenchOptions } from './support/options.ts';
import { saveResults } from './support/save.ts';
import {
  createDestination,
  createPipe,
  createRoute,
  drained,
  SECRET,
  type Service,
  startService,
} from './support/service.ts';
import {
  createSender,
  measureLatency,
  type Percentiles,
  type Receiver,
  sendAtRate,
  sendMany,
} from './support/traffic.ts';
import { delay, waitFor } from './support/wait.ts';

/** The healthy destination's p99 may be this many times what it is before the outage. */
const BAR = 2;
// Each worker counts now and then, so the limit is kept approximately.
const OVER_LIMIT = 1.2;
const LEAST_ENDING = 200_000;
const PER_SECOND = 10;
const WARM_UP_SECONDS = 4;
// A circuit opens after 10,000 failures at the latest.
const FAILURES_PER_ROUTE = 9000;
// The usual window, and the part of it over which the ends are spread (workflows/delivery.ts).
const SPREAD_SECONDS = 72 * 3600 * 0.1;
const LEAST_WINDOW_MS = 20_000;
const DEADLINE_MS = 60_000;
// Temporal closes the workflows of the last failures for a while after the last delivery has begun. On a busy machine its count stands
// still for some seconds though much is left to close.
const SETTLE_SECONDS = 5;
const SETTLED_SECONDS = 30;
const SETTLE_DEADLINE_MS = 60_000;
const OPEN_DELIVERIES = `WorkflowType = 'delivery' and ExecutionStatus = 'Running'`;
const OPEN = `WorkflowType = 'delivery' and ${deliveryStatusAttribute.name} = 'failed' and ExecutionStatus = 'Running'`;

interface Phases {
  before: Percentiles;
  waiting: Percentiles;
  ending: Percentiles;
}

export async function measureParked(stack: Stack, receiver: Receiver, options: BenchOptions): Promise<void> {
  const { events, lane, seconds, body } = options;
  const most = Math.min(events, TUNING.maxParkedPerOrganization);
  const service = await startService(stack, { HOOKYARD_LANE: lane });
  try {
    const healthy = await createPipe(service, receiver.url);
    const sender = createSender(healthy.webhookUrl, SECRET, body);
    await sendAtRate(sender.send, PER_SECOND, WARM_UP_SECONDS);
    const measure = async () => (await measureLatency(sender.send, receiver, PER_SECOND, seconds)).endToEnd;
    const before = await measure();
    console.log(`${events} deliveries fail`);
    await failMany(service, receiver, { events, body });
    await settled(service);
    const open = (await service.temporal.workflow.count(OPEN)).count;
    const waiting = await measure();
    const perSecond = Math.max(events, LEAST_ENDING) / SPREAD_SECONDS;
    console.log(`windows end, ${perSecond.toFixed(2)} in a second`);
    await openWindows(service, Math.ceil(perSecond * seconds), seconds);
    const ending = await measure();
    await sender.close();
    const phases = { before, waiting, ending };
    const bars = barsOf(phases, open, most);
    console.log(report(options, phases, open, bars));
    if (options.save) saveResults(`parked-${lane}`, { lane, events, bars, open, phases });
  } finally {
    await service.stop();
  }
}

/** Sends webhooks to a destination that refuses them, and tries none again. Resolves when all have failed. */
async function failMany(service: Service, receiver: Receiver, { events, body }: { events: number; body: string }) {
  const down = new URL(receiver.url);
  down.pathname = '/down';
  receiver.answer = ({ url }) => (url === down.pathname ? 500 : 200);
  const destination = await createDestination(service, down.href, { retryPolicy: { maxRetries: 0 } });
  const routes = Array.from({ length: Math.ceil(events / FAILURES_PER_ROUTE) }, () =>
    createRoute(service, [destination], { circuitFailureThreshold: 10_000 }),
  );
  const urls = (await Promise.all(routes)).map(({ path }) => service.url + path);
  const sender = createSender(urls, SECRET, body);
  await sendMany(sender.send, events);
  await sender.close();
  await drained(service, events);
}

/**
 * Waits until no delivery's workflow has opened or closed for half a minute: what is measured then is what waits, not the flood.
 * There is no deadline while the number of open workflows falls.
 */
async function settled(service: Service): Promise<void> {
  let least = Number.POSITIVE_INFINITY;
  let [fellAt, changedAt] = [Date.now(), Date.now()];
  for (let before = -1; ; ) {
    const { count } = await service.temporal.workflow.count(OPEN_DELIVERIES);
    if (count !== before) changedAt = Date.now();
    if (Date.now() - changedAt >= SETTLED_SECONDS * 1000) return;
    if (count < least) fellAt = Date.now();
    least = Math.min(least, count);
    if (Date.now() - fellAt > SETTLE_DEADLINE_MS)
      throw new Error(`${count} workflows are open, and none has closed for ${SETTLE_DEADLINE_MS / 1000} s`);
    console.log(`${count} workflows are open`);
    before = count;
    await delay(SETTLE_SECONDS * 1000);
  }
}

/** Starts workflows of failed deliveries whose windows end one after the other within the next seconds, from the end of the starts on. */
async function openWindows(service: Service, count: number, seconds: number): Promise<void> {
  const endsAt = Date.now() + LEAST_WINDOW_MS;
  let number = 0;
  await sendMany(async () => {
    const deliveryId = newId('dlv');
    const windowMs = endsAt + (number++ * seconds * 1000) / count - Date.now();
    await service.temporal.workflow.start('delivery', {
      workflowId: deliveryId,
      taskQueue: TASK_QUEUE,
      args: [parkedInput(service.organizationId, deliveryId, windowMs)],
    });
  }, count);
  await waitFor('the first window to end', () => Date.now() >= endsAt, DEADLINE_MS);
}

function parkedInput(organizationId: string, deliveryId: string, replayWindowMs: number) {
  return {
    organizationId,
    deliveryId,
    eventId: newId('evt'),
    retryPolicy: { maxRetries: 0, initialDelay: 0, maxDelay: 0, backoffMultiplier: 1 },
    quick: false,
    replayWindowMs,
    first: { status: 'failed', statusCode: 500, error: 'The destination answered 500' },
  };
}

function barsOf({ before, waiting, ending }: Phases, open: number, most: number): Bar[] {
  return [
    { what: 'failed deliveries that wait, of the limit', value: open / most, unit: '', atMost: OVER_LIMIT },
    { what: 'end to end, p99: while they wait / before', value: waiting.p99 / before.p99, unit: '', atMost: BAR },
    { what: 'end to end, p99: windows end / before', value: ending.p99 / before.p99, unit: '', atMost: BAR },
  ];
}

function report({ lane, events, seconds }: BenchOptions, phases: Phases, open: number, bars: Bar[]): string {
  const line = (what: string, { p50, p95, p99 }: Percentiles) =>
    `  ${what.padEnd(28)} p50 ${p50} ms, p95 ${p95} ms, p99 ${p99} ms`;
  return [
    '',
    `lane ${lane}, ${events} deliveries failed, ${open} of them wait; a healthy destination at ${PER_SECOND} webhooks a second, ${seconds} s each`,
    line('before', phases.before),
    line('while they wait', phases.waiting),
    line('while windows end', phases.ending),
    '',
    ...bars.map(barLine),
    '',
  ].join('\n');
}
