// npm run bench -- warehouse [--seconds 20 --rounds 3 --only parquet]: how quickly events are written in files to an S3
// server on this machine, in each format, and what that costs. `drain`: what waits is written, while nothing comes in.
// `end to end`: webhooks are sent at the same time, as quickly as they are answered, and sender and ingest share the
// cores with what is measured.
import { setTimeout as delay } from 'node:timers/promises';
import type { Stack } from '../../local/stack.ts';
import { type ProviderCase, providerCases } from '../../test/support/warehouse/warehouse-targets.ts';
import { type Bar, barLine } from '../support/bars.ts';
import { type Cost, costPer, totalCpuMs } from '../support/cost.ts';
import { cpuMs, median } from '../support/measure.ts';
import type { BenchOptions } from '../support/options.ts';
import { SECRET, type Service, startService } from '../support/service.ts';
import { createSender, type Receiver, sendMany } from '../support/traffic.ts';
import { undisturbed } from '../support/undisturbed.ts';
import { drain, fill, leaveAlone } from './drain.ts';
import { createLine, type Line, readBack, type Store, untilWritten } from './line.ts';

/**
 * Each on a service of its own, so that the memory of one does not show in that of the next. The others:
 * docs/performance.md.
 */
const FORMS: Record<string, object> = {
  jsonl: {},
  'jsonl, gzip': { compression: 'gzip' },
  'jsonl, zstd': { compression: 'zstd' },
  json: { fileFormat: 'json' },
  'json, gzip': { fileFormat: 'json', compression: 'gzip' },
  'parquet, snappy': { fileFormat: 'parquet', compression: 'snappy' },
  'parquet, zstd': { fileFormat: 'parquet', compression: 'zstd' },
};
/** The bar, and what a round has to write for each of its seconds. */
const ROWS_PER_SECOND = 5000;
const MEMORY_MIB = 192;
// The first files pay for loading the provider's SDK and for what is compiled.
const WARM_UP_EVENTS = 5000;
/** The last file is not left to wait for its window. */
const ROWS_OF_A_FILE = 1000;
// How long the idle service is measured.
const IDLE_MS = 5000;

interface Measured {
  /** From the claim, or the first webhook, to the last object. */
  rowsPerSecond: number;
  /** ... until the last delivery is recorded. */
  recordedPerSecond: number;
  files: number;
  /** MiB of the worker: before, and at most while it wrote. */
  idle: number;
  peak: number;
  /** Per row. */
  cost: Cost;
  storeCpuMs: number;
  /** Events that are in no object, and those that are in objects more than once. */
  missing: number;
  repeated: number;
}

const WAYS = ['drain', 'end to end'] as const;
type Round = Record<(typeof WAYS)[number], Measured>;

export async function measureWarehouse(stack: Stack, _receiver: Receiver, options: BenchOptions): Promise<void> {
  const forms = Object.entries(FORMS).filter(([name]) => name.startsWith(options.only));
  if (forms.length === 0) throw new Error(`No format starts with "${options.only}": ${Object.keys(FORMS).join('; ')}`);
  const provider = firstProvider();
  const server = await provider.start();
  const store = { provider, server };
  const events = Math.ceil((options.seconds * ROWS_PER_SECOND) / ROWS_OF_A_FILE) * ROWS_OF_A_FILE;
  const all: Record<string, Round[]> = {};
  try {
    await provider.prepare(server.url);
    for (const [name, form] of forms) {
      const service = await startService(stack);
      try {
        console.log(`${name}: warming up with ${WARM_UP_EVENTS} events, twice`);
        const warmUp = { events: WARM_UP_EVENTS, body: options.body, form };
        await drained(service, store, warmUp);
        await sentAndWritten(service, store, warmUp);
        const rounds: Round[] = [];
        for (let number = 1; number <= options.rounds; number += 1) {
          const what = { events, body: options.body, form };
          const measure = (way: string, work: () => Promise<Measured>) => {
            const label = `${name}, ${way}, round ${number} of ${options.rounds}`;
            console.log(`${label}: ${events} events of ${options.body.length} bytes`);
            return undisturbed(label, options, work);
          };
          rounds.push({
            drain: await measure('drain', () => drained(service, store, what)),
            'end to end': await measure('end to end', () => sentAndWritten(service, store, what)),
          });
        }
        all[name] = rounds;
      } finally {
        await service.stop();
      }
    }
  } finally {
    await server.stop();
  }
  const bars = Object.entries(all).flatMap(([name, rounds]) => barsOf(name, rounds));
  for (const [name, rounds] of Object.entries(all)) console.log(report(name, events, rounds));
  console.log(['', ...bars.map(barLine), ''].join('\n'));
}

function firstProvider(): ProviderCase {
  const [first] = providerCases;
  if (!first) throw new Error('No provider is available');
  return first;
}

interface Work {
  events: number;
  body: string;
  /** Members of the destination's config. */
  form: object;
}

