// npm run bench -- isolation [--seconds 30 --rounds 3 --lane workflow]: what a healthy destination notices of three bad ones beside it: one
// that takes 10 s to answer, one that is down, one that refuses nearly everything with 429.
//
// "At 50 % load" is all the load together: each of the four gets an eighth of what the healthy one, saturated, takes. That
// is what an operator who keeps half of the machine free has. The healthy one gets the same eighth in both phases, so
// the ratio compares nothing but the company it is in; beside half of the maximum of its own, the first figure would be
// larger and the ratio kinder. Everything else is as it is by default: what the bad ones cost beyond their webhooks is decided
// by their retry policy, and by the circuits that open.
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Stack } from '../local/stack.ts';
import { type Bar, barLine } from './support/bars.ts';
import { median } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { saveResults } from './support/save.ts';
import { createPipe, drained, type Pipe, quiet, SECRET, type Service, startService } from './support/service.ts';
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

/** The healthy destination's p99 beside the bad ones may be this many times what it is alone. */
const BAR = 2;
const LOAD_OF_MAXIMUM = 0.5;
const SLOW_ANSWER_MS = 10_000;
const RETRY_AFTER_SECONDS = 2;
// The one that limits takes one request in this time.
const LIMITED_TAKES_EVERY_MS = 1000;

const OUTSTANDING = 100;
const SATURATE_SECONDS = 8;
const WARM_UP_SECONDS = 4;
// The default retry policy ends after 1 + 2 + 4 + 8 + 16 s: from then on the retries are as many as they get.
const LEAD_SECONDS = 35;

const BAD_ONES = ['slow', 'down', 'limited'] as const;
type BadOne = (typeof BAD_ONES)[number];

/** What a bad destination was given in one round, and what came of it until the end of the measurement. */
interface Disturbance {
  webhooks: number;
  attempts: number;
  /** Deliveries that wait for their first attempt in the outbox, and those that a circuit holds. */
  waiting: number;
  held: number;
}

interface Round {
  /** Webhooks per second to each destination. */
  perSecond: number;
  alone: Percentiles;
  beside: Percentiles;
  trouble: Record<BadOne, Disturbance>;
}

/** Measures in alternation, prints the table and the ratio against the bar. */
export async function measureIsolation(stack: Stack, receiver: Receiver, options: BenchOptions): Promise<void> {
  // No replay window: a delivery that failed ends its workflow, so that none of a round is left in the next.
  const service = await startService(stack, { HOOKYARD_LANE: options.lane, HOOKYARD_REPLAY_WINDOW_HOURS: '0' });
  const badServers = await startBadServers();
  const rounds: Round[] = [];
  try {
    const healthy = await createPipe(service, receiver.url);
    for (let number = 1; number <= options.rounds; number += 1) {
      const label = `round ${number} of ${options.rounds}`;
      console.log(`${label}: saturated, then alone, then beside the bad ones`);
      const measure = async () => {
        const round = await measureRound(service, receiver, healthy, badServers.urls, options);
        // The bad destinations were deleted: what was left to do for them ends.
        await quiet(service);
        return round;
      };
      rounds.push(await undisturbed(label, options, measure));
    }
  } finally {
    await service.stop();
    badServers.close();
  }
  const bar = barOf(rounds);
  console.log(report(rounds, bar, options));
  if (options.save) saveResults(`isolation-${options.lane}`, { bar, rounds });
}

async function measureRound(
  service: Service,
  receiver: Receiver,
  healthy: Pipe,
  badUrls: Record<BadOne, string>,
  { body, seconds }: BenchOptions,
): Promise<Round> {
  const sender = createSender(healthy.webhookUrl, SECRET, body);
  try {
    // In every round: the machine may change its speed.
    const { perSecond: maximum } = await saturate(sender.send, receiver, {
      outstanding: OUTSTANDING,
      warmUpSeconds: WARM_UP_SECONDS,
      seconds: SATURATE_SECONDS,
      read: async () => {},
    });
    await drained(service);
    const perSecond = (maximum * LOAD_OF_MAXIMUM) / (1 + BAD_ONES.length);
    await sendAtRate(sender.send, perSecond, WARM_UP_SECONDS);
    const { endToEnd: alone } = await measureLatency(sender.send, receiver, perSecond, seconds);

    const bad = await Promise.all(BAD_ONES.map((name) => createPipe(service, badUrls[name])));
    const troubling = Promise.all(bad.map((pipe, at) => sendDisturbance(pipe, body, { perSecond, seconds, at })));
    await sendAtRate(sender.send, perSecond, LEAD_SECONDS);
    const { endToEnd: beside } = await measureLatency(sender.send, receiver, perSecond, seconds);
    const webhooks = await troubling;
    const trouble = await disturbanceOf(service, bad, webhooks);
    for (const { destinationId } of bad) await service.call('DELETE', `/api/destinations/${destinationId}`);
    return { perSecond, alone, beside, trouble };
  } finally {
    await sender.close();
  }
}

