// npm run bench -- recovery [--seconds 10 --rounds 3 --lane express]: how long what is acknowledged waits when a worker
// is killed (kill -9) under load: one of two, whose work the other one takes over; and the only one, which is started
// again at once, as npm start does it. The load continues all the time, at a constant rate.
import { once } from 'node:events';
import type { Stack } from '../local/stack.ts';
import { type Bar, barLine } from './support/bars.ts';
import type { BenchOptions } from './support/options.ts';
import { type RunningChild, startProcess } from './support/processes.ts';
import { createPipe, drained, type Pipe, SECRET, type Service, startService } from './support/service.ts';
import { allArrived, createSender, type Receiver, sendAtRate, type Sent } from './support/traffic.ts';
import { undisturbed } from './support/undisturbed.ts';
import { until } from '../test/support/until.ts';

/** Nothing waits longer than this for its first attempt when one of several workers is killed, ms. */
const BAR = 3000;
const PER_SECOND = 100;
/** Unless another one is named. */
const LANE = 'express';
const WARM_UP_SECONDS = 5;

interface Kill {
  /**
   * Longest time from a webhook to its arrival, ms; and the time from the kill to the last arrival of what was sent
   * before it.
   */
  longestMs: number;
  lastAfterKillMs: number;
  /** Until the started worker was ready, ms after the kill. */
  readyMs?: number;
}

interface Round {
  ofTwo: Kill;
  onlyOne: Kill;
}

/** Measures and prints both. */
export async function measureRecovery(stack: Stack, receiver: Receiver, options: BenchOptions): Promise<void> {
  const service = await startService(stack, { HOOKYARD_LANE: options.lane ?? LANE });
  const workers = [service.worker];
  const rounds: Round[] = [];
  try {
    const pipe = await createPipe(service, receiver.url);
    /** There is one worker before it and after it. */
    const measureRound = async (): Promise<Round> => {
      workers.push(await startWorker(service));
      await shared(service, 2);
      const ofTwo = await killUnderLoad(service, receiver, pipe, workers.shift(), options);
      const onlyOne = await killUnderLoad(service, receiver, pipe, workers.shift(), options, async () => {
        workers.push(await startWorker(service));
      });
      return { ofTwo, onlyOne };
    };
    for (let number = 1; number <= options.rounds; number += 1) {
      const label = `round ${number} of ${options.rounds}`;
      console.log(`${label}: one of two workers, then the only worker`);
      rounds.push(await undisturbed(label, options, measureRound));
    }
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
    await service.stop();
  }
  const bars = barsOf(rounds);
  console.log(report(rounds, bars, options));
}

const startWorker = ({ env }: Service): Promise<RunningChild> => startProcess('worker/main.ts', env);

/** Waits until each of so many relays has its share. */
async function shared({ pool }: Service, count: number): Promise<void> {
  const areAll = async () =>
    (await pool.query(`select distinct owner from shards where owner is not null`)).rowCount === count;
  await until(`${count} relays with their shares`, areAll, 60_000);
}

/** @param restart starts the killed worker again */
async function killUnderLoad(
  service: Service,
  receiver: Receiver,
  pipe: Pipe,
  worker: RunningChild | undefined,
  { body, seconds }: BenchOptions,
  restart?: () => Promise<void>,
): Promise<Kill> {
  const sender = createSender(pipe.webhookUrl, SECRET, body);
  try {
    await sendAtRate(sender.send, PER_SECOND, WARM_UP_SECONDS);
    const sending = sendAtRate(sender.send, PER_SECOND, seconds);
    await new Promise((resolve) => setTimeout(resolve, (seconds * 1000) / 2));
    const killedAt = performance.now();
    worker?.child.kill('SIGKILL');
    if (worker && worker.child.exitCode === null) await once(worker.child, 'exit');
    await restart?.();
    const readyMs = performance.now() - killedAt;
    const sent = await sending;
    await allArrived(
      receiver,
      sent.map(({ eventId }) => eventId),
    );
    await drained(service);
    const arrival = ({ eventId }: Sent) => receiver.arrivals.get(eventId) ?? Number.NaN;
    const before = sent.filter(({ sentAt }) => sentAt < killedAt);
    return {
      longestMs: Math.max(...sent.map((event) => arrival(event) - event.sentAt)),
      lastAfterKillMs: Math.max(...before.map(arrival)) - killedAt,
      ...(restart && { readyMs }),
    };
  } finally {
    await sender.close();
  }
}

function barsOf(rounds: Round[]): Bar[] {
  const bar = (what: string, waits: number[]): Bar => {
    return { what, value: Math.max(...waits), unit: ' ms', atMost: BAR, rounds: waits };
  };
  return [
    bar(
      'longest wait when one of two is killed',
      rounds.map(({ ofTwo }) => ofTwo.longestMs),
    ),
    bar(
      'longest wait beyond the startup of the new process',
      rounds.map(({ onlyOne: { longestMs, readyMs = 0 } }) => longestMs - readyMs),
    ),
  ];
}

function report(rounds: Round[], bars: Bar[], { lane = LANE }: BenchOptions): string {
  const line = (kill: Kill) =>
    `  longest wait ${inSeconds(kill.longestMs)}, last earlier webhook delivered ${inSeconds(kill.lastAfterKillMs)} after the kill` +
    (kill.readyMs === undefined ? '' : `, new process ready after ${inSeconds(kill.readyMs)}`);
  return [
    '',
    `kill -9 at ${PER_SECOND}/s, lane ${lane}: one of two workers`,
    ...rounds.map(({ ofTwo }) => line(ofTwo)),
    'the only worker, restarted immediately',
    ...rounds.map(({ onlyOne }) => line(onlyOne)),
    '',
    ...bars.map(barLine),
    '',
  ].join('\n');
}

const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
