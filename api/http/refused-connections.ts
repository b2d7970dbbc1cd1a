// Logs refused connections, rate-limited so that nobody can fill the log with them.
import type { Log } from '../../core/process/log.ts';

const LOG_EVERY_MS = 60_000;

/** @returns a function to call with every refused connection; it writes at most one line a minute */
export function refusedConnections(log: Log): (address: string | undefined) => void {
  let count = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  return (address) => {
    count += 1;
    const now = performance.now();
    if (now - loggedAt < LOG_EVERY_MS) return;
    log.warn(
      { refused: count, lastAddress: address },
      'connections were refused because too many are open: see HOOKYARD_MAX_CONNECTIONS_PER_ADDRESS',
    );
    loggedAt = now;
    count = 0;
  };
}
