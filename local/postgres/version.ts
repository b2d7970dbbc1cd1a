// What differs between versions of PostgreSQL when they are started. The embedded one is the newest; tests start others as well.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { StartupError } from '../errors.ts';
import { type ServerUser, spawnAs } from './user.ts';

const run = promisify(execFile);

/** Of the embedded PostgreSQL. */
export const EMBEDDED_VERSION = 18;
// The first with a locale that is the same on every system.
const BUILTIN_LOCALES = 17;

/** The major version of a program of PostgreSQL. @throws StartupError when it does not tell */
export async function majorVersionOf(program: string, user: ServerUser): Promise<number> {
  const { stdout } = await run(program, ['--version'], { ...spawnAs(user), cwd: '/' });
  const found = /\(PostgreSQL\) (\d+)/.exec(stdout)?.[1];
  if (found === undefined)
    throw new StartupError(`${program} is not a program of PostgreSQL: it says ${stdout.trim()}`);
  return Number(found);
}

/** Arguments of initdb: text is compared byte by byte, and the letters of all languages have their other case. */
export function usualLocale(majorVersion: number): string[] {
  if (majorVersion < BUILTIN_LOCALES) return ['--locale=C.UTF-8'];
  return ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
}
