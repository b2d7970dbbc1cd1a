// npm run bench -- lists [--deliveries 5000000 --only figures]: fills a throw-away PostgreSQL with a month of history,
// asks the real API for every list and statistic over HTTP, or for those whose names begin so, and says how long each
// takes. `figures` is GET /api/metrics.
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { rollUp } from '../db/ledger/roll-up.ts';
import { createPool, type Pool } from '../db/connections/pool.ts';
import { DAYS, fillHistory } from './lists/fill.ts';
import { fillRecords } from './lists/records.ts';
import { findKnown, listRequests, type MeasuredRequest, searchRequests } from './lists/requests.ts';
import { cpuMs, percentiles, treeCpuMs } from './support/measure.ts';
import { type OwnPostgres, withPostgres } from './support/own-postgres.ts';
import { startProcess } from './support/processes.ts';
import { undisturbed } from './support/undisturbed.ts';

const API_KEY = 'whr_bench_bench_bench_bench_bench';
const LIMIT_MS = 50;
const WARM_UP_RUNS = 2;
const RUNS = 40;
const SEARCH_RUNS = 5;
const FILL_TIMEOUT_MS = 1_800_000;

/**
 * Fills, measures, prints, and removes everything again.
 * @param args `--deliveries <about how many>`, `--only <start of the names>`
 * @throws Error naming an option that is unknown or cannot be used
 */
export async function measureLists(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { deliveries: { type: 'string', default: '5000000' }, only: { type: 'string', default: '' } },
  });
  const deliveries = Number(values.deliveries);
  if (!(deliveries >= 1000)) throw new Error(`--deliveries must be 1000 or more (the value is "${values.deliveries}")`);
  await withPostgres('lists', { HOOKYARD_API_KEY: API_KEY }, (postgres) =>
    fillAndMeasure(postgres, deliveries, values.only),
  );
}

/**
 * What is asked, and its CPU so far: of the API and of PostgreSQL together, ms. It says more than times on a busy
 * machine.
 */
interface Asked {
  url: string;
  cpu: () => number;
}

async function fillAndMeasure(
  { databaseUrl, pid, organizationId, env }: OwnPostgres,
  deliveries: number,
  only: string,
): Promise<void> {
  const pool = createPool(databaseUrl, { max: 3, statementTimeoutMs: FILL_TIMEOUT_MS, onError: () => {} });
  const nowMs = Date.now();
  try {
    const filled = await fillDatabase(pool, organizationId, { deliveries, nowMs, open: true });
    const api = await startProcess('api/main.ts', env);
    try {
      const known = await findKnown(pool, organizationId);
      const counts = await countRows(pool, organizationId);
      const base = `/api/organizations/${organizationId}`;
      const url = api.ready.url ?? '';
      console.log(
        `\n${cpus().length} cores; ${filled.events} events and ${filled.deliveries} deliveries over ${DAYS} days; requests for an organization with ` +
          `${counts.events} and ${counts.deliveries} of them; ${RUNS} consecutive runs each, over HTTP`,
      );
      const asked: Asked = { url, cpu: () => cpuMs(api.pid) + treeCpuMs(pid) };
      console.log(`${'ms'.padEnd(60)}     p50     p95     max     CPU   p95 < ${LIMIT_MS} ms`);
      const chosen = (all: MeasuredRequest[]) => all.filter(({ name }) => name.startsWith(only));
      const requests = chosen(listRequests(base, known, nowMs));
      const searches = chosen(searchRequests(base, known, nowMs));
      if (requests.length + searches.length === 0) throw new Error(`No request name starts with "${only}"`);
      const slow = await measureAll(asked, requests, RUNS, true);
      console.log(slow === 0 ? `\nall below ${LIMIT_MS} ms` : `\n${slow} above ${LIMIT_MS} ms`);
      console.log(
        '\nrequests that read rows, newest first: up to 5 s by page, up to 25 ms (2 s in payloads) by cursor',
      );
      await measureAll(asked, searches, SEARCH_RUNS, false);
    } finally {
      await api.stop();
    }
  } finally {
    await pool.end();
  }
}

