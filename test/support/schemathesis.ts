// Schemathesis: a program that makes requests of the API's description and compares the answers with it. It is written in
// Python; the versions of schemathesis/requirements.txt are installed once into the cache folder.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheFolder, fillOnce } from './cache-folder.ts';

const REQUIREMENTS = join(import.meta.dirname, 'schemathesis', 'requirements.txt');
const log = (line: string) => console.log(`[test set-up] ${line}`);

/** How long a hook may take that installs it. */
export const INSTALL_MS = 10 * 60_000;

/**
 * Installs Schemathesis unless it is there.
 * @returns the Python that has it
 * @throws Error that says what to install
 */
export async function installSchemathesis(): Promise<string> {
  const hash = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex').slice(0, 12);
  const folder = join(cacheFolder, `test-schemathesis-${hash}-${process.platform}-${process.arch}`);
  await fillOnce(folder, 'installed Schemathesis', log, async (unfinished) => {
    log('Schemathesis is not on this machine yet; installing it with pip, which takes a minute once');
    await must(['python3', '-m', 'venv', unfinished]);
    await must([
      join(unfinished, 'bin', 'python'),
      ...['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', '-r', REQUIREMENTS],
    ]);
  });
  // Not bin/schemathesis, which names the folder in which it was installed.
  return join(folder, 'bin', 'python');
}

async function must([command = '', ...args]: string[]): Promise<void> {
  const { code, output } = await run(command, args, process.cwd());
  if (code === 0) return;
  throw new Error(
    `Schemathesis could not be installed: install Python 3.10 or newer with its modules venv and pip (Debian: apt install python3-venv), and let pip reach its package index; or leave out test/contract/schemathesis.test.ts. ${command} ${args.join(' ')}: ${output}`,
  );
}

export interface SchemathesisRun {
  url: string;
  /** schemathesis.toml */
  config: string;
  /** Of `schemathesis run`. */
  args: string[];
}

/** Runs Schemathesis against a service. @returns its exit code, 0 when it found nothing, and what it printed */
export async function runSchemathesis(
  python: string,
  { url, config, args }: SchemathesisRun,
): Promise<{ code: number; output: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'hookyard-schemathesis-'));
  try {
    const configFile = join(folder, 'schemathesis.toml');
    writeFileSync(configFile, config);
    return await run(
      python,
      ['-m', 'schemathesis.cli', '--no-color', '--config-file', configFile, 'run', `${url}/openapi.json`, ...args],
      folder,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(command: string, args: string[], cwd: string): Promise<{ code: number; output: string }> {
  const child = spawn(command, args, {
    cwd,
    // FORCE_COLOR, whatever its value, means a terminal to Python's rich, and its output could not be read here.
    env: { ...process.env, PYTHONUTF8: '1', FORCE_COLOR: undefined, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      output += part;
    });
  }
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: -1, output: error.message }));
    child.once('close', (code, signal) => resolve({ code: code ?? -1, output: output + (signal ?? '') }));
  }).then((ended) => {
    process.off('exit', kill);
    return ended as { code: number; output: string };
  });
}
