// A streaming standby of a PostgreSQL of the tests: a copy of the server that follows it, and takes its place when it
// is promoted (PostgreSQL manual, "Log-Shipping Standby Servers"). pg_basebackup -R would make the same files.
import { appendFile, chown, lstat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { errorCode } from '../../../local/errors.ts';
import { takeBaseBackup } from './base-backup.ts';
import { startIn } from './own-postgres.ts';
import { until } from '../until.ts';

// Of the slot, which keeps the log until the standby has it, and of the connection, by which the primary knows it.
const NAME = 'hookyard_standby';
const PROMOTION_S = 60;
// The standby refuses to start with less of the first ones than the primary; the last ones are a choice of the test.
const SAME_SETTINGS = `'max_connections', 'max_worker_processes', 'max_wal_senders', 'max_prepared_transactions',
  'max_locks_per_transaction', 'fsync', 'full_page_writes'`;

export type Standby = Awaited<ReturnType<typeof startStandby>>;

/**
 * Makes a standby of a running server, and returns when it follows. One at a time. Every commit of the primary waits until
 * the standby has written it too: all that is acknowledged is on both, and nothing is while the standby is away.
 * @param primaryUrl a database of the server, as its superuser
 * @param dataDir a folder that does not exist yet
 */
export async function startStandby(primaryUrl: string, dataDir: string) {
  // Reserves the log from here on.
  await ask(primaryUrl, `select pg_create_physical_replication_slot('${NAME}', true)`);
  await takeBaseBackup(primaryUrl, dataDir);
  await follow(primaryUrl, join(dataDir, 'postgres'));
  const rows = await ask(primaryUrl, `select name, setting from pg_settings where name in (${SAME_SETTINGS})`);
  const settings = Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
  const { postgres, address, remove } = await startIn(dataDir, { settings });
  await ask(primaryUrl, `alter system set synchronous_standby_names = '${NAME}'`, RELOAD);
  await until('the standby to follow', async () => {
    const [found] = await ask(primaryUrl, FOLLOWERS);
    return found?.state === 'streaming' && found.sync_state === 'sync';
  });
  return {
    /** Its server: read-only until it is promoted. */
    postgres,
    /** `host:port`, for what leads clients to the server that takes writes. */
    address,
    /**
     * Makes it the primary; returns when it takes writes. End the primary first: two that take writes go apart.
     * Commits of the new primary wait for no standby.
     */
    async promote() {
      const [promoted] = await ask(postgres.url('postgres'), `select pg_promote(true, ${PROMOTION_S})::text as done`);
      if (promoted?.done !== 'true') throw new Error(`the standby was not promoted within ${PROMOTION_S} s`);
    },
    /** Ends it and removes its files. A primary that still runs waits for it no more. */
    async remove() {
      await ask(primaryUrl, 'alter system reset synchronous_standby_names', RELOAD).catch(() => undefined);
      await remove();
      await until('the slot of the standby to be dropped', () => dropSlot(primaryUrl));
    },
  };
}

const FOLLOWERS = `select state, sync_state from pg_stat_replication where application_name = '${NAME}'`;
const RELOAD = 'select pg_reload_conf()';
const OBJECT_IN_USE = '55006';

/** Makes a copy of a server follow it. */
async function follow(primaryUrl: string, files: string): Promise<void> {
  const { hostname, port, username, password } = new URL(primaryUrl);
  const primary = `host=${hostname} port=${port} user=${username} password=${password} application_name=${NAME}`;
  // Read after postgresql.conf. Of several lines the last one counts: what the primary waits for is not for a new
  // primary.
  const lines = [`primary_conninfo = '${primary}'`, `primary_slot_name = '${NAME}'`, `synchronous_standby_names = ''`];
  await appendFile(join(files, 'postgresql.auto.conf'), `${lines.join('\n')}\n`);
  const signal = join(files, 'standby.signal');
  await writeFile(signal, '', { mode: 0o600 });
  const { uid, gid } = await lstat(files);
  await chown(signal, uid, gid);
}

/** @returns false while the server has not noticed yet that the standby is gone; true also when the server itself is */
async function dropSlot(primaryUrl: string): Promise<boolean> {
  try {
    await ask(primaryUrl, `select pg_drop_replication_slot('${NAME}')`);
    return true;
  } catch (error) {
    return errorCode(error) !== OBJECT_IN_USE;
  }
}

/** Runs statements. @returns the rows of the last one */
async function ask(url: string, ...statements: string[]): Promise<Record<string, string>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    let rows: Record<string, string>[] = [];
    for (const statement of statements) ({ rows } = await client.query<Record<string, string>>(statement));
    return rows;
  } finally {
    await client.end();
  }
}
