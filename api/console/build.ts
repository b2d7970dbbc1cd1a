// node local/bootstrap.js api/console/build.ts [folder]: builds the console where the API looks for it, once for each
// state of its sources; with a folder, into that; with --install it only installs what the build and the type check
// need. `npm start` runs it beside the other servers, the Dockerfile in a stage of its own.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { fillOnce } from '../../core/config/folders.ts';
import { consoleFolder, sources } from './folder.ts';

const COMPRESSED = /\.(js|css|svg)$/;
// 11 takes three times as long for 3 % less.
const BROTLI_QUALITY = 10;
const LOOK_AGAIN_MS = 200;
const MOST_INSTALL_MS = 600_000;

const [, , given] = process.argv;
if (given === '--install') await install();
else {
  const folder = given === undefined ? consoleFolder() : resolve(given);
  if (!existsSync(join(folder, 'index.html'))) await build(folder);
}

async function build(target: string): Promise<void> {
  const isBuilt = (folder: string) => existsSync(join(folder, 'index.html'));
  const known = consoleFolder();
  if (isBuilt(known)) return cpSync(known, target, { recursive: true });
  const vite = [join('node_modules', 'vite', 'bin', 'vite.js'), 'build', '--logLevel', 'warn', '--emptyOutDir'];
  await fillOnce(
    target,
    async (unfinished) => {
      await install();
      await run(process.execPath, [...vite, '--outDir', unfinished]);
      compress(join(unfinished, 'assets'));
      // In the image another user reads it.
      chmodSync(unfinished, 0o755);
    },
    () => isBuilt(target),
  );
}

/** What the lock file says, unless it is there; one process at a time, for each replaces the folder of the other. */
async function install(): Promise<void> {
  const name = createHash('sha256').update(sources).digest('hex').slice(0, 16);
  const unlock = await lockFile(join(tmpdir(), `hookyard-console-${name}.lock`));
  try {
    await installUnlessThere();
  } finally {
    unlock();
  }
}

/** Waits while a living process holds it, for ten minutes at most. @returns what frees it */
async function lockFile(path: string): Promise<() => void> {
  for (;;) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' });
      const unlock = () => rmSync(path, { force: true });
      process.once('exit', unlock);
      return unlock;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      await new Promise((passed) => setTimeout(passed, LOOK_AGAIN_MS));
      if (!isHeld(path)) rmSync(path, { force: true });
    }
  }
}

/** Another program may have the pid by now: a file of that age was left by a process that was killed. */
function isHeld(path: string): boolean {
  try {
    return Date.now() - statSync(path).mtimeMs < MOST_INSTALL_MS && process.kill(Number(readFileSync(path, 'utf8')), 0);
  } catch {
    return false;
  }
}

async function installUnlessThere(): Promise<void> {
  const marker = join(sources, 'node_modules', '.hookyard-installed');
  const system = `${process.platform}-${process.arch}`;
  const wanted = createHash('sha256')
    .update(readFileSync(join(sources, 'package-lock.json')))
    .update(system)
    .digest('hex');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return;
  const npm = process.env.npm_execpath;
  const args = ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'];
  await (npm?.endsWith('.js') ? run(process.execPath, [npm, ...args]) : run('npm', args));
  writeFileSync(marker, wanted);
}

function run(command: string, args: string[]): Promise<void> {
  // The settings of npm that calls this are those of another project.
  const own = Object.entries(process.env).filter(([name]) => !/^npm_(config_|package_|lifecycle_)/.test(name));
  const child = spawn(command, args, {
    cwd: sources,
    env: { ...Object.fromEntries(own), NODE_ENV: command === 'npm' || args.includes('ci') ? '' : 'production' },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  process.once('exit', () => child.kill());
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('exit', (code, signal) =>
      code === 0 ? done() : fail(new Error(`${command} ${args[0] ?? ''} exited with ${code ?? signal}`)),
    );
  });
}

function compress(assets: string): void {
  for (const name of readdirSync(assets).filter((each) => COMPRESSED.test(each))) {
    const bytes = readFileSync(join(assets, name));
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    };
    writeFileSync(join(assets, `${name}.br`), brotliCompressSync(bytes, { params }));
    writeFileSync(join(assets, `${name}.gz`), gzipSync(bytes, { level: 9 }));
  }
}
