// The SDKs as their users have them: installed or compiled, each with a program that does what a test asks for
// (sdk/<language>/driver.*). They are kept in the cache folder, by the hash of all that they are made of.
import { type ExecFileException, execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, fillOnce, forgetOthers } from './cache-folder.ts';
import { pythonWith } from './python.ts';

const project = join(import.meta.dirname, '..', '..', '..');
const FOLDER = join(import.meta.dirname, 'sdk');
const log = (line: string) => console.log(`[test set-up] ${line}`);

/** Does something with an SDK. @param input what it needs @returns what the program printed as JSON */
export type Driver = (what: string, input: object) => Promise<unknown>;

/** Installs the Python SDK as `pip install` does, and checks its types, unless that was done for these files. */
export async function pythonSdk(): Promise<Driver> {
  const requirements = join(FOLDER, 'python', 'requirements.txt');
  const python = await pythonWith({ name: 'sdk-needs', what: 'what the Python SDK needs', file: requirements });
  const folder = join(cacheFolder, `test-sdk-python-${hashOf('sdk/python', 'test/support/programs/sdk/python')}`);
  const driver = join(FOLDER, 'python', 'driver.py');
  await fillOnce(folder, 'installed the Python SDK', log, async (unfinished) => {
    // A copy, so that nothing is left beside the sources.
    const source = join(unfinished, 'source');
    cpSync(join(project, 'sdk', 'python'), source, { recursive: true });
    const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--no-build-isolation', '--no-index'];
    await run(python, ['-m', 'pip', 'install', ...options, '--target', join(unfinished, 'installed'), source], project);
    const types = ['-m', 'mypy', '--strict', '--no-error-summary', '--cache-dir', join(unfinished, 'types')];
    await run(python, [...types, '-p', 'hookyard'], unfinished, { MYPYPATH: join(unfinished, 'installed') });
    await run(python, [...types, driver], unfinished, { MYPYPATH: join(unfinished, 'installed') });
    forgetOthers('test-sdk-python-', folder);
  });
  return (what, input) => drive(python, [driver, what], input, { PYTHONPATH: join(folder, 'installed') });
}

/** Compiles the Go SDK with its program, checked by vet and gofmt, unless that was done for these files. */
export async function goSdk(): Promise<Driver> {
  const folder = join(cacheFolder, `test-sdk-go-${hashOf('sdk/go', 'test/support/programs/sdk/go')}`);
  await fillOnce(folder, 'compiled the Go SDK', log, async (unfinished) => {
    cpSync(join(FOLDER, 'go'), unfinished, { recursive: true });
    cpSync(join(project, 'sdk', 'go'), join(unfinished, 'sdk'), { recursive: true });
    const environment = { CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOWORK: 'off' };
    const unformatted = await run('gofmt', ['-l', '.'], unfinished, environment);
    if (unformatted !== '') throw new Error(`gofmt would change ${unformatted}`);
    await run('go', ['vet', '.', 'github.com/hookyard/hookyard-go'], unfinished, environment);
    await run('go', ['build', '-o', 'driver', '.'], unfinished, environment);
    forgetOthers('test-sdk-go-', folder);
  });
  return (what, input) => drive(join(folder, 'driver'), [what], input, {});
}

function hashOf(...folders: string[]): string {
  const hash = createHash('sha256');
  for (const file of globSync(
    folders.map((folder) => `${folder}/**`),
    { cwd: project, exclude: ['**/__pycache__/**'] },
  ).toSorted()) {
    const path = join(project, file);
    if (statSync(path).isFile()) hash.update(file).update(readFileSync(path));
  }
  return hash.digest('hex').slice(0, 12);
}

async function drive(command: string, args: string[], input: object, env: Record<string, string>): Promise<unknown> {
  return JSON.parse(await run(command, args, project, { ...env, PYTHONDONTWRITEBYTECODE: '1' }, JSON.stringify(input)));
}

/** @returns what it printed @throws Error with what it printed */
function run(
  command: string,
  args: string[],
  cwd: string,
  env: Record<string, string> = {},
  input = '',
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 16 * 1024 * 1024 };
    const done = (error: ExecFileException | null, stdout: string, stderr: string) => {
      if (error) reject(new Error(`${command} ${args.join(' ')} failed: ${stdout}${stderr}`, { cause: error }));
      else resolve(stdout);
    };
    execFile(command, args, options, done).stdin?.end(input);
  });
}
