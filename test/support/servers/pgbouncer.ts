// A real PgBouncer in front of PostgreSQL. It is the machine's own (Debian: apt-get install pgbouncer); nothing is
// downloaded here.
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePorts } from '../../../local/ports.ts';
import { killed, outputOf } from '../programs/children.ts';
import { leaveOutWithout, machineProgram } from '../programs/machine-programs.ts';
import { until } from '../until.ts';

const HOW_TO_INSTALL = 'PgBouncer is not installed: "apt-get install pgbouncer" lets this run';

export type PgBouncer = Awaited<ReturnType<typeof startPgBouncer>>;

/** Leaves a test out when there is no PgBouncer on this machine. */
export const requirePgBouncer = (context: Mocha.Context): void =>
  leaveOutWithout(machineProgram('pgbouncer') === undefined ? HOW_TO_INSTALL : null, 'REQUIRE_PGBOUNCER', context);

/**
 * Starts it on a free port.
 * @param databaseUrl the database, with the user and password for all connections
 * @param settings of its section `pgbouncer`; the others have its defaults
 */
export async function startPgBouncer(databaseUrl: string, settings: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-pgbouncer-'));
  const [port = 0] = await freePorts(1);
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(file, configuration(new URL(databaseUrl), port, settings));
  // Whom it runs as must be able to read this.
  chmodSync(folder, 0o755);
  const urlOf = (url: string) => Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href;
  let child: ChildProcess | undefined;
  const pooler = {
    /** Through it to the database it was started for. */
    databaseUrl: urlOf(databaseUrl),
    /** Through it to another database of the same server. */
    urlOf,
    /** SIGKILL; clients find nobody until `start`. */
    kill: async (): Promise<void> => void (child && (await killed(child))),
    /** On the same port. */
    async start(): Promise<void> {
      child = await launch(file, pooler.databaseUrl);
    },
    async stop(): Promise<void> {
      await pooler.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await pooler.start().catch(async (error: unknown) => {
    await pooler.stop();
    throw error;
  });
  return pooler;
}

async function launch(file: string, databaseUrl: string): Promise<ChildProcess> {
  // It refuses to run as root.
  const asNobody = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = spawn(machineProgram('pgbouncer') ?? 'pgbouncer', [...asNobody, file], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = outputOf(child);
  try {
    await until('PgBouncer to connect', async () => {
      if (child.exitCode !== null) throw new Error(`PgBouncer ended:\n${output()}`);
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      await client.end();
      return true;
    });
  } catch (error) {
    await killed(child);
    throw error;
  }
  return child;
}

function configuration(
  { hostname, port: target, username, password }: URL,
  port: number,
  settings: Record<string, string>,
): string {
  const login = `user=${decodeURIComponent(username)} password='${decodeURIComponent(password)}'`;
  return `[databases]
* = host=${hostname} port=${target} ${login}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
${Object.entries(settings)
  .map(([name, value]) => `${name} = ${value}\n`)
  .join('')}`;
}
