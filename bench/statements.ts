// npm run bench -- statements [--groups 1,10,40 --days 90 --bytes 1024]: what the four statements of the hot path cost
// PostgreSQL, for groups of several sizes: CPU of the connection that runs them, and WAL. Nothing else runs, and one
// statement at a time.
import { parseArgs } from 'node:util';
import { newId, shardOf } from '../core/text/ids.ts';
import { claimDeliveries } from '../db/hot-path/claim.ts';
import { loadAttempts } from '../db/hot-path/load-attempts.ts';
import { registerWorker, SHARDS } from '../db/hot-path/shards.ts';
import { type AttemptResult, recordResults } from '../db/hot-path/record-results.ts';
import { type NewEvent, storeEvents } from '../db/hot-path/store-events.ts';
import { DAY_MS, ensurePartitions } from '../db/sql/partitions.ts';
import { createPool, type Pool } from '../db/connections/pool.ts';
import { fillRecords } from './lists/records.ts';
import { cpuMs } from './support/measure.ts';
import { type OwnPostgres, withPostgres } from './support/own-postgres.ts';
import { undisturbed } from './support/undisturbed.ts';

export const STATEMENTS = ['store', 'claim', 'load', 'record'] as const;
export type Statement = (typeof STATEMENTS)[number];
// Of groups of one; larger groups are run less often, by the root of their size, and those of large bodies by their
// size.
const RUNS = 1500;
const MOST_BYTES = 500_000_000;
const BODY_BYTES = 1024;
const STATEMENT_TIMEOUT_MS = 60_000;
const OWNER = 'bench';

/** Of one run. */
export interface StatementCost {
  /** ms */
  cpu: number;
  walBytes: number;
}

/** A source with one route to one destination, as events are stored for it. */
export interface Way {
  organizationId: string;
  configVersion: number;
  sourceId: string;
  routeId: string;
  destinationId: string;
}

/**
 * Measures and prints a table.
 * @param args `--groups <sizes>`, `--days <days with partitions, today included>`, `--bytes <of a body>`
 * @throws Error naming an option that is unknown or cannot be used
 */
export async function measureStatements(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      groups: { type: 'string', default: '1,10,40' },
      days: { type: 'string', default: '90' },
      bytes: { type: 'string', default: '1024' },
    },
  });
  const groups = values.groups.split(',').map(Number);
  const days = Number(values.days);
  const bytes = Number(values.bytes);
  if (!groups.every((size) => size >= 1 && size <= 100)) throw new Error('--groups must be numbers from 1 to 100');
  if (!(days >= 1 && days <= 1000)) throw new Error('--days must be a number from 1 to 1000');
  if (!(bytes >= 0 && bytes <= 10 * 1024 * 1024)) throw new Error('--bytes must be a number from 0 to 10485760');
  await withPostgres('statements', {}, (postgres) => measureAll(postgres, { groups, days, bytes }));
}

interface Sizes {
  groups: number[];
  days: number;
  /** Of a body. */
  bytes: number;
}

async function measureAll(postgres: OwnPostgres, sizes: Sizes): Promise<void> {
  const { groups, days, bytes } = sizes;
  const options = { statementTimeoutMs: STATEMENT_TIMEOUT_MS, onError: () => {} };
  const pool = createPool(postgres.databaseUrl, { ...options, max: 1 });
  const hotPool = createPool(postgres.databaseUrl, { ...options, max: 1, hotPath: true });
  try {
    for (let day = 0; day < days; day += 1) await ensurePartitions(pool, Date.now() - day * DAY_MS);
    await holdAll(pool);
    const way = await makeWay(pool, postgres.organizationId);
    const costs: Map<Statement, StatementCost>[] = [];
    for (const size of groups) {
      // Once to warm up: what is planned, cached and written whole after a checkpoint.
      await measureGroup(hotPool, way, size, bytes);
      costs.push(await undisturbed(`a group of ${size}`, {}, () => measureGroup(hotPool, way, size, bytes)));
    }
    console.log(report(sizes, costs));
  } finally {
    await hotPool.end();
    await pool.end();
  }
}

/** A worker that owns all shards . */
async function holdAll(pool: Pool): Promise<void> {
  await registerWorker(pool, OWNER);
  await pool.query('update shards set owner = $1', [OWNER]);
}

async function makeWay(pool: Pool, organizationId: string): Promise<Way> {
  const { sources, ways } = await fillRecords(pool, organizationId);
  const way = ways.find(({ source }) => sources[source]?.organizationId === organizationId);
  const { rows } = await pool.query<{ version: number }>(
    'select config_version as version from organizations where id = $1',
    [organizationId],
  );
  if (!way || !rows[0]) throw new Error('no route found');
  const { routeId, destinationId } = way;
  const sourceId = sources[way.source]?.id ?? '';
  return { organizationId, configVersion: rows[0].version, sourceId, routeId, destinationId };
}