async function drained(service: Service, store: Store, { events, body, form }: Work): Promise<Measured> {
  const line = await createLine(service, store, form);
  await leaveAlone(line);
  const eventIds = await fill(line, events, Buffer.from(body));
  return measured(line, eventIds.length, async () => {
    const { claimedAt, ...written } = await drain(line, events);
    return { ...written, beganAt: claimedAt, eventIds };
  });
}

async function sentAndWritten(service: Service, store: Store, { events, body, form }: Work): Promise<Measured> {
  const line = await createLine(service, store, form);
  const sender = createSender(line.webhookUrl, SECRET, body);
  try {
    return await measured(line, events, async () => {
      const beganAt = Date.now();
      const eventIds: string[] = [];
      const sending = sendMany(async () => eventIds.push((await sender.send()).eventId), events);
      const [written] = await Promise.all([untilWritten(line, events), sending]);
      return { ...written, beganAt, eventIds };
    });
  } finally {
    await sender.close();
  }
}

/** @param work begins at a time in ms since 1970; the database is on this machine, so its clock is the same */
async function measured(
  line: Line,
  events: number,
  work: () => Promise<{
    beganAt: number;
    lastObjectAt: number;
    lastRecordedAt: number;
    peak: number;
    eventIds: string[];
  }>,
): Promise<Measured> {
  const { service, store } = line;
  await delay(IDLE_MS);
  const idle = service.memoryMiB().worker;
  const before = await service.counters();
  const storeBefore = cpuMs(store.server.pid);
  const { beganAt, lastObjectAt, lastRecordedAt, peak, eventIds } = await work();
  const cost = costPer(events, before, await service.counters());
  const storeCpuMs = (cpuMs(store.server.pid) - storeBefore) / events;
  const found = await readBack(line);
  const distinct = new Set(found.eventIds);
  return {
    rowsPerSecond: (1000 * events) / (lastObjectAt - beganAt),
    recordedPerSecond: (1000 * events) / (lastRecordedAt - beganAt),
    files: found.files,
    idle,
    peak: Math.max(peak, idle),
    cost,
    storeCpuMs,
    missing: eventIds.filter((id) => !distinct.has(id)).length,
    repeated: found.eventIds.length - distinct.size,
  };
}

/**
 * What is asked of a warehouse is that it keeps up with what waits; end to end it shares two cores with ingest and the
 * sender.
 */
function barsOf(name: string, rounds: Round[]): Bar[] {
  const perSecond = rounds.map((round) => round.drain.rowsPerSecond);
  const all = rounds.flatMap((round) => WAYS.map((way) => round[way]));
  const above = all.map(({ peak, idle }) => peak - idle);
  const none = (what: string, pick: (figures: Measured) => number): Bar => ({
    ...{ what: `${name}: ${what}`, unit: '', atMost: 0 },
    value: Math.max(...all.map(pick)),
  });
  return [
    {
      ...{ what: `${name}: rows per second, drain`, unit: ' /s', atLeast: ROWS_PER_SECOND },
      ...{ value: median(perSecond), rounds: perSecond },
    },
    {
      ...{ what: `${name}: memory above idle`, unit: ' MiB', atMost: MEMORY_MIB },
      ...{ value: Math.max(...above), rounds: above },
    },
    none('events in no object', ({ missing }) => missing),
    none('events more than once', ({ repeated }) => repeated),
  ];
}

function report(name: string, events: number, rounds: Round[]): string {
  const ways = WAYS.flatMap((way) => {
    const figures = rounds.map((round) => round[way]);
    const number = (digits: number, pick: (measured: Measured) => number) => median(figures.map(pick)).toFixed(digits);
    const cpu = (pick: (cost: Cost) => number) => number(3, ({ cost }) => pick(cost));
    return [
      `  ${way}`,
      `    rows per second          ${number(0, ({ rowsPerSecond }) => rowsPerSecond)} to the last object, ${number(0, ({ recordedPerSecond }) => recordedPerSecond)} until all are recorded`,
      `    CPU per row              ${cpu(totalCpuMs)} ms: worker ${cpu(({ cpuMs: each }) => each.worker)}, PostgreSQL ${cpu(({ cpuMs: each }) => each.postgres)}, Temporal ${cpu(({ cpuMs: each }) => each.temporal)}, API ${cpu(({ cpuMs: each }) => each.api)}; also the store ${number(3, ({ storeCpuMs }) => storeCpuMs)}, the bench ${cpu(({ loadCpuMs }) => loadCpuMs)}`,
      `    WAL per row              ${number(0, ({ cost }) => cost.walBytes)} bytes`,
      `    worker memory            ${figures.map(({ idle, peak }) => `${idle} MiB idle, ${peak} MiB peak`).join('; ')}`,
    ];
  });
  const head = `${name}: ${events} rows in ${rounds[0]?.drain.files} files, ${rounds.length} rounds (medians)`;
  return ['', head, ...ways].join('\n');
}
