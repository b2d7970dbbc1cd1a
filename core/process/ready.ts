// A process says that it serves, to the one that started it if that listens (local/role.ts).
import { flushCompileCache } from 'node:module';

/** @param url where it serves, if it listens */
export function sayReady(url?: string): void {
  // What it has compiled, for the next start: now, because a process that is killed writes nothing at its end.
  flushCompileCache();
  process.send?.({ type: 'ready', url });
}
