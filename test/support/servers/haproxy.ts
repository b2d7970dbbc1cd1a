// A real haproxy in front of API processes, as docs/operate/install.md recommends it but without retries, so that every
// failure shows. It is the machine's own (Debian: apt-get install haproxy); nothing is downloaded here.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePorts } from '../../../local/ports.ts';
import { isRunning, killed, outputOf } from '../programs/children.ts';
import { leaveOutWithout, machineProgram } from '../programs/machine-programs.ts';
import { until } from '../until.ts';

const HOW_TO_INSTALL = 'haproxy is not installed: "apt-get install haproxy" or "brew install haproxy" lets this run';
// Columns of `show stat` (haproxy management guide, section 9.1).
const SERVER_NAME = 1;
const STATUS = 17;

export type Balancer = Awaited<ReturnType<typeof startBalancer>>;

/** Leaves a test out when there is no haproxy on this machine. */
export const requireHaproxy = (context: Mocha.Context): void =>
  leaveOutWithout(machineProgram('haproxy') === undefined ? HOW_TO_INSTALL : null, 'REQUIRE_HAPROXY', context);

/** From which it connects when it names clients, so that it can be told from the tests' own connections. */
export const BALANCER_ADDRESS = '127.0.0.3';

/**
 * Starts haproxy on a free port, with one server for each port on this machine; resolves when all of them are up.
 * @param options.namesClients whether it adds X-Forwarded-For
 */
export async function startBalancer(ports: number[], options: { namesClients?: true } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-haproxy-'));
  const socket = join(folder, 'admin.sock');
  const file = join(folder, 'haproxy.cfg');
  const [port = 0] = await freePorts(1);
  writeFileSync(file, configuration(port, ports, socket, options.namesClients ?? false));
  let child: ChildProcess | undefined;
  /** @param areUp what is waited for, of the states of all servers */
  const launch = async (areUp: (states: string[]) => boolean) => {
    const launched = spawn(machineProgram('haproxy') ?? 'haproxy', ['-db', '-f', file], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = launched;
    const output = outputOf(launched);
    await until('haproxy to find its servers up', async () => {
      if (!isRunning(launched)) throw new Error(`haproxy ended:\n${output()}`);
      return areUp(await statesOf(socket));
    });
  };
  const balancer = {
    url: `http://127.0.0.1:${port}`,
    /** What haproxy thinks of each server, in the order of their ports: `UP`, `DOWN`, `DOWN 1/2`. */
    states: () => statesOf(socket),
    async close(): Promise<void> {
      if (child) await killed(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    // haproxy takes servers for up until it has asked them.
    await launch((states) => states.every(isUp));
  } catch (error) {
    await balancer.close();
    throw error;
  }
  return balancer;
}

const isUp = (state: string) => state === 'UP';

// "timeout check": on a busy machine a process that is well may take a while to answer.
function configuration(port: number, ports: number[], socket: string, namesClients: boolean): string {
  const ofServer = namesClients ? `source ${BALANCER_ADDRESS}` : '';
  return `global
  stats socket ${socket} mode 600 level admin
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout check 5s
  option httpchk GET /readyz
  retries 0
  http-reuse always
  ${namesClients ? 'option forwardfor' : ''}
listen hookyard
  bind 127.0.0.1:${port}
  balance roundrobin
  default-server check inter 500ms fall 2 rise 2 ${ofServer}
${ports.map((server) => `  server api-${server} 127.0.0.1:${server}\n`).join('')}`;
}

async function statesOf(socket: string): Promise<string[]> {
  return [...(await rowsOf(socket)).values()].map((row) => row[STATUS] ?? '');
}

/** The columns of each server, by its name. */
async function rowsOf(socket: string): Promise<Map<string, string[]>> {
  const lines = (await ask(socket, 'show stat')).trim().split('\n').slice(1);
  const rows = lines.map((line) => line.split(','));
  return new Map(rows.flatMap((row) => (row[SERVER_NAME]?.startsWith('api-') ? [[row[SERVER_NAME], row]] : [])));
}

function ask(socket: string, command: string): Promise<string> {
  const connection = connect(socket);
  connection.end(`${command}\n`);
  return text(connection);
}
