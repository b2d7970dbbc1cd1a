// Who holds the session locks of relays (db/hot-path/relay-session.ts). Other advisory locks of a database come and go: of housekeeping,
// of migrations, of those who look whether a relay is gone.
import type { Queryable } from '../../db/connections/pool.ts';

/** Processes of PostgreSQL that hold the session lock of a relay with a lease; in order, each once. */
export async function sessionLockHolders(db: Queryable): Promise<number[]> {
  const { rows } = await db.query<{ name: string }>(
    `select regexp_replace(owner, ':[0-9]+$', '') as name from relay_leases`,
  );
  return holdersOf(
    db,
    rows.map(({ name }) => name),
  );
}

/**
 * The same for relays with these names.
 * @returns process ids of PostgreSQL
 */
export async function holdersOf(db: Queryable, names: string[]): Promise<number[]> {
  const { rows } = await db.query<{ pid: number }>(
    `select distinct l.pid
     from unnest($1::text[]) as relay(name), lateral (select hashtextextended(name, 0) as key) as lock
     join pg_locks l on l.locktype = 'advisory' and l.objsubid = 1 and l.mode = 'ExclusiveLock' and l.granted
       and l.classid::bigint = (lock.key >> 32) & 4294967295 and l.objid::bigint = lock.key & 4294967295
       and l.database = (select oid from pg_database where datname = current_database())
     order by l.pid`,
    [names],
  );
  return rows.map(({ pid }) => pid);
}
