// A base backup of a running PostgreSQL: what pg_basebackup does, by the functions that it uses (PostgreSQL manual,
// "Making a Base Backup Using the Low Level API"). The embedded PostgreSQL comes without that program, and without
// pg_dump.
import { chmod, chown, copyFile, lstat, mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { errorCode } from '../../../local/errors.ts';

// Where there are any: the data folder of a stack has both.
const PASSWORD_FILES = ['postgres-password', 'postgres-roles.json'];
// Of the running server alone; the manual says of pg_replslot to leave its contents out.
const NOT_COPIED = ['postmaster.pid', 'postmaster.opts', 'pg_wal', 'pg_replslot'];

/**
 * Copies the data folder of the server that a database belongs to, while it serves, and what a start of the copy needs.
 * The copy has everything that was committed before this began, and nothing of what is committed after it has returned.
 * @param databaseUrl a database of that server, with a superuser
 * @param dataDir where the copy goes, as the data folder of an embedded PostgreSQL (local/postgres/server.ts)
 */
export async function takeBaseBackup(databaseUrl: string, dataDir: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ files: string }>(`select current_setting('hookyard.data_folder') as files`);
    const files = rows[0]?.files ?? '';
    const copy = join(dataDir, 'postgres');
    // Other users than this one may own the copy, which they reach through this folder.
    await mkdir(dataDir, { recursive: true, mode: 0o711 });
    // Keeps the log since the start of the backup from being removed; it ends with this connection.
    await client.query(`select pg_create_physical_replication_slot('hookyard_test_backup', true, true)`);
    const { rows: started } = await client.query<{ first: string }>(
      `select pg_walfile_name(pg_backup_start('hookyard', fast => true)) as first`,
    );
    await copyTree(files, copy, NOT_COPIED);
    const { rows: stopped } = await client.query<{ labelfile: string; last: string }>(
      'select labelfile, pg_walfile_name(lsn) as last from pg_backup_stop(wait_for_archive => false)',
    );
    await copyLog(join(files, 'pg_wal'), join(copy, 'pg_wal'), started[0]?.first ?? '', stopped[0]?.last ?? '');
    const { uid, gid } = await lstat(files);
    const label = join(copy, 'backup_label');
    await writeFile(label, stopped[0]?.labelfile ?? '', { mode: 0o600 });
    await mkdir(join(copy, 'pg_replslot'), { mode: 0o700 });
    for (const made of [label, join(copy, 'pg_wal'), join(copy, 'pg_replslot')]) await chown(made, uid, gid);
    for (const name of PASSWORD_FILES) await copyTree(join(dirname(files), name), join(dataDir, name));
  } finally {
    await client.end();
  }
}

/** The write-ahead log from one segment to another; besides it there are recycled files, up to a gigabyte. */
async function copyLog(from: string, to: string, first: string, last: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  for (const name of await readdir(from)) {
    const isNeeded = /^[0-9A-F]{24}$/.test(name) && name >= first && name <= last;
    if (isNeeded) await copyTree(join(from, name), join(to, name));
  }
}

/**
 * Copies a file or a folder with its owners and rights. What vanishes meanwhile is nothing that a restore needs.
 * @param without names in the folder itself that are left out
 */
export async function copyTree(from: string, to: string, without: string[] = []): Promise<void> {
  try {
    const found = await lstat(from);
    if (found.isDirectory()) {
      await mkdir(to, { recursive: true });
      for (const name of await readdir(from)) {
        if (!without.includes(name)) await copyTree(join(from, name), join(to, name));
      }
    } else {
      await copyFile(from, to);
    }
    await chown(to, found.uid, found.gid);
    await chmod(to, found.mode);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}
