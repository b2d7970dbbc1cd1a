// npm run bench -- tenants [--deliveries 300000 --rounds 4]: what row-level security (docs/database-roles.md) costs, with and without
// it in turns on the same database: requests of the management API over HTTP, and the statements of the hot path.
import { parseArgs } from 'node:util';
import { createPool, type Pool } from '../db/connections/pool.ts';
import { ensurePartitions } from '../db/retention/partitions.ts';
import { grantRuntime } from '../db/migrate/runtime-rights.ts';
import { findTenantRole, grantTenant } from '../db/tenants/tenant-rights.ts';
import { fillDatabase } from './history.ts';
import { findKnown, listRequests } from './history/requests.ts';
import { holdAll, makeWay, measureGroup, type Statement, STATEMENTS } from './statements.ts';
import { cpuMs, percentiles, treeCpuMs } from './support/measure.ts';
import { type OwnPostgres, withPostgres } from './support/own-postgres.ts';
import { startProcess } from './support/processes.ts';

const API_KEY = 'whr_bench_bench_bench_bench_bench';
const [SERVICES, TENANT, PASSWORD] = ['bench_services', 'bench_tenant', 'for-the-bench-only'];
// The CPU clock ticks every 10 ms, so a turn is several requests.
const RUNS_PER_TURN = 10;
const FILL_TIMEOUT_MS = 1_800_000;
const GROUPS = [1, 10, 40];

/**
 * Measures and prints both.
 * @param args `--deliveries <about how many, for the requests; 0: none are measured>`, `--rounds <turns of each side>`
 * @throws Error naming an option that is unknown or cannot be used
 */
export async function measureTenants(args: string[]): Promise<void> {
  const options = {
    deliveries: { type: 'string', default: '300000' },
    rounds: { type: 'string', default: '4' },
  } as const;
  const { values } = parseArgs({ args, options });
  const [deliveries, rounds] = [Number(values.deliveries), Number(values.rounds)];
  if (deliveries !== 0 && !(deliveries >= 1000))
    throw new Error('--deliveries must be 1000 or more, or 0 for the hot path only');
  if (!(rounds >= 1 && rounds <= 100)) throw new Error('--rounds must be a number from 1 to 100');
  await withPostgres('tenants', {}, (postgres) => measureHotPath(postgres, rounds));
  if (deliveries === 0) return;
  await withPostgres('tenants', { HOOKYARD_API_KEY: API_KEY }, (postgres) =>
    measureRequests(postgres, deliveries, rounds),
  );
}

/** Makes the roles, as docs/database-roles.md says. @returns the URL of the services */
async function makeRoles(pool: Pool, databaseUrl: string): Promise<string> {
  await pool.query(`create role ${SERVICES} login password '${PASSWORD}'`);
  await pool.query(`create role ${TENANT} nologin`);
  await pool.query(`grant ${TENANT} to ${SERVICES} with inherit false, set true`);
  await grantRuntime(pool, SERVICES);
  return Object.assign(new URL(databaseUrl), { username: SERVICES, password: PASSWORD }).href;
}

async function measureHotPath({ databaseUrl, organizationId }: OwnPostgres, rounds: number): Promise<void> {
  const options = { max: 1, statementTimeoutMs: 60_000, onError: () => {} };
  const pool = createPool(databaseUrl, options);
  const hotPool = createPool(await makeRoles(pool, databaseUrl), { ...options, hotPath: true });
  try {
    await ensurePartitions(pool);
    const way = await makeWay(pool, organizationId);
    await holdAll(pool);
    await grantTenant(pool, TENANT);
    console.log(
      `\nhot path, ms of PostgreSQL CPU per statement: without, with row-level security (${rounds} turns each)`,
    );
    for (const size of GROUPS) {
      const cpu = { without: new Map<Statement, number>(), with: new Map<Statement, number>() };
      await measureGroup(hotPool, way, size);
      for (let turn = 0; turn < rounds; turn += 1) {
        // Each begins half of the turns, on an outbox without rows that are gone: the second finds more in its way.
        const sides = ['without', 'with'] as const;
        for (const side of turn % 2 === 0 ? sides : sides.toReversed()) {
          await switchSecurity(pool, side === 'with' ? 'enable' : 'disable');
          await pool.query('vacuum outbox');
          await pool.query('checkpoint');
          for (const [statement, cost] of await measureGroup(hotPool, way, size))
            cpu[side].set(statement, (cpu[side].get(statement) ?? 0) + cost.cpu / rounds);
        }
      }
      const total = { without: 0, with: 0 };
      for (const statement of STATEMENTS) {
        const [without, secured] = [cpu.without.get(statement) ?? 0, cpu.with.get(statement) ?? 0];
        total.without += without;
        total.with += secured;
        console.log(line(`${statement}, groups of ${size}`, without, secured));
      }
      console.log(line(`all four, groups of ${size}`, total.without, total.with));
    }
  } finally {
    await hotPool.end();
    await pool.end();
  }
}