/** The four in turn, each for all groups, so that the ticks of the CPU clock tell them apart. @returns per group */
async function measureGroup(
  pool: Pool,
  way: Way,
  size: number,
  bytes = BODY_BYTES,
): Promise<Map<Statement, StatementCost>> {
  const body = Buffer.alloc(bytes, 'x');
  const runs = Math.ceil(Math.min(RUNS / Math.sqrt(size), MOST_BYTES / (size * bytes)));
  const groups = Array.from({ length: runs }, () => Array.from({ length: size }, () => newEvent(way, body)));
  const costs = new Map<Statement, StatementCost>();
  const pid = await numberOf(pool, 'select pg_backend_pid() as number');
  const wal = () => numberOf(pool, `select (pg_current_wal_insert_lsn() - '0/0')::float8 as number`);
  const measure = async (statement: Statement, run: (events: NewEvent[]) => Promise<number>) => {
    const [cpuBefore, walBefore] = [cpuMs(pid), await wal()];
    for (const events of groups) {
      const count = await run(events);
      if (count !== size) throw new Error(`${statement}: ${count} of ${size}`);
    }
    costs.set(statement, { cpu: (cpuMs(pid) - cpuBefore) / runs, walBytes: ((await wal()) - walBefore) / runs });
  };
  await measure('store', async (events) => (await storeEvents(pool, events)).stored.size);
  await measure('claim', async () => (await claimDeliveries(pool, claimOf(size))).rows.length);
  await measure('load', async (events) => (await loadAttempts(pool, events.map(idsOf))).size);
  await measure('record', async (events) => (await recordResults(pool, events.map(resultOf))).size);
  return costs;
}

async function numberOf(pool: Pool, query: string): Promise<number> {
  const { rows } = await pool.query<{ number: number }>(query);
  return rows[0]?.number ?? Number.NaN;
}

function newEvent({ organizationId, configVersion, sourceId, routeId, destinationId }: Way, body: Buffer): NewEvent {
  const [id, deliveryId, now] = [newId('evt'), newId('dlv'), new Date()];
  return {
    id,
    organizationId,
    configVersion,
    sourceId,
    method: 'POST',
    path: '',
    query: '',
    headers: {
      host: 'hooks.example.com',
      'user-agent': 'GitHub-Hookshot/044aadd',
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-hub-signature-256': `sha256=${'0'.repeat(64)}`,
    },
    clientAddress: '192.0.2.1',
    body,
    isText: true,
    payloadHash: '0'.repeat(64),
    receivedAt: now,
    validatedAt: now,
    deliveries: [
      {
        id: deliveryId,
        routeId,
        routeVersion: 1,
        transformVersion: null,
        destinationId,
        priority: 0,
        shard: shardOf(deliveryId),
        status: 'pending',
        error: null,
      },
    ],
    routed: [routeId],
    filtered: [],
    idempotency: null,
  };
}

function idsOf(event: NewEvent): { deliveryId: string; eventId: string } {
  return { deliveryId: event.deliveries[0]?.id ?? '', eventId: event.id };
}

// The first of the backlog every time, as nothing that was claimed leaves it.
function claimOf(size: number) {
  return {
    afterOrganization: '',
    skippedOrganizations: [],
    maxOrganizations: 50,
    turns: [],
    // A destination gets half of what its organization may have.
    mostOfOthers: 2 * size,
    fullDestinations: [],
    maxDestinations: 200,
    owner: OWNER,
    shards: Array.from({ length: SHARDS }, (_, shard) => shard),
    inFlight: [],
    perDestination: size,
    most: size,
  };
}

function resultOf(event: NewEvent): AttemptResult {
  const now = new Date();
  return {
    ...idsOf(event),
    attemptNumber: 1,
    deliveryStatus: 'delivered',
    statusCode: 200,
    error: null,
    latency: 5,
    latencyClass: 5,
    startedAt: now,
    completedAt: now,
    retryInMs: null,
    requestHeaders: { ...event.headers, 'x-hookyard-event-id': event.id },
    responseHeaders: { date: now.toUTCString(), 'content-length': '2', connection: 'keep-alive' },
    responseBody: 'ok',
    exchange: {
      address: '192.0.2.1',
      port: 443,
      reused: true,
      dns: null,
      connect: null,
      tls: null,
      firstByte: 4.2,
      destinationVersion: 1,
    },
    lane: 'express',
    failover: null,
  };
}

function report({ groups, days, bytes }: Sizes, costs: Map<Statement, StatementCost>[]): string {
  const cell = ({ cpu, walBytes }: StatementCost) =>
    `${cpu.toFixed(2).padStart(8)} ms ${(walBytes / 1024).toFixed(1).padStart(6)} KiB`;
  const sum = (cost: Map<Statement, StatementCost>, divisor: number): StatementCost => ({
    cpu: [...cost.values()].reduce((total, { cpu }) => total + cpu, 0) / divisor,
    walBytes: [...cost.values()].reduce((total, { walBytes }) => total + walBytes, 0) / divisor,
  });
  const line = (name: string, cells: StatementCost[]) => `  ${name.padEnd(14)}${cells.map(cell).join('')}`;
  return [
    '',
    `connection CPU and WAL; bodies of ${bytes} bytes, partitions of ${days} days`,
    `  ${'a group of'.padEnd(14)}${groups.map((size) => String(size).padStart(22)).join('')}`,
    ...STATEMENTS.map((statement) =>
      line(
        statement,
        costs.map((cost) => cost.get(statement) ?? { cpu: Number.NaN, walBytes: Number.NaN }),
      ),
    ),
    line(
      'per delivery',
      costs.map((cost, at) => sum(cost, groups[at] ?? 1)),
    ),
    '',
  ].join('\n');
}
