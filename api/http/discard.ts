// Discards the rest of a body that is refused because of its size.
import type { IncomingMessage } from 'node:http';

// How long the rest of a body that is too large is read before its connection is cut.
const DISCARD_MS = 5000;

/**
 * Reads on and throws away, within bounds: closing a connection while the sender still writes resets it, and the
 * sender would see a broken connection, which it retries, instead of the refusal (RFC 9112, section 9.6).
 */
export function discardRest(request: IncomingMessage, maxBytes: number): Promise<void> {
  return new Promise((resolve) => {
    let left = maxBytes;
    const stop = () => {
      clearTimeout(timer);
      request.off('data', count).off('end', stop).off('close', stop).pause();
      resolve();
    };
    const count = (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) stop();
    };
    const timer = setTimeout(stop, DISCARD_MS);
    request.on('data', count).on('end', stop).on('close', stop).resume();
  });
}