async function switchSecurity(pool: Pool, how: 'enable' | 'disable'): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    'select distinct polrelid::regclass::text as name from pg_policy',
  );
  for (const { name } of rows) await pool.query(`alter table ${name} ${how} row level security`);
}

interface Request {
  name: string;
  path: (run: number) => string;
  method?: string;
  body?: (run: number) => unknown;
}

async function measureRequests(
  { databaseUrl, pid, organizationId, env }: OwnPostgres,
  deliveries: number,
  rounds: number,
): Promise<void> {
  const pool = createPool(databaseUrl, { max: 3, statementTimeoutMs: FILL_TIMEOUT_MS, onError: () => {} });
  const nowMs = Date.now();
  const started: { stop(): Promise<unknown> }[] = [];
  try {
    await fillDatabase(pool, organizationId, { deliveries, nowMs, open: true });
    const servicesUrl = await makeRoles(pool, databaseUrl);
    const startApi = async () => {
      const api = await startProcess('api/main.ts', { ...env, DATABASE_URL: servicesUrl });
      started.push(api);
      return { url: api.ready.url ?? '', cpu: () => cpuMs(api.pid) + treeCpuMs(pid) };
    };
    // It looks for the role when it starts.
    const without = await startApi();
    await grantTenant(pool, TENANT);
    const secured = await startApi();
    await requireRole(servicesUrl);
    const known = await findKnown(pool, organizationId);
    const base = `/api/organizations/${organizationId}`;
    const requests: Request[] = [
      ...listRequests(base, known, nowMs),
      { name: 'search in payloads', path: () => `${base}/events?search=order` },
      {
        ...{ name: 'change of a source', method: 'PATCH', path: () => `${base}/sources/${known.sources[0]}` },
        body: (run) => ({ description: `changed ${run}` }),
      },
    ];
    console.log(
      `\nrequests, ms: p50 without, p50 with; ms of CPU without, with, ratio (${rounds} turns of ${RUNS_PER_TURN} each)`,
    );
    const ratios: number[] = [];
    for (const request of requests) ratios.push(await measureRequest(request, without, secured, rounds));
    console.log(
      `\nratio of CPU: median ${percentiles(ratios).p50.toFixed(2)}, highest ${Math.max(...ratios).toFixed(2)}`,
    );
  } finally {
    for (const api of started) await api.stop();
    await pool.end();
  }
}

async function requireRole(servicesUrl: string): Promise<void> {
  const pool = createPool(servicesUrl, { max: 1, statementTimeoutMs: 10_000, onError: () => {} });
  const role = await findTenantRole(pool).finally(() => pool.end());
  if (role !== TENANT) throw new Error('the API does not use row-level security');
}

type Side = { url: string; cpu: () => number };

/** @returns the ratio of CPU */
async function measureRequest(request: Request, without: Side, secured: Side, rounds: number): Promise<number> {
  const sides = [without, secured].map((side) => ({ ...side, times: [] as number[], used: 0 }));
  for (let turn = -1; turn < rounds; turn += 1) {
    for (const side of sides) {
      const before = side.cpu();
      const times: number[] = [];
      for (let run = 0; run < RUNS_PER_TURN; run += 1) times.push(await send(side.url, request, run));
      // The first turn warms up.
      if (turn < 0) continue;
      side.used += side.cpu() - before;
      side.times.push(...times);
    }
  }
  const [p50s, cpus] = [
    sides.map(({ times }) => percentiles(times).p50),
    sides.map(({ used }) => used / rounds / RUNS_PER_TURN),
  ];
  const figures = p50s.map((ms) => ms.toFixed(1).padStart(8)).join('');
  console.log(
    `${request.name.padEnd(44)}${figures}${line('', cpus[0] ?? 0, cpus[1] ?? 0)
      .trimStart()
      .padStart(28)}`,
  );
  return (cpus[1] ?? 0) / (cpus[0] || Number.NaN);
}

/** @returns how long it took, ms */
async function send(url: string, { method = 'GET', path, body }: Request, run: number): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(url + path(run), {
    method,
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body(run)) }),
  });
  const text = await response.text();
  if (response.status !== 200 && !text.includes('SEARCH_TOO_BROAD'))
    throw new Error(`${url}${path(run)} answered ${response.status}: ${text}`);
  return performance.now() - startedAt;
}

function line(name: string, without: number, secured: number): string {
  const figures = [without, secured].map((ms) => ms.toFixed(3).padStart(9)).join('');
  return `${name.padEnd(28)}${figures}${(secured / without).toFixed(2).padStart(8)}`;
}
