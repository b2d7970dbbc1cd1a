// npm run bench -- concurrency [--seconds 20 --rounds 3 --lane express --save]: how many attempts destinations get at a time, and what that
// does to them and to others. Four questions, each with a bar:
//   * how much one destination of 300 ms gets from one worker,
//   * whether a receiver that collapses beyond 40 requests at a time is kept from that,
//   * what a healthy destination notices of ten that hang,
//   * and of one that takes 2 s, at the same rate.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Stack } from '../local/stack.ts';
import { type Bar, barLine } from './support/bars.ts';
import { median } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { saveResults } from './support/save.ts';
import { createPipe, drained, SECRET, type Service, startService } from './support/service.ts';
import {
  createSender,
  measureLatency,
  type Percentiles,
  type Receiver,
  saturate,
  sendAtRate,
} from './support/traffic.ts';
import { undisturbed } from './support/undisturbed.ts';
import { delay } from './support/wait.ts';

const ANSWER_MS = 300;
// More than the worker may have in flight at one destination.
const OUTSTANDING = 600;
const GROWING_SECONDS = 15;

const COLLAPSES_BEYOND = 40;
const COLLAPSING_ANSWER_MS = 100;
// A little more than it copes with.
const COLLAPSING_PER_SECOND = 450;
const COLLAPSING_SECONDS = 45;
const SETTLED_SECONDS = 10;
const WINDOW_SECONDS = 5;
// The circuit of its route would open at once, and hide what is measured.
const NEVER_OPENS = { circuitFailureThreshold: 1000 };

const HANGING = 10;
const HANGING_PER_SECOND = 10;
const SLOW_ANSWER_MS = 2000;
const HEALTHY_PER_SECOND = 150;
const WARM_UP_SECONDS = 5;
// Until limits have adapted to the bad ones.
const LEAD_SECONDS = 15;

/** Measures on a worker of its own each, and prints the bars. */
export async function measureConcurrency(stack: Stack, receiver: Receiver, options: BenchOptions): Promise<void> {
  const settings = { HOOKYARD_LANE: options.lane, HOOKYARD_REPLAY_WINDOW_HOURS: '0' };
  const bars: Bar[] = [];
  const steps = [growth, collapse, besideHanging, besideSlow];
  for (const step of steps) {
    const service = await startService(stack, settings);
    try {
      for (const bar of await step(service, receiver, options)) {
        bars.push(bar);
        console.log(barLine(bar));
      }
      await forgetWaiting(service);
    } finally {
      await service.stop();
    }
  }
  console.log(['', `lane ${options.lane}, one worker`, ...bars.map(barLine), ''].join('\n'));
  if (options.save) saveResults(`concurrency-${options.lane}`, { bars });
}

/** What waits for the destinations of a measurement is none of the next. */
async function forgetWaiting({ pool }: Service): Promise<void> {
  await pool.query('delete from outbox');
}

async function growth(service: Service, receiver: Receiver, options: BenchOptions): Promise<Bar[]> {
  const what = `one worker to one of ${ANSWER_MS} ms`;
  const value = await undisturbed(what, options, () => grow(service, receiver, options));
  return [{ what, value, unit: '/s', atLeast: 1000 }];
}

/** @returns answers a second of a destination that is new */
async function grow(service: Service, receiver: Receiver, { body, seconds }: BenchOptions): Promise<number> {
  const pipe = await createPipe(service, receiver.url);
  const sender = createSender(pipe.webhookUrl, SECRET, body);
  receiver.holdMs = () => ANSWER_MS;
  try {
    const { perSecond } = await saturate(sender.send, receiver, {
      outstanding: OUTSTANDING,
      warmUpSeconds: GROWING_SECONDS,
      seconds,
      read: () => Promise.resolve(),
    });
    await drained(service);
    return perSecond;
  } finally {
    receiver.holdMs = () => 0;
    await sender.close();
  }
}

async function collapse(service: Service, _receiver: Receiver, options: BenchOptions): Promise<Bar[]> {
  const what = `collapses beyond ${COLLAPSES_BEYOND} at a time`;
  const { errors, most } = await undisturbed(what, options, () => collapseOnce(service, options));
  return [
    { what: `${what}: most at a time`, value: most, unit: '', atMost: 60 },
    {
      what: `${what}: errors, worst ${WINDOW_SECONDS} s`,
      value: Math.max(...errors),
      unit: ' %',
      atMost: 5,
      rounds: errors,
    },
  ];
}

/** @returns of a destination that is new: its errors in percent by window, and the most that it had at a time */
async function collapseOnce(service: Service, { body }: BenchOptions): Promise<{ errors: number[]; most: number }> {
  const target = await startCollapsing();
  const pipe = await createPipe(service, urlOf(target.server), { route: NEVER_OPENS });
  const sender = createSender(pipe.webhookUrl, SECRET, body);
  try {
    await sendAtRate(sender.send, COLLAPSING_PER_SECOND, COLLAPSING_SECONDS);
    const settled = target.windows.slice(SETTLED_SECONDS / WINDOW_SECONDS, COLLAPSING_SECONDS / WINDOW_SECONDS);
    const errors = settled.map(({ answered, failed }) => (100 * failed) / answered);
    const perSecond = settled.map(({ answered }) => answered / WINDOW_SECONDS);
    console.log(
      `  it answered ${median(perSecond).toFixed(0)}/s of the ${COLLAPSES_BEYOND / (COLLAPSING_ANSWER_MS / 1000)}/s it can`,
    );
    return { errors, most: target.most() };
  } finally {
    await sender.close();
    await service.call('DELETE', `/api/destinations/${pipe.destinationId}`);
    close(target.server);
    await forgetWaiting(service);
  }
}