/**
 * Fills a migrated database with a month of history, mostly of this organization, and merges its statistics.
 * @param plan.deliveries about how many; the newest is of `nowMs`
 * @param plan.open whether some of the newest are open: a worker would continue these
 * @returns how many events and deliveries there are now
 */
async function fillDatabase(
  pool: Pool,
  organizationId: string,
  plan: { deliveries: number; nowMs: number; open: boolean },
) {
  const records = await fillRecords(pool, organizationId);
  const filled = await timed('filled', () => fillHistory(pool, { ...plan, records, log }));
  await timed('rolled up', async () => {
    while (await rollUp(pool));
  });
  await timed('vacuum analyze', async () => {
    // A month was rolled up at once. In a service there are the entries of some seconds.
    await pool.query('truncate ledger_entries');
    await pool.query('vacuum (analyze)');
  });
  return filled;
}

/** Events and deliveries of an organization. */
async function countRows(pool: Pool, organizationId: string): Promise<{ events: number; deliveries: number }> {
  const { rows } = await pool.query<{ events: number; deliveries: number }>(
    `select (select count(*) from events where organization_id = $1)::int as events,
            (select count(*) from deliveries where organization_id = $1)::int as deliveries`,
    [organizationId],
  );
  return rows[0] ?? { events: 0, deliveries: 0 };
}

/** Measures and prints one line each; returns how many are too slow. */
async function measureAll(asked: Asked, requests: MeasuredRequest[], runs: number, judged: boolean): Promise<number> {
  let slow = 0;
  for (const request of requests) {
    const { times, answer, cpuEach } = await undisturbed(request.name, {}, () => measureOne(asked, request, runs));
    const { p50, p95 } = percentiles(times);
    if (p95 >= LIMIT_MS) slow += 1;
    const figures = [p50, p95, Math.max(...times), cpuEach].map((ms) => ms.toFixed(1).padStart(8)).join('');
    console.log(`${request.name.padEnd(60)}${figures}   ${judged ? (p95 < LIMIT_MS ? 'yes' : 'NO') : answer}`);
  }
  return slow;
}

/** Asks the same so many times. @returns the times, ms, and CPU of each */
async function measureOne({ url, cpu }: Asked, request: MeasuredRequest, runs: number) {
  const times: number[] = [];
  let answer = '';
  let cpuBefore = 0;
  for (let run = -WARM_UP_RUNS; run < runs; run += 1) {
    if (run === 0) cpuBefore = cpu();
    const { ms, text } = await ask(url + request.path(Math.abs(run)));
    if (run >= 0) times.push(ms);
    answer = text;
  }
  return { times, answer, cpuEach: (cpu() - cpuBefore) / runs };
}

/** One request; an answer that is neither a success nor a refused search ends the bench. */
async function ask(url: string): Promise<{ ms: number; text: string }> {
  const startedAt = performance.now();
  const response = await fetch(url, { headers: { authorization: `Bearer ${API_KEY}` } });
  const text = await response.text();
  const ms = performance.now() - startedAt;
  const body: unknown = JSON.parse(text);
  if (response.status === 400 && text.includes('SEARCH_TOO_BROAD')) return { ms, text: 'refused: too broad' };
  if (response.status !== 200) throw new Error(`${url} returned ${response.status}: ${text}`);
  return { ms, text: totalOf(body) };
}

function totalOf(body: unknown): string {
  const { pagination } = body as { pagination?: { total: number } };
  return pagination ? `${pagination.total} found` : '';
}

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await work();
  log(`${what}: ${Math.round((performance.now() - startedAt) / 1000)} s`);
  return result;
}

function log(line: string): void {
  console.log(line);
}
