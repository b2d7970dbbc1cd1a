// What keeps the event loop free while large bodies are received: each pass over one (hash, copy, search) takes milliseconds for
// every megabyte or so, and a webhook of 10 MB needs a dozen. Between two of them the loop serves others.
import { setImmediate as turn } from 'node:timers/promises';

/** A pass over fewer bytes is as short as other work of the loop. */
export const LARGE_BYTES = 1024 * 1024;

let last: Promise<void> = Promise.resolve();

/**
 * Waits, behind a pass over so many bytes, until the loop has served what was waiting for it; behind a short one not at all. Of several
 * large bodies one goes on in each turn of the loop.
 */
export async function othersFirst(bytes: number): Promise<void> {
  if (bytes < LARGE_BYTES) return;
  last = last.then(() => turn());
  await last;
}
