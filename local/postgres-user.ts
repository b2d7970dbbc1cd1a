// PostgreSQL refuses to run as root. When the stack is started by root (containers, small servers), PostgreSQL runs as the
// system user `postgres`, which is made when it is missing.
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { type Log, oneLine, StartupError } from './errors.ts';

const run = promisify(execFile);

export interface ServerUser {
  uid: number;
  gid: number;
  /** What `spawn` needs to start a process as this user. */
  spawn: { uid?: number; gid?: number };
  /** True when the user may not enter a folder above the files it needs: see runAs. */
  needsSearch: boolean;
}

/**
 * The user that PostgreSQL runs as: our own, or `postgres` when we are root.
 * @param paths files and folders PostgreSQL has to reach
 * @throws StartupError when we are root and there is no such user and none can be made
 */
export async function findServerUser(paths: string[], log: Log): Promise<ServerUser> {
  const ownUid = process.getuid?.() ?? 0;
  const ownGid = process.getgid?.() ?? 0;
  if (ownUid !== 0) return { uid: ownUid, gid: ownGid, spawn: {}, needsSearch: false };
  const { uid, gid } = (await lookUp()) ?? (await create(log));
  const needsSearch = paths.some((path) => !reachable(path, uid, gid));
  return { uid, gid, spawn: needsSearch ? {} : { uid, gid }, needsSearch };
}

/**
 * The command that runs a program as the server's user. A clone below a folder that only root may enter (/root, a mktemp
 * folder) is out of reach for that user; there setpriv lets it keep one right of root's: passing those folders.
 */
export function runAs(user: ServerUser, command: string, args: string[]): [command: string, args: string[]] {
  if (!user.needsSearch) return [command, args];
  const identity = [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
  return ['setpriv', [...identity, '--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--', command, ...args]];
}

async function lookUp(): Promise<{ uid: number; gid: number } | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', 'postgres']), run('id', ['-g', 'postgres'])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}

async function create(log: Log): Promise<{ uid: number; gid: number }> {
  log('adding the system user postgres, because PostgreSQL does not run as root');
  try {
    await run('useradd', ['--system', '--no-create-home', '--user-group', 'postgres']);
  } catch (error) {
    throw new StartupError(
      `PostgreSQL does not run as root, and the user postgres cannot be added (${oneLine(error)}); start as another user.`,
    );
  }
  const made = await lookUp();
  if (made === undefined)
    throw new StartupError('The user postgres was added but cannot be found; start as another user.');
  return made;
}

/** True when every folder above `path` lets the user pass. */
function reachable(path: string, uid: number, gid: number): boolean {
  const folder = dirname(path);
  const { mode, uid: owner, gid: group } = statSync(folder);
  const bit = owner === uid ? 0o100 : group === gid ? 0o010 : 0o001;
  return (mode & bit) !== 0 && (folder === dirname(folder) || reachable(folder, uid, gid));
}
