// The ports on which a process listens, as Linux knows them.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const LISTEN = '0A';

/**
 * @returns null where there is no `/proc`
 * @throws Error when the process has ended
 */
export function listeningPorts(pid: number): number[] | null {
  if (process.platform !== 'linux') return null;
  const own = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => /^socket:\[(\d+)\]$/.exec(linkOf(pid, fd))?.[1]));
  const ports = ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .flatMap((line) => {
        const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
        return state === LISTEN && own.has(inode) ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : [];
      }),
  );
  return [...new Set(ports)];
}

/** A file that was closed meanwhile leads nowhere. */
function linkOf(pid: number, fd: string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch {
    return '';
  }
}
