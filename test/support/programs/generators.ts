// Clients that generators make of the API's description, each with a program that uses it (generators/<name>/story.*). Made and compiled
// once for a description: they are kept in the cache folder, by the hash of all that they are made of.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CHECKED_IN as DESCRIPTION } from '../../../api/openapi/write.ts';
import { cacheFolder, fillOnce, forgetOthers } from './cache-folder.ts';
import { goProgram } from './go-program.ts';
import { npmPackages } from './npm-packages.ts';
import { pythonWith } from './python.ts';

const run = promisify(execFile);
const PROJECT = join(import.meta.dirname, '..', '..', '..');
const FOLDER = join(import.meta.dirname, 'generators');
const log = (line: string) => console.log(`[test set-up] ${line}`);
const LARGEST_OUTPUT = 16 * 1024 * 1024;

export const GENERATORS = ['hey-api', 'orval', 'oapi-codegen', 'openapi-python-client'] as const;
export type Generator = (typeof GENERATORS)[number];

/** What starts the program of a client: `{folder}` stands for where it is, `{node}` for this Node. */
type Story = [command: string, ...args: string[]];

/** Makes the client of a folder that has the description and the program, and compiles both. @returns what starts the program */
const MAKERS: Record<Generator, (folder: string) => Promise<Story>> = {
  async 'hey-api'(folder) {
    await runNpm(folder, 'openapi-ts', '--file', 'config.mjs');
    return compileTypeScript(folder);
  },
  async orval(folder) {
    await runNpm(folder, 'orval', '--config', 'config.mjs');
    return compileTypeScript(folder);
  },
  async 'oapi-codegen'(folder) {
    const source = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen';
    const program = await goProgram({ name: 'oapi-codegen', source, pins: join(FOLDER, 'oapi-codegen') }, WITHOUT);
    mkdirSync(join(folder, 'made'));
    await must(folder, program, ['-config', 'config.yaml', 'openapi.json']);
    await must(folder, 'go', ['build', '-o', 'story', '.'], GO);
    return [join('{folder}', 'story')];
  },
  async 'openapi-python-client'(folder) {
    const python = await installPython();
    const args = ['--path', 'openapi.json', '--config', 'config.yaml', '--meta', 'none', '--output-path', 'made'];
    const told = await must(folder, python, ['-m', 'openapi_python_client', 'generate', ...args, '--fail-on-warning']);
    if (/warning/i.test(told)) throw new Error(told);
    await must(folder, python, ['-m', 'compileall', '-q', '.']);
    return [python, 'story.py'];
  },
};

const WITHOUT = 'test/long/generators.test.ts';
const GO = { CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false', GOWORK: 'off' };
const installNpm = () =>
  npmPackages({ name: 'generators', what: 'generators of clients, and Spectral', pins: join(FOLDER, 'npm') });
const installPython = () =>
  pythonWith({
    name: 'openapi-python-client',
    what: 'openapi-python-client',
    file: join(FOLDER, 'openapi-python-client', 'requirements.txt'),
  });

/** @returns what starts the program of a client, and where; made first if need be */
export async function storyOf(name: Generator): Promise<{ command: string; args: string[]; cwd: string }> {
  const cwd = join(cacheFolder, `test-client-${name}-${hashOf(name)}`);
  await fillOnce(cwd, `made and compiled the client of ${name}`, log, async (unfinished) => {
    cpSync(join(FOLDER, name), unfinished, { recursive: true });
    copyFileSync(DESCRIPTION, join(unfinished, 'openapi.json'));
    const story = await MAKERS[name](unfinished);
    writeFileSync(join(unfinished, 'story.json'), JSON.stringify(story));
    forgetOthers(`test-client-${name}-`, cwd);
  });
  const [command = '', ...args] = JSON.parse(readFileSync(join(cwd, 'story.json'), 'utf8')) as Story;
  return { command: command.replace('{folder}', cwd).replace('{node}', process.execPath), args, cwd };
}

/** Of the description, the program, and the versions of the generator. */
function hashOf(name: Generator): string {
  const hash = createHash('sha256').update(readFileSync(DESCRIPTION));
  for (const file of globSync([`${name}/**`, 'npm/*'], { cwd: FOLDER }).toSorted()) {
    const path = join(FOLDER, file);
    if (statSync(path).isFile()) hash.update(file).update(readFileSync(path));
  }
  return hash.digest('hex').slice(0, 12);
}

/** Runs Spectral with its rules for OpenAPI. @returns what it found */
export async function spectralFindings(): Promise<string> {
  const args = ['lint', DESCRIPTION, '--ruleset', join(FOLDER, 'npm', 'spectral.json'), '--fail-severity', 'hint'];
  try {
    return (await run(process.execPath, [await npmProgram('spectral'), ...args], { maxBuffer: LARGEST_OUTPUT })).stdout;
  } catch (error) {
    return String((error as { stdout?: string }).stdout || error);
  }
}

const npmProgram = async (name: string) => join(await installNpm(), 'node_modules', '.bin', name);
const runNpm = async (folder: string, name: string, ...args: string[]) =>
  must(folder, process.execPath, [await npmProgram(name), ...args]);

/** To CommonJS, which takes imports without the endings of files, as generators write them. */
const TSC = [
  ...['--strict', '--skipLibCheck', '--target', 'es2022', '--lib', 'es2022,dom,dom.iterable,dom.asynciterable'],
  ...['--module', 'commonjs', '--moduleResolution', 'node10', '--types', 'node', '--outDir', 'built', 'story.ts'],
];
async function compileTypeScript(folder: string): Promise<Story> {
  await runNpm(folder, 'tsc', '--typeRoots', join(PROJECT, 'node_modules', '@types'), ...TSC);
  return ['{node}', join('built', 'story.js')];
}

/** @returns what it printed @throws Error with what it printed */
async function must(cwd: string, command: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  try {
    const options = { cwd, env: { ...process.env, ...env, FORCE_COLOR: '0' }, maxBuffer: LARGEST_OUTPUT };
    const { stdout, stderr } = await run(command, args, options);
    return stdout + stderr;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(' ')} failed: ${stdout}${stderr}`.slice(0, 20_000), { cause: error });
  }
}