/** Sends to a bad destination until the measurement ends. @returns how many webhooks */
async function sendDisturbance(
  pipe: Pipe,
  body: string,
  { perSecond, seconds, at }: { perSecond: number; seconds: number; at: number },
): Promise<number> {
  const sender = createSender(pipe.webhookUrl, SECRET, body);
  // Each begins a part of the interval later, so that the four do not send at the same instants.
  await delay(((at + 1) / (1 + BAD_ONES.length)) * (1000 / perSecond));
  const sent = await sendAtRate(sender.send, perSecond, LEAD_SECONDS + seconds);
  await sender.close();
  return sent.length;
}

async function disturbanceOf(service: Service, bad: Pipe[], webhooks: number[]): Promise<Record<BadOne, Disturbance>> {
  const { rows } = await service.pool.query<Omit<Disturbance, 'webhooks'>>(
    `select coalesce(sum(d.attempt_count), 0)::int as attempts,
            (select count(*) from outbox where destination_id = w.id)::int as waiting,
            (count(*) filter (where d.status = 'circuit_open'))::int as held
     from unnest($1::text[]) with ordinality as w(id, number) left join deliveries d on d.destination_id = w.id
     group by w.id, w.number order by w.number`,
    [bad.map((pipe) => pipe.destinationId)],
  );
  const none = { attempts: 0, waiting: 0, held: 0 };
  const entries = BAD_ONES.map((name, at) => [name, { webhooks: webhooks[at] ?? 0, ...(rows[at] ?? none) }]);
  return Object.fromEntries(entries) as Record<BadOne, Disturbance>;
}

async function startBadServers(): Promise<{ urls: Record<BadOne, string>; close: () => void }> {
  let takesAgainAt = 0;
  const slow = await listen((request, response) => {
    request.resume();
    setTimeout(() => response.end('ok'), SLOW_ANSWER_MS);
  });
  const limited = await listen((request, response) => {
    request.resume();
    if (performance.now() >= takesAgainAt) {
      takesAgainAt = performance.now() + LIMITED_TAKES_EVERY_MS;
      response.end('ok');
    } else response.writeHead(429, { 'retry-after': String(RETRY_AFTER_SECONDS) }).end('too many');
  });
  const down = await listen(() => {});
  const urls = { slow: urlOf(slow), down: urlOf(down), limited: urlOf(limited) };
  // Its port is closed: connections are refused.
  await new Promise((resolve) => down.close(resolve));
  return {
    urls,
    close() {
      for (const server of [slow, limited]) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

async function listen(answer: RequestListener): Promise<Server> {
  const server = createServer(answer);
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

function barOf(rounds: Round[]): Bar {
  const ratios = rounds.map(({ alone, beside }) => beside.p99 / alone.p99);
  return { what: 'end to end, p99: beside / alone', value: median(ratios), unit: '', atMost: BAR, rounds: ratios };
}

function report(rounds: Round[], bar: Bar, { lane, seconds }: BenchOptions): string {
  const each = median(rounds.map((round) => round.perSecond));
  const latency = (what: string, pick: (round: Round) => Percentiles) => {
    const of = (name: keyof Percentiles) => median(rounds.map((round) => pick(round)[name])).toFixed(1);
    return `  ${what.padEnd(20)} p50 ${of('p50')} ms, p95 ${of('p95')} ms, p99 ${of('p99')} ms`;
  };
  const trouble = (name: BadOne) => {
    const of = (count: keyof Disturbance) => median(rounds.map((round) => round.trouble[name][count])).toFixed(0);
    return `  ${name.padEnd(20)} ${of('webhooks')} webhooks, ${of('attempts')} attempts; at the end ${of('waiting')} wait, ${of('held')} are held`;
  };
  return [
    '',
    `lane ${lane}, ${LOAD_OF_MAXIMUM * 100} % load: ${each.toFixed(1)} /s to each of four destinations; medians of ${rounds.length} rounds of ${seconds} s`,
    'end to end, the healthy destination',
    latency('alone', (round) => round.alone),
    latency('beside the bad ones', (round) => round.beside),
    'the bad ones, in a round',
    ...BAD_ONES.map(trouble),
    '',
    barLine(bar),
    '',
  ].join('\n');
}
