// What PostgreSQL runs, by pg_stat_statements (PostgreSQL manual, F.32): calls, and ms of running and planning.
import pg from 'pg';
import type { Pool } from '../../db/connections/pool.ts';
import type { Stack } from '../../local/stack.ts';

/** Loads the module, which needs a restart of the server. */
export async function listStatements(stack: Stack): Promise<void> {
  const run = async (statements: string[]) => {
    const client = new pg.Client({ connectionString: stack.databaseUrl });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  };
  await run([
    `alter system set shared_preload_libraries = 'pg_stat_statements'`,
    `alter system set pg_stat_statements.track_planning = on`,
  ]);
  await stack.restartPostgres();
  await run(['create extension pg_stat_statements']);
}

interface Counted {
  database: string;
  query: string;
  calls: number;
  ms: number;
  planMs: number;
}

const COUNTED = `
select d.datname as database, s.query, s.calls::float8 as calls, s.total_exec_time::float8 as ms,
       s.total_plan_time::float8 as "planMs"
from pg_stat_statements s join pg_database d on d.oid = s.dbid order by s.total_exec_time + s.total_plan_time desc limit 30`;

/** @param divisor what calls and time are divided by @returns a table, by what takes most time */
export async function statementsOf(pool: Pool, divisor: number, work: () => Promise<unknown>): Promise<string> {
  await pool.query('select pg_stat_statements_reset()');
  await work();
  const { rows } = await pool.query<Counted>(COUNTED);
  const line = ({ database, query, calls, ms, planMs }: Counted) =>
    `${(calls / divisor).toFixed(3).padStart(8)} calls ${(ms / divisor).toFixed(4).padStart(9)} ms, planned ${(planMs / divisor).toFixed(4)} ms  ${database}: ${query.replaceAll(/\s+/g, ' ').trim().slice(0, 100)}`;
  return [...rows.map(line), ''].join('\n');
}
