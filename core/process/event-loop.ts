// Keeps the event loop free for others between two pieces of work that take milliseconds: passes over a large body
// (hash, copy, search), of which a webhook of 10 MB needs a dozen, and management requests, of which one organization
// may send many at once.
import { setImmediate as turn } from 'node:timers/promises';

/** A pass over fewer bytes is as short as other work of the loop. */
export const LARGE_BYTES = 1024 * 1024;

let last: Promise<void> = Promise.resolve();

/**
 * Waits, behind a pass over so many bytes, until the loop has served what was waiting for it; behind a short one not at
 * all. Of several large bodies one goes on in each turn of the loop.
 */
export async function othersFirst(bytes: number): Promise<void> {
  if (bytes >= LARGE_BYTES) await ownTurn();
}

/** Waits for a turn of the loop in which nobody else goes on who waits here. */
export function ownTurn(): Promise<void> {
  last = last.then(() => turn());
  return last;
}
