// npm run bench -- warehouse [--seconds 20 --rounds 3]: how quickly what waits for a warehouse is written to an S3 server on this
// machine in each format, and what that costs. The events are stored as ingest stores them, while the destination is left alone; then it is let go.
import { createHash } from 'node:crypto';
import { newId, shardOf } from '../core/ids.ts';
import { type NewEvent, storeEvents } from '../db/hot-path/store-events.ts';
import type { Stack } from '../local/stack.ts';
import type { StoreServer } from '../test/support/object-stores.ts';
import { type ProviderCase, providerCases } from '../test/support/warehouse-targets.ts';
import { allRowsOf, readObjects } from '../test/support/warehouse-objects.ts';
import { type Bar, barLine } from './support/bars.ts';
import { type Cost, costPer, totalCpuMs } from './support/cost.ts';
import { cpuMs, median } from './support/measure.ts';
import type { BenchOptions } from './support/options.ts';
import { saveResults } from './support/save.ts';
import { createRoute, type Service, startService } from './support/service.ts';
import type { Receiver } from './support/traffic.ts';
import { undisturbed } from './support/undisturbed.ts';
import { delay } from './support/wait.ts';

/** Each on a service of its own, so that the memory of one does not show in that of the next. */
const FORMS: Record<string, object> = {
  jsonl: {},
  'jsonl, gzip': { compression: 'gzip' },
  'jsonl, zstd': { compression: 'zstd' },
  json: { fileFormat: 'json' },
  'parquet, snappy': { fileFormat: 'parquet', compression: 'snappy' },
};
/** The bar, and what a round has to write for each of its seconds. */
const ROWS_PER_SECOND = 5000;
const MEMORY_MIB = 192;
// The first files pay for loading the provider's SDK and for what is compiled.
const WARM_UP_EVENTS = 5000;
const GROUP = 500;
const DEADLINE_MS = 300_000;
const LOOK_EVERY_MS = 100;
// How long the idle service is measured.
const IDLE_MS = 5000;

