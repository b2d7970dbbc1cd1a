// The command line as people run it: its bin file as a child process, against the service under test.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { TestOrganization } from '../service.ts';
import { useOrganization } from '../use-hookyard.ts';

const BIN = join(import.meta.dirname, '..', '..', '..', 'cli', 'hookyard.js');
const DEADLINE_MS = 30_000;
const IN_TERMINAL = ['python3', '-c', 'import pty, sys; pty.spawn(sys.argv[1:])', process.execPath];

/** How a command ended. */
export interface Ran {
  code: number | string | null;
  stdout: string;
  stderr: string;
}

/** A command that is under way. */
export interface Running {
  stdout(): string;
  stderr(): string;
  signal(name: NodeJS.Signals): void;
  /** Presses keys, of a command that runs in a terminal. */
  type(keys: string): void;
  /** Reads no further, like `head` when it has enough. */
  stopReading(...streams: ('stdout' | 'stderr')[]): void;
  ended: Promise<Ran>;
}

export interface CommandLine {
  /** Runs a command to its end, whatever that is. */
  run(args: string[], options?: RunOptions): Promise<Ran>;
  /** Runs a command that must end with 0; @returns what it printed */
  ok(...args: string[]): Promise<string>;
  /** Runs a command with --json that must end with 0; @returns what it printed, parsed */
  json<Value = Record<string, unknown>>(...args: string[]): Promise<Value>;
  start(args: string[], options?: RunOptions): Running;
}

export interface RunOptions {
  env?: Record<string, string | undefined>;
  /** What is on stdin; nothing when not given. */
  input?: string;
  /** Whether it runs in a terminal, which Python makes; stdout and stderr are one then. */
  inTerminal?: boolean;
  /** When it is killed at the latest; for a command that serves several tests. */
  deadlineMs?: number;
}

// Not that of the user who runs the tests.
const STATE = mkdtempSync(join(tmpdir(), 'hookyard-cli-'));
process.on('exit', () => rmSync(STATE, { recursive: true, force: true }));

const running = new Set<ChildProcess>();

export interface Shell {
  organization: TestOrganization;
  cli: CommandLine;
  /** Expects a command to fail with a code and a line on stderr, and to print nothing. @returns stderr */
  fails(code: number, message: RegExp, ...args: string[]): Promise<string>;
  /** Writes a file that is removed at the end. @returns its path */
  file(name: string, content: string | Buffer): string;
}

/** The command line of an organization, for the tests of this `describe`. */
export function useCommandLine(): Shell {
  const organization = useOrganization();
  const folder = mkdtempSync(join(STATE, 'files-'));
  const cli = commandLine(organization);
  return {
    organization,
    cli,
    async fails(code, message, ...args) {
      const ran = await cli.run(args);
      expect([ran.code, ran.stdout], ran.stderr).to.deep.equal([code, '']);
      expect(ran.stderr).to.match(message);
      return ran.stderr;
    },
    file(name, content) {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    },
  };
}

/** The command line with the address and the key of an organization in its environment. */
export function commandLine(organization: Pick<TestOrganization, 'api' | 'token'>): CommandLine {
  function start(
    args: string[],
    { env = {}, input, inTerminal = false, deadlineMs = DEADLINE_MS }: RunOptions = {},
  ): Running {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('HOOKYARD_'));
    const [program = '', ...before] = inTerminal ? IN_TERMINAL : [process.execPath];
    const child = spawn(program, [...before, BIN, ...args], {
      env: {
        ...Object.fromEntries(inherited),
        ...{ XDG_STATE_HOME: STATE, HOOKYARD_URL: organization.api.url, HOOKYARD_API_KEY: organization.token },
        ...env,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    running.add(child);
    const text = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (part: string) => {
        text[name] += part;
      });
    if (!inTerminal) child.stdin.end(input);
    const timer = setTimeout(() => child.kill('SIGKILL'), deadlineMs);
    const ended = once(child, 'close').then(([code, signal]: unknown[]): Ran => {
      clearTimeout(timer);
      running.delete(child);
      return { code: (code ?? signal) as number | string, ...text };
    });
    return {
      stdout: () => text.stdout,
      stderr: () => text.stderr,
      signal: (name) => void child.kill(name),
      type: (keys) => void child.stdin.write(keys),
      stopReading: (...streams) => void streams.map((name) => child[name].destroy()),
      ended,
    };
  }
  const run = (args: string[], options?: RunOptions) => start(args, options).ended;
  const ok = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(args);
    expect(code, `hookyard ${args.join(' ')}: ${stderr}`).to.equal(0);
    return stdout;
  };
  return { start, run, ok, json: async (...args) => JSON.parse(await ok(...args, '--json')) };
}

after('ends the commands that the tests started', () => {
  for (const child of running) child.kill('SIGKILL');
});
