// A PostgreSQL for one test, beside that of the stack: one that it may kill, or of another version.
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockDataDir } from '../../../local/lock.ts';
import { freePorts } from '../../../local/ports.ts';
import { type OtherPostgres, type Postgres, startPostgres } from '../../../local/postgres/server.ts';
import { barrier, findServerUser } from '../../../local/postgres/programs.ts';
import { chosenPostgres } from './postgres-versions.ts';

const testData = join(import.meta.dirname, '..', '..', '..', '.test-data');

export interface OwnPostgres {
  postgres: Postgres;
  /** `host:port`. */
  address: string;
  dataDir: string;
  /** Ends it and removes its files. */
  remove(): Promise<void>;
}

/**
 * Starts one.
 * @param name what the name of its folder begins with
 * @param options.settings of the server, instead of the usual ones
 * @param options.other which PostgreSQL; by default the one that the stack has
 */
export async function startOwnPostgres(
  name: string,
  options: { settings?: Record<string, string>; other?: OtherPostgres } = {},
): Promise<OwnPostgres> {
  mkdirSync(testData, { recursive: true });
  // Up to 15, its programs must reach the folder by its path.
  const isClosed = barrier(join(testData, name), await findServerUser(() => {})) !== undefined;
  const dataDir = mkdtempSync(join(isClosed ? tmpdir() : testData, `${name}-`));
  chmodSync(dataDir, 0o711);
  return startIn(dataDir, options);
}

/** The same on files that are there, or in a folder that is empty. */
export async function startIn(
  dataDir: string,
  { settings, other }: { settings?: Record<string, string>; other?: OtherPostgres },
): Promise<OwnPostgres> {
  const chosen = chosenPostgres();
  for (const folder of ['run', 'logs']) mkdirSync(join(dataDir, folder), { recursive: true, mode: 0o711 });
  const unlock = await lockDataDir(dataDir);
  const removeFiles = () => {
    unlock();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    const [port = 0] = await freePorts(1);
    const all = { ...chosen.settings, ...settings };
    const postgres = await startPostgres({ dataDir, port, settings: all, other: other ?? chosen.other, log: () => {} });
    return {
      postgres,
      address: `127.0.0.1:${port}`,
      dataDir,
      async remove() {
        await postgres.service.stop();
        removeFiles();
      },
    };
  } catch (error) {
    removeFiles();
    throw error;
  }
}
