// One `npm start` as a child process, and the processes that belong to a data folder.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '../../../local/ports.ts';

export const START_DEADLINE_MS = 120_000;
export const FREE_PORTS = {
  ...{ HOOKYARD_PORT: '0', OTEL_EXPORTER_PROMETHEUS_PORT: '0', POSTGRES_PORT: '0' },
  ...{ TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0' },
};

/** One `npm start` (without npm's own process), on free ports by default. */
export class Run {
  readonly child: ChildProcess;
  output = '';
  private errors = '';
  private readonly dataDir: string;
  private readonly exited: Promise<number | null>;

  /**
   * @param project the folder of Hookyard
   * @param dataDir its data folder
   */
  constructor(project: string, dataDir: string, settings: Record<string, string> = {}) {
    this.dataDir = dataDir;
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(HOOKYARD_|TEMPORAL_|DATABASE_(DIRECT_)?URL$)/.test(name),
    );
    this.child = spawn(process.execPath, ['local/bootstrap.js', 'local/main.ts'], {
      cwd: project,
      env: {
        ...Object.fromEntries(inherited),
        ...{ npm_lifecycle_event: '', LOG_LEVEL: 'warn', HOOKYARD_DATA_DIR: dataDir },
        ...FREE_PORTS,
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (chunk) => (this.output += String(chunk)));
    this.child.stderr?.on('data', (chunk) => (this.errors += String(chunk)));
    this.exited = new Promise((resolve) => this.child.once('exit', resolve));
  }

  /** Waits until the last of the first steps is printed. */
  async ready(): Promise<void> {
    const ended = this.exited.then(() => true);
    const printed = async () => this.output.includes('deliveries list') || undefined;
    const stopped = await Promise.race([ended, waitFor(printed, START_DEADLINE_MS).then(() => false)]);
    if (stopped || !(await printed()))
      throw new Error(`npm start did not become ready:\n${this.output}\n${this.errors}`);
  }

  exitCode(): Promise<number | null> {
    return this.exited;
  }

  problems(): string[] {
    return this.errors.trim().split('\n');
  }

  /** The commands of the first steps, in order. */
  printedCommands(): string[] {
    return this.output.split('\n').filter((line) => line.includes('npx hookyard '));
  }

  /** The address of the API, as it reported. */
  printedUrl(): string {
    return /^ {2}API +(\S+)$/m.exec(this.output)?.[1] ?? '';
  }

  supervisorPid(): number {
    const holder: { pid: number } = JSON.parse(readFileSync(join(this.dataDir, 'run', 'supervisor.lock'), 'utf8'));
    return holder.pid;
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGTERM');
    await this.exited;
  }
}

/** Every process whose command line names the folder: what a start has to end. */
export function processesOf(folder: string): number[] {
  // In other locales ps prints ? for what is not ASCII.
  const env = { ...process.env, LC_ALL: 'C.UTF-8' };
  const lines = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,stat=,args='], { encoding: 'utf8', env }).split('\n');
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([pid, state = '', ...args]) => pid && !state.startsWith('Z') && args.join(' ').includes(folder))
    .map(([pid]) => Number(pid));
}
