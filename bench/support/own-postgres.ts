// A throw-away PostgreSQL with a migrated database, for benches that need no Temporal.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings } from '../../core/config/config.ts';
import { onEndRequest } from '../../core/process/end-request.ts';
import { prepareDatabase } from '../../db/schema/prepare.ts';
import { lockDataDir } from '../../local/lock.ts';
import { freePorts } from '../../local/ports.ts';
import { startPostgres } from '../../local/postgres/server.ts';

export interface OwnPostgres {
  databaseUrl: string;
  /** Of the server; one of its children serves each connection. */
  pid: number;
  organizationId: string;
  /** For a process of Hookyard on this database. */
  env: Record<string, string>;
}

/**
 * Starts one, and removes it when the work has ended.
 * @param name what the name of its folder begins with
 * @param env besides what every process on it needs
 */
export async function withPostgres(
  name: string,
  env: Record<string, string>,
  work: (postgres: OwnPostgres) => Promise<void>,
): Promise<void> {
  const parent = join(import.meta.dirname, '..', '..', '.test-data');
  mkdirSync(parent, { recursive: true });
  const dataDir = mkdtempSync(join(parent, `${name}-`));
  for (const folder of ['run', 'logs']) mkdirSync(join(dataDir, folder), { mode: 0o711 });
  const unlock = await lockDataDir(dataDir);
  const [port = 0] = await freePorts(1);
  const postgres = await startPostgres({ dataDir, port, log: (line) => console.log(line) });
  let ended: Promise<void> | undefined;
  const end = () => {
    ended ??= postgres.service.stop().then(() => {
      unlock();
      rmSync(dataDir, { recursive: true, force: true });
    });
    return ended;
  };
  onEndRequest(() => void end().finally(() => process.exit(130)));
  try {
    await postgres.setUpRoles();
    const databaseUrl = postgres.url('hookyard');
    const whole = {
      DATABASE_URL: databaseUrl,
      // Nothing here reaches Temporal; the API connects to it when it has something to tell.
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      HOOKYARD_DATA_DIR: dataDir,
      HOOKYARD_PORT: '0',
      HOOKYARD_DRAIN_SECONDS: '0',
      LOG_LEVEL: 'error',
      ...env,
    };
    const { organization } = await prepareDatabase(readSettings(whole), databaseUrl);
    await work({ databaseUrl, pid: postgres.service.pid ?? 0, organizationId: organization.id, env: whole });
  } finally {
    await end();
  }
}
