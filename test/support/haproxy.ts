// A real haproxy in front of API processes, as docs/deploying.md recommends it but without retries, so that every failure shows.
// It is the machine's own (Debian: apt-get install haproxy); nothing is downloaded here.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePorts } from '../../local/ports.ts';
import { until } from './until.ts';

const HOW_TO_INSTALL =
  'haproxy is not installed: "apt-get install haproxy" or "brew install haproxy" lets this test run';
// Not in everyone's PATH.
const SYSTEM_FOLDERS = ['/usr/sbin', '/usr/local/sbin'];
// Columns of `show stat` (haproxy management guide, section 9.1).
const SERVER_NAME = 1;
const STATUS = 17;

export interface Balancer {
  url: string;
  /** What haproxy thinks of each server, in the order of their ports: `UP`, `DOWN`, `DOWN 1/2`. */
  states(): Promise<string[]>;
  close(): Promise<void>;
}

/** Leaves a test out when there is no haproxy on this machine, and says so. @throws Error instead with `REQUIRE_HAPROXY` (.ci/run) */
export function requireHaproxy(context: Mocha.Context): void {
  if (program() !== undefined) return;
  if (process.env.REQUIRE_HAPROXY) throw new Error(HOW_TO_INSTALL);
  console.log(`    ${HOW_TO_INSTALL}`);
  context.skip();
}

/** From which it connects when it names clients, so that it can be told from the tests' own connections. */
export const BALANCER_ADDRESS = '127.0.0.3';

/** How haproxy names the client to the servers. */
export type ClientNaming = 'option forwardfor' | 'send-proxy' | 'send-proxy-v2';

/** Starts haproxy on a free port, with one server for each port on this machine; resolves when all of them are up. */
export async function startBalancer(ports: number[], naming?: ClientNaming): Promise<Balancer> {
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-haproxy-'));
  const socket = join(folder, 'admin.sock');
  const [port = 0] = await freePorts(1);
  writeFileSync(join(folder, 'haproxy.cfg'), configuration(port, ports, socket, naming));
  const child = spawn(program() ?? 'haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      output += part;
    });
  }
  const states = () => statesOf(socket);
  const close = () => end(child, folder);
  try {
    await until('haproxy to find every server up', async () => {
      if (child.exitCode !== null) throw new Error(`haproxy ended:\n${output}`);
      return (await states()).every((state) => state === 'UP');
    });
  } catch (error) {
    await close();
    throw error;
  }
  return { url: `http://127.0.0.1:${port}`, states, close };
}

function program(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...SYSTEM_FOLDERS];
  return folders.map((folder) => join(folder, 'haproxy')).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

// "timeout check": on a busy machine a process that is well may take a while to answer.
function configuration(port: number, ports: number[], socket: string, naming?: ClientNaming): string {
  const proxy = naming?.startsWith('send-proxy') ? naming : '';
  const ofServer = naming === undefined ? '' : `source ${BALANCER_ADDRESS} ${proxy}`;
  return `global
  stats socket ${socket} mode 600
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout check 5s
  option httpchk GET /readyz
  retries 0
  http-reuse always
  ${naming === 'option forwardfor' ? naming : ''}
listen hookyard
  bind 127.0.0.1:${port}
  balance roundrobin
  default-server check inter 500ms fall 2 rise 2 ${ofServer}
${ports.map((server) => `  server api-${server} 127.0.0.1:${server}\n`).join('')}`;
}

async function statesOf(socket: string): Promise<string[]> {
  const connection = connect(socket);
  connection.end('show stat\n');
  const lines = (await text(connection)).trim().split('\n').slice(1);
  const columns = lines.map((line) => line.split(','));
  return columns.filter((row) => row[SERVER_NAME]?.startsWith('api-')).map((row) => row[STATUS] ?? '');
}

async function end(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  rmSync(folder, { recursive: true, force: true });
}
