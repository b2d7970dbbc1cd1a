// Programs in Python that tests need: the versions of a requirements file are installed once into the cache folder.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, fillOnce } from './cache-folder.ts';
import { outputOf } from './children.ts';
import { leaveOutWithout } from './machine-programs.ts';

const log = (line: string) => console.log(`[test set-up] ${line}`);

const HOW_TO_INSTALL =
  'Python 3.11 or newer with its module venv is not installed: "apt-get install python3-venv" or "brew install python" lets this test run';

/** How long a hook may take that installs something. */
export const INSTALL_MS = 10 * 60_000;

/** Leaves tests out when there is no Python on this machine. */
export function requirePython(context: Mocha.Context): void {
  const { status } = spawnSync('python3', ['-c', 'import ensurepip, venv']);
  leaveOutWithout(status === 0 ? null : HOW_TO_INSTALL, 'REQUIRE_PYTHON', context);
}

/**
 * Installs the packages of a requirements file, which names all of them with their versions, unless they are there.
 * @param what they are, for the log and the error
 * @returns the Python that has them
 * @throws Error that says what to install
 */
export async function pythonWith({ name, what, file }: { name: string; what: string; file: string }): Promise<string> {
  const hash = createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 12);
  const folder = join(cacheFolder, `test-${name}-${hash}-${process.platform}-${process.arch}`);
  await fillOnce(folder, `installed ${what}`, log, async (unfinished) => {
    log(`${what}: not on this machine yet; installing with pip, which takes a minute once`);
    await must(what, ['python3', '-m', 'venv', unfinished]);
    await must(what, [
      join(unfinished, 'bin', 'python'),
      ...['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', '-r', file],
    ]);
  });
  // Not the programs beside it, which name the folder in which they were installed.
  return join(folder, 'bin', 'python');
}

async function must(what: string, [command = '', ...args]: string[]): Promise<void> {
  const { code, output } = await runPython(command, args, process.cwd());
  if (code === 0) return;
  throw new Error(
    `${what} could not be installed: install Python 3.11 or newer with its modules venv and pip (Debian: apt install python3-venv), and let pip reach its package index; or leave out the test that needs it. ${command} ${args.join(' ')}: ${output}`,
  );
}

/** @returns its exit code, and what it printed */
export function runPython(command: string, args: string[], cwd: string): Promise<{ code: number; output: string }> {
  const child = spawn(command, args, {
    cwd,
    // FORCE_COLOR, whatever its value, means a terminal to Python's rich, and its output could not be read here.
    env: { ...process.env, PYTHONUTF8: '1', FORCE_COLOR: undefined, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const output = outputOf(child);
  return new Promise<{ code: number; output: string }>((resolve) => {
    child.once('error', (error) => resolve({ code: -1, output: error.message }));
    child.once('close', (code, signal) => resolve({ code: code ?? -1, output: output() + (signal ?? '') }));
  }).finally(() => process.off('exit', kill));
}
