// Reads the PROXY header of a connection before HTTP does.
import type { Socket } from 'node:net';
import { readProxyHeader } from './proxy-header.ts';

/**
 * Reads the header, and leaves what follows it on the connection.
 * @param deadlineMs how long it may take
 * @param then gets the client's address; null when the proxy names none. A connection without a valid header is closed instead,
 *   without an answer: nothing on it can be understood
 */
export function takeProxyHeader(socket: Socket, deadlineMs: number, then: (client: string | null) => void): void {
  let seen: Buffer = Buffer.alloc(0);
  const giveUp = () => socket.destroy();
  const timer = setTimeout(giveUp, deadlineMs).unref();
  const stop = () => {
    clearTimeout(timer);
    socket.off('readable', look).off('end', giveUp).off('error', giveUp).off('close', stop);
  };
  const look = () => {
    for (let part = socket.read() as Buffer | null; part !== null; part = socket.read() as Buffer | null) {
      seen = Buffer.concat([seen, part]);
      const header = readProxyHeader(seen);
      if (header === 'incomplete') continue;
      if (header === 'malformed') return giveUp();
      stop();
      const rest = seen.subarray(header.bytes);
      if (rest.length > 0) socket.unshift(rest);
      return then(header.client);
    }
  };
  socket.on('readable', look).on('end', giveUp).on('error', giveUp).on('close', stop);
}
