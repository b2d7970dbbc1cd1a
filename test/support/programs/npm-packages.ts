// Programs that tests need and the project's own dependencies do not bring: the versions of a lock file are installed
// once into the cache folder.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, fillOnce } from './cache-folder.ts';

const log = (line: string) => console.log(`[test set-up] ${line}`);
const FILES = ['package.json', 'package-lock.json'];

/**
 * Installs the packages of a lock file, unless they are there. Their install scripts are not run.
 * @param pins the folder of package.json and package-lock.json
 * @param what they are, for the log and the error
 * @returns the folder that has them in `node_modules`
 */
export async function npmPackages({ name, what, pins }: { name: string; what: string; pins: string }): Promise<string> {
  const hash = createHash('sha256')
    .update(readFileSync(join(pins, 'package-lock.json')))
    .digest('hex')
    .slice(0, 12);
  const folder = join(cacheFolder, `test-${name}-${hash}`);
  await fillOnce(folder, `installed ${what}`, log, async (unfinished) => {
    log(`${what}: not on this machine yet; installing with npm, which takes a minute once`);
    for (const file of FILES) copyFileSync(join(pins, file), join(unfinished, file));
    await npmCi(unfinished, what);
  });
  return folder;
}

/** Installs the packages of the lock file in a folder, without their install scripts. */
function npmCi(folder: string, what: string): Promise<void> {
  const npm = process.env.npm_execpath;
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const child = npm?.endsWith('.js')
    ? spawn(process.execPath, [npm, ...args], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
    : spawn('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  const began = performance.now();
  const progress = setInterval(
    () => log(`still installing ${what}: ${Math.round((performance.now() - began) / 1000)} s`),
    10_000,
  );
  return new Promise<void>((resolve, reject) => {
    child.once('error', (error) => reject(new Error(`npm cannot be run: ${error.message}`)));
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`npm ci of ${what} failed, see above`))));
  }).finally(() => clearInterval(progress));
}
