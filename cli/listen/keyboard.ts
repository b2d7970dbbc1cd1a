// Keys that are pressed while hookyard listen runs in a terminal.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const CTRL_C = '\u0003';

/**
 * Whether keys of the terminal come to this process. One in the background that reads them is stopped by the system.
 */
export function hasKeys(): boolean {
  return process.stdin.isTTY === true && (process.platform === 'win32' || isInForeground());
}

function isInForeground(): boolean {
  const [own, terminal] = processGroups();
  return own !== undefined && own === terminal;
}

function processGroups(): (string | undefined)[] {
  try {
    // proc_pid_stat(5): after the name in brackets the state, the parent, the group, the session, the terminal, its
    // group.
    const [, , group, , , ofTerminal] = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return [group, ofTerminal];
  } catch {
    const { stdout } = spawnSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)], { encoding: 'utf8' });
    return (stdout ?? '').trim().split(/\s+/);
  }
}

/** @returns what gives the terminal back */
export function onKeys(handlers: Readonly<Record<string, () => void>>): () => void {
  const { stdin } = process;
  // Key by key, which Ctrl-C then is, too.
  stdin.setRawMode(true);
  stdin.setEncoding('utf8');
  const pressed = (keys: string) => {
    for (const key of keys) {
      if (key === CTRL_C) process.kill(process.pid, 'SIGINT');
      else if (Object.hasOwn(handlers, key)) handlers[key]?.();
    }
  };
  stdin.on('data', pressed);
  return () => {
    stdin.off('data', pressed);
    stdin.setRawMode(false);
    stdin.pause();
  };
}