interface Window {
  answered: number;
  failed: number;
}

/** As long as it has more than it copes with, everything that it works on fails. */
async function startCollapsing() {
  const windows: Window[] = [];
  let startedAt: number | undefined;
  let underWay = 0;
  let most = 0;
  // Numbers the collapses: what began before the last one and ends after it has failed.
  let collapses = 0;
  const server = await listen((answer) => {
    startedAt ??= performance.now();
    underWay += 1;
    most = Math.max(most, underWay);
    if (underWay > COLLAPSES_BEYOND) collapses += 1;
    const before = underWay > COLLAPSES_BEYOND ? -1 : collapses;
    setTimeout(() => {
      underWay -= 1;
      const window = Math.floor((performance.now() - (startedAt ?? 0)) / 1000 / WINDOW_SECONDS);
      for (let at = windows.length; at <= window; at += 1) windows.push({ answered: 0, failed: 0 });
      const counted = windows[window];
      const failed = before !== collapses;
      if (counted) {
        counted.answered += 1;
        if (failed) counted.failed += 1;
      }
      answer(failed ? 503 : 200);
    }, COLLAPSING_ANSWER_MS);
  });
  return { server, windows, most: () => most };
}

async function besideHanging(service: Service, receiver: Receiver, options: BenchOptions): Promise<Bar[]> {
  const servers = await Promise.all(Array.from({ length: HANGING }, () => listen(() => {})));
  const rate = { perSecond: HANGING_PER_SECOND, what: `beside ${HANGING} that hang` };
  return besideBad(service, receiver, servers, { ...rate, atMost: 1.5 }, options);
}

async function besideSlow(service: Service, receiver: Receiver, options: BenchOptions): Promise<Bar[]> {
  const slow = await listen((answer) => setTimeout(() => answer(200), SLOW_ANSWER_MS));
  const rate = { perSecond: HEALTHY_PER_SECOND, what: `beside one of ${SLOW_ANSWER_MS / 1000} s` };
  return besideBad(service, receiver, [slow], { ...rate, atMost: 3 }, options);
}

/** In alternation, so that both have the same hour: the healthy one alone, then beside the bad ones. */
async function besideBad(
  service: Service,
  receiver: Receiver,
  servers: Server[],
  bad: { perSecond: number; what: string; atMost: number },
  { body, seconds, rounds, repeats }: BenchOptions,
): Promise<Bar[]> {
  const healthy = createSender((await createPipe(service, receiver.url)).webhookUrl, SECRET, body);
  const ratios: number[] = [];
  const measureRound = async () => {
    const alone = await measureLatency(healthy.send, receiver, HEALTHY_PER_SECOND, seconds);
    const pipes = await Promise.all(
      servers.map((server) => createPipe(service, urlOf(server), { route: NEVER_OPENS })),
    );
    const senders = pipes.map(({ webhookUrl }) => createSender(webhookUrl, SECRET, body));
    const sending = senders.map((sender) => sendAtRate(sender.send, bad.perSecond, LEAD_SECONDS + seconds));
    await sendAtRate(healthy.send, HEALTHY_PER_SECOND, LEAD_SECONDS);
    const beside = await measureLatency(healthy.send, receiver, HEALTHY_PER_SECOND, seconds);
    await Promise.all(sending);
    console.log(`  alone ${line(alone.endToEnd)}; ${bad.what} ${line(beside.endToEnd)}`);
    for (const sender of senders) await sender.close();
    for (const { destinationId } of pipes) await service.call('DELETE', `/api/destinations/${destinationId}`);
    for (const server of servers) server.closeAllConnections();
    // What was under way has ended.
    await drained(service);
    await delay(SLOW_ANSWER_MS);
    return beside.endToEnd.p99 / alone.endToEnd.p99;
  };
  try {
    await sendAtRate(healthy.send, HEALTHY_PER_SECOND, WARM_UP_SECONDS);
    for (let round = 1; round <= rounds; round += 1)
      ratios.push(await undisturbed(`${bad.what}, round ${round} of ${rounds}`, { repeats }, measureRound));
  } finally {
    await healthy.close();
    servers.forEach(close);
  }
  return [{ what: `${bad.what}: p99 / alone`, value: median(ratios), unit: '', atMost: bad.atMost, rounds: ratios }];
}

const line = ({ p50, p95, p99 }: Percentiles) => `p50 ${p50} p95 ${p95} p99 ${p99} ms`;

async function listen(take: (answer: (status: number) => void) => void): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => take((status) => void response.writeHead(status).end('ok')));
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

function close(server: Server): void {
  server.close();
  server.closeAllConnections();
}
