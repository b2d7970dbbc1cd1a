// What PostgreSQL shows of a fleet while it works: what its sessions wait for, relays without shards, and how often each statement
// runs (pg_stat_activity, pg_stat_statements: PostgreSQL manual, 27.2.3 and F.32).
import type { Pool } from '../../db/connections/pool.ts';
import { delay } from '../support/wait.ts';

// Reading pg_stat_activity costs more the more connections there are, and would count as the fleet's own cost.
const SAMPLE_MS = 200;
const SAMPLES_PER_LOOK_AT_RELAYS = 5;
const SHOWN = 6;
const TEXT_LENGTH = 70;

export interface Statement {
  /** The beginning of its text. */
  text: string;
  calls: number;
  /** In all, ms. */
  execMs: number;
}

export interface Seen {
  /** Sessions that wait for a lock of a row, a table or the like: mean over the samples. */
  waitingForLocks: number;
  /** Sessions that wait for a lock inside of PostgreSQL (LWLock), for example to write the WAL. */
  waitingInside: number;
  /** The same by event, the most frequent ones. */
  events: Record<string, number>;
  /** Relays that hold no shard, at most. */
  idleRelays: number;
  /** Of Hookyard's processes. */
  connections: number;
  claims: number;
  /** Those that took most time. */
  statements: Statement[];
}

/** Makes the counts of statements available. */
export async function prepareWatch(pool: Pool): Promise<void> {
  await pool.query('create extension if not exists pg_stat_statements');
}

/** Starts to watch. @returns ends it, and gives what was seen */
export async function watchDatabase(pool: Pool): Promise<() => Promise<Seen>> {
  await pool.query('select pg_stat_statements_reset()');
  const sums = new Map<string, number>();
  let samples = 0;
  let idleRelays = 0;
  let connections = 0;
  let isOver = false;
  const sampling = (async () => {
    while (!isOver) {
      for (const { event, sessions } of await readWaits(pool)) sums.set(event, (sums.get(event) ?? 0) + sessions);
      if (samples % SAMPLES_PER_LOOK_AT_RELAYS === 0) {
        const now = await readRelays(pool);
        idleRelays = Math.max(idleRelays, now.idle);
        connections = Math.max(connections, now.connections);
      }
      samples += 1;
      await delay(SAMPLE_MS);
    }
  })();
  return async () => {
    isOver = true;
    await sampling;
    const means = [...sums].map(([event, sum]): [string, number] => [event, sum / samples]);
    const meanOf = (kind: string) =>
      means.filter(([event]) => event.startsWith(`${kind}:`)).reduce((sum, [, mean]) => sum + mean, 0);
    return {
      waitingForLocks: meanOf('Lock'),
      waitingInside: meanOf('LWLock'),
      events: Object.fromEntries(means.toSorted(([, a], [, b]) => b - a).slice(0, SHOWN)),
      idleRelays,
      connections,
      ...(await readStatements(pool)),
    };
  };
}

async function readWaits(pool: Pool): Promise<{ event: string; sessions: number }[]> {
  const { rows } = await pool.query<{ event: string; sessions: number }>(`
    select wait_event_type || ':' || wait_event as event, count(*)::int as sessions from pg_stat_activity
    where datname = current_database() and state = 'active' and wait_event is not null and pid <> pg_backend_pid()
    group by 1`);
  return rows;
}

async function readRelays(pool: Pool): Promise<{ idle: number; connections: number }> {
  const { rows } = await pool.query<{ idle: number; connections: number }>(`
    select (select count(*) from workers where name not in (select owner from shards where owner is not null))::int as idle,
           (select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid())::int as connections`);
  return rows[0] ?? { idle: Number.NaN, connections: Number.NaN };
}

// A claim is the statement that tells by what a delivery is blocked (db/hot-path/claim.ts).
const IS_CLAIM = `query like '%as "blockedBy"%'`;

async function readStatements(pool: Pool): Promise<Pick<Seen, 'claims' | 'statements'>> {
  const { rows } = await pool.query<Statement & { isClaim: boolean }>(`
    select regexp_replace(query, '\\s+', ' ', 'g') as text, calls::float8 as calls, total_exec_time as "execMs",
           ${IS_CLAIM} as "isClaim"
    from pg_stat_statements where dbid = (select oid from pg_database where datname = current_database())
      and query not like '%pg_stat_%'
    order by total_exec_time desc`);
  const claims = rows.filter(({ isClaim }) => isClaim);
  if (claims.length === 0) throw new Error('no statement looks like a claim: bench/fleet/watch.ts must know its text');
  const statements = rows.slice(0, SHOWN).map(({ text, calls, execMs }) => ({
    text: text.trim().slice(0, TEXT_LENGTH),
    calls,
    execMs,
  }));
  return { claims: claims.reduce((sum, { calls }) => sum + calls, 0), statements };
}
