// The stacks of many parts: one is started, gets its roles, schemas and migrations, and is stopped; the others start on
// copies of its data folder. What each would do again is a third of what its start costs.
import { execFile } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { lockDataDir } from '../../local/lock.ts';
import type { Stack } from '../../local/stack.ts';
import { makeTemplate } from './database/own-database.ts';

// Temporal's ports are not among them: each server chooses its own.
const COPIED = ['postgres', 'postgres-password', 'postgres-roles.json'];

/** Settings of PostgreSQL that keep what is copied small. */
export const SMALL_LOG = { min_wal_size: '32MB' };

export interface StackTemplate {
  /** Makes a data folder. */
  copyTo(folder: string): Promise<void>;
  remove(): void;
}

/**
 * Makes a template of a running stack, which ends with it.
 * @param stack whose databases are migrated
 */
export async function templateOf(stack: Stack): Promise<StackTemplate> {
  await makeTemplate(stack.databaseUrl, new URL(stack.runtimeUrl).username);
  await stack.temporal?.stop();
  await forgetServers(stack.databaseUrl);
  await stack.stop();
  const { dataDir } = stack;
  // Other runs remove what nobody holds.
  const unlock = await lockDataDir(dataDir);
  return {
    async copyTo(folder) {
      mkdirSync(folder, { mode: 0o711 });
      const from = COPIED.map((name) => join(dataDir, name));
      // Keeps the owner of PostgreSQL's files; node:fs does not.
      await promisify(execFile)('cp', ['-a', ...from, folder]);
    },
    remove() {
      unlock();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** A server looks for those that were there a moment ago, and these have ended. */
async function forgetServers(databaseUrl: string): Promise<void> {
  const client = new pg.Client({
    connectionString: Object.assign(new URL(databaseUrl), { pathname: '/temporal' }).href,
  });
  await client.connect();
  try {
    await client.query('truncate cluster_membership');
  } finally {
    await client.end();
  }
}
