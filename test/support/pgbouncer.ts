// A real PgBouncer in front of PostgreSQL, which gives its connections to transactions. It is the machine's own (Debian: apt-get
// install pgbouncer); nothing is downloaded here.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, chmodSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import pg from 'pg';
import { freePorts } from '../../local/ports.ts';
import { until } from './until.ts';

// Not in everyone's PATH.
const SYSTEM_FOLDERS = ['/usr/sbin', '/usr/local/sbin'];

interface PgBouncer {
  databaseUrl: string;
  stop(): Promise<void>;
}

/** Leaves a test out when there is no PgBouncer on this machine, and says so. */
export function requirePgBouncer(context: Mocha.Context): void {
  if (program() !== undefined) return;
  console.log('    PgBouncer is not installed: "apt-get install pgbouncer" lets this test run');
  context.skip();
}

/** Starts it on a free port. @param databaseUrl the database, with user and password */
export async function startPgBouncer(databaseUrl: string): Promise<PgBouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-pgbouncer-'));
  const [port = 0] = await freePorts(1);
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(file, configuration(new URL(databaseUrl), port));
  // It refuses to run as root, and whom it runs as must be able to read this.
  const asNobody = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  chmodSync(folder, 0o755);
  const child = spawn(program() ?? 'pgbouncer', [...asNobody, file], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      output += part;
    });
  }
  const pooledUrl = new URL(databaseUrl);
  pooledUrl.host = `127.0.0.1:${port}`;
  const stop = () => end(child, folder);
  try {
    await until('PgBouncer to connect', async () => {
      if (child.exitCode !== null) throw new Error(`PgBouncer ended:\n${output}`);
      const client = new pg.Client({ connectionString: pooledUrl.href });
      await client.connect();
      await client.end();
      return true;
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { databaseUrl: pooledUrl.href, stop };
}

function program(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...SYSTEM_FOLDERS];
  return folders.map((folder) => join(folder, 'pgbouncer')).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function configuration({ hostname, port: target, username, password }: URL, port: number): string {
  const login = `user=${decodeURIComponent(username)} password='${decodeURIComponent(password)}'`;
  return `[databases]
* = host=${hostname} port=${target} ${login}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
`;
}

async function end(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  rmSync(folder, { recursive: true, force: true });
}