interface Figures {
  rowsPerSecond: number;
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

export async function measureWarehouse(stack: Stack, _receiver: Receiver, options: BenchOptions): Promise<void> {
  const provider = firstProvider();
  const store = await provider.start();
  const events = Math.ceil(options.seconds * ROWS_PER_SECOND);
  const all: Record<string, Figures[]> = {};
  try {
    await provider.prepare(store.url);
    for (const [name, config] of Object.entries(FORMS)) {
      const service = await startService(stack);
      try {
        const write = (count: number) =>
          writeOut(service, provider, store, { events: count, body: options.body, config });
        console.log(`${name}: ${WARM_UP_EVENTS} events that are not counted`);
        await write(WARM_UP_EVENTS);
        const rounds: Figures[] = [];
        for (let number = 1; number <= options.rounds; number += 1) {
          const label = `${name}, round ${number} of ${options.rounds}`;
          console.log(`${label}: ${events} events of ${options.body.length} bytes`);
          rounds.push(await undisturbed(label, options, () => write(events)));
        }
        all[name] = rounds;
      } finally {
        await service.stop();
      }
    }
  } finally {
    await store.stop();
  }
  const bars = Object.entries(all).flatMap(([name, rounds]) => barsOf(name, rounds));
  for (const [name, rounds] of Object.entries(all)) console.log(report(name, events, rounds));
  console.log(['', ...bars.map(barLine), ''].join('\n'));
  if (options.save) saveResults('warehouse', { events, payloadBytes: options.body.length, bars, rounds: all });
}

function firstProvider(): ProviderCase {
  const [first] = providerCases;
  if (!first) throw new Error('There is no provider');
  return first;
}

async function writeOut(
  service: Service,
  provider: ProviderCase,
  store: StoreServer,
  { events, body, config: form }: { events: number; body: string; config: object },
): Promise<Figures> {
  const prefix = `bench-${newId('bat').slice(-10)}`;
  const config = { ...provider.config(store.url), prefix, ...form };
  const destination = { name: prefix, type: provider.type, config };
  const { id: destinationId } = (await service.call('POST', '/api/destinations', destination)) as { id: string };
  const { routeId } = await createRoute(service, [destinationId]);
  await leaveAlone(service, destinationId);
  const eventIds = await fill(service, { destinationId, routeId, events, body: Buffer.from(body) });
  await service.pool.query('vacuum analyze outbox');
  await delay(IDLE_MS);
  const idle = service.memoryMiB().worker;
  const before = await service.counters();
  const storeBefore = cpuMs(store.pid);
  const startedAt = performance.now();
  await letGo(service, destinationId);
  const peak = await untilWritten(service, destinationId, events);
  const seconds = (performance.now() - startedAt) / 1000;
  const cost = costPer(events, before, await service.counters());
  const storeCpuMs = (cpuMs(store.pid) - storeBefore) / events;
  const objects = await readObjects(provider, store.url, `${prefix}/`);
  const found = (await Promise.all(objects.map(allRowsOf))).flat().map((row) => String(row.event_id));
  const distinct = new Set(found);
  return {
    rowsPerSecond: events / seconds,
    files: objects.length,
    idle,
    peak: Math.max(peak, idle),
    cost,
    storeCpuMs,
    missing: eventIds.filter((id) => !distinct.has(id)).length,
    repeated: found.length - distinct.size,
  };
}

/** Claims the destination for longer than the bench takes, so that no worker starts its workflow. */
async function leaveAlone({ pool, organizationId }: Service, destinationId: string): Promise<void> {
  await pool.query(
    `insert into warehouse_flushes (destination_id, organization_id, due_at, seen_version)
     select id, $2, now() + interval '1 hour', version from destinations where id = $1`,
    [destinationId, organizationId],
  );
}

async function letGo({ pool }: Service, destinationId: string): Promise<void> {
  await pool.query('update warehouse_flushes set due_at = now() where destination_id = $1', [destinationId]);
}

async function fill(
  { pool, organizationId }: Service,
  line: { destinationId: string; routeId: string; events: number; body: Buffer },
): Promise<string[]> {
  const { rows } = await pool.query<{ sourceId: string; configVersion: number }>(
    `select r.source_id as "sourceId", o.config_version as "configVersion"
     from routes r join organizations o on o.id = r.organization_id where r.id = $1`,
    [line.routeId],
  );
  const known = rows[0];
  if (!known) throw new Error(`There is no route ${line.routeId}`);
  const payloadHash = `sha256:${createHash('sha256').update(line.body).digest('hex')}`;
  const ids: string[] = [];
  while (ids.length < line.events) {
    const group = Array.from({ length: Math.min(GROUP, line.events - ids.length) }, () =>
      newEvent({ ...line, ...known, organizationId, payloadHash }),
    );
    const { stored } = await storeEvents(pool, group);
    ids.push(...stored);
  }
  return ids;
}

function newEvent(line: {
  organizationId: string;
  configVersion: number;
  sourceId: string;
  routeId: string;
  destinationId: string;
  body: Buffer;
  payloadHash: string;
}): NewEvent {
  const { organizationId, configVersion, sourceId, routeId, destinationId, body, payloadHash } = line;
  const receivedAt = new Date();
  const id = newId('dlv');
  return {
    id: newId('evt', receivedAt.getTime()),
    organizationId,
    configVersion,
    sourceId,
    method: 'POST',
    path: '',
    query: '',
    headers: { 'content-type': 'application/json', 'user-agent': 'bench', 'x-github-event': 'issues' },
    clientAddress: '192.0.2.1',
    body,
    isText: true,
    payloadHash,
    receivedAt,
    validatedAt: receivedAt,
    deliveries: [{ id, routeId, destinationId, priority: 0, shard: shardOf(id), status: 'pending', error: null }],
    routed: [routeId],
    filtered: [],
    idempotency: null,
  };
}

/** @returns the most memory of the worker meanwhile, MiB */
async function untilWritten({ pool, memoryMiB }: Service, destinationId: string, events: number): Promise<number> {
  const giveUpAt = performance.now() + DEADLINE_MS;
  let peak = 0;
  for (;;) {
    const { rows } = await pool.query<{ written: number }>(
      `select coalesce(sum(events), 0)::int as written from warehouse_batches where destination_id = $1 and status = 'written'`,
      [destinationId],
    );
    peak = Math.max(peak, memoryMiB().worker);
    const written = rows[0]?.written ?? 0;
    if (written >= events) return peak;
    if (performance.now() > giveUpAt)
      throw new Error(`${written} of ${events} rows written in ${DEADLINE_MS / 1000} s`);
    await delay(LOOK_EVERY_MS);
  }
}

function barsOf(name: string, rounds: Figures[]): Bar[] {
  const values = (pick: (figures: Figures) => number) => rounds.map(pick);
  const perSecond = values(({ rowsPerSecond }) => rowsPerSecond);
  const above = values(({ peak, idle }) => peak - idle);
  const none = (what: string, pick: (figures: Figures) => number): Bar => ({
    ...{ what: `${name}: ${what}`, unit: '', atMost: 0 },
    value: Math.max(...values(pick)),
  });
  return [
    {
      ...{ what: `${name}: rows written per second`, unit: ' /s', atLeast: ROWS_PER_SECOND },
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

function report(name: string, events: number, rounds: Figures[]): string {
  const ms = (pick: (figures: Figures) => number) => median(rounds.map(pick)).toFixed(3);
  const cpu = (pick: (cost: Cost) => number) => ms(({ cost }) => pick(cost));
  return [
    '',
    `${name}: ${events} rows in ${rounds[0]?.files} files, ${rounds.length} rounds (medians)`,
    `  CPU per row              ${cpu(totalCpuMs)} ms: worker ${cpu(({ cpuMs: each }) => each.worker)}, PostgreSQL ${cpu(({ cpuMs: each }) => each.postgres)}, Temporal ${cpu(({ cpuMs: each }) => each.temporal)}, API ${cpu(({ cpuMs: each }) => each.api)}; the store ${ms(({ storeCpuMs }) => storeCpuMs)} beside`,
    `  WAL per row              ${median(rounds.map(({ cost }) => cost.walBytes)).toFixed(0)} bytes`,
    `  memory of the worker     ${rounds.map(({ idle, peak }) => `${idle} MiB idle, ${peak} MiB at most`).join('; ')}`,
  ].join('\n');
}
