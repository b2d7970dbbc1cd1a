// PostgreSQL refuses to run as root. When the stack is started by root (containers, small servers), PostgreSQL runs as
// the system user `postgres`, which is made when it is missing, and which has no right of root's.
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { type Log, oneLine, StartupError } from '../errors.ts';

const run = promisify(execFile);
const systemUser = 'postgres';

export interface ServerUser {
  name: string;
  uid: number;
  gid: number;
  another: boolean;
}

/**
 * The user that PostgreSQL runs as: our own, or `postgres` when we are root.
 * @throws StartupError when we are root and there is no such user and none can be made
 */
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
  log(`adding the system user ${systemUser}, because PostgreSQL does not run as root`);
  try {
    await run('useradd', ['--system', '--no-create-home', '--user-group', systemUser]);
  } catch (error) {
    throw new StartupError(
      `PostgreSQL does not run as root, and the user ${systemUser} cannot be added (${oneLine(error)}); start as another user.`,
    );
  }
  const made = await lookUp();
  if (made === undefined)
    throw new StartupError(`The user ${systemUser} was added but cannot be found; start as another user.`);
  return made;
}
