// The end of the API process: readiness turns 503 for the load balancer, then the listener closes, then the
// connections, then the process ends.
import type { Server } from 'node:http';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import type { Settings } from '../../core/config/config.ts';
import { onEndRequest } from '../../core/process/end-request.ts';
import type { Log } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { HTTP_LIMITS, type OpenConnections } from '../http/connections.ts';
import { stopListening } from '../http/http-server.ts';

// What may take longer than the grace period (a test send, signals to an absent Temporal) is given up after this.
const LAST_STEPS_MS = 5000;
// Time between an answer and the next request of a client that sends without a pause.
const REST_MS = 250;
const SWEEP_MS = 50;
const MOST_QUIET_MS = 200;

export interface EndOptions {
  server: Server;
  connections: OpenConnections;
  settings: Pick<Settings, 'HOOKYARD_DRAIN_SECONDS' | 'HOOKYARD_SHUTDOWN_SECONDS'>;
  /** Closes everything else once no request can arrive. */
  release: () => Promise<void>;
  log: Log;
}

/** Shuts down gracefully at the first signal; a second signal ends the drain at once. */
export function endOnRequest(options: EndOptions): void {
  const hurry = new AbortController();
  onEndRequest((reason, count) => {
    if (count > 1) return hurry.abort();
    endInOrder(options, reason, hurry.signal).then(
      () => process.exit(0),
      (error: unknown) => {
        options.log.error({ cause: causeOf(error) }, 'API did not shut down cleanly');
        process.exit(1);
      },
    );
  });
}

async function endInOrder(
  { server, connections, settings, release, log }: EndOptions,
  reason: string,
  hurry: AbortSignal,
) {
  const { HOOKYARD_DRAIN_SECONDS: drainSeconds, HOOKYARD_SHUTDOWN_SECONDS: graceSeconds } = settings;
  // From here on /readyz says 503, so that the load balancer sends no new requests.
  connections.drain();
  if (drainSeconds > 0) {
    log.info(
      { reason },
      `API shutting down: no longer ready; requests are served for ${drainSeconds} s, or until the next signal`,
    );
    await delay(drainSeconds * 1000, undefined, { signal: hurry }).catch(() => {});
  }
  log.info(
    { reason },
    `API shutting down: no new connections are accepted; requests in progress have ${graceSeconds} s to finish`,
  );
  const giveUp = () => {
    log.warn('unfinished work was aborted');
    process.exit(0);
  };
  setTimeout(giveUp, graceSeconds * 1000 + LAST_STEPS_MS).unref();
  await closeServer(server, connections, graceSeconds * 1000);
  await release();
}

/**
 * Stops accepting; running requests finish, until the grace period cuts them off. Idle connections close after a
 * moment. Resolves when no connection is left.
 */
export async function closeServer(server: Server, connections: OpenConnections, graceMs: number): Promise<void> {
  await untilNothingIsAccepted(connections);
  const closed = stopListening(server);
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  // After the turn in which everything that has arrived was read: a request that waits to be read must not be cut off.
  const sweep = setInterval(() => setImmediate(() => connections.endResting(REST_MS, HTTP_LIMITS.lingerMs)), SWEEP_MS);
  await closed;
  clearTimeout(cut);
  clearInterval(sweep);
}

/**
 * Closing a listener resets connections that it has not accepted, and Node accepts one per turn of the event loop. This
 * resolves after a turn that accepted none, or after a time limit.
 */
async function untilNothingIsAccepted(connections: OpenConnections): Promise<void> {
  const giveUpAt = performance.now() + MOST_QUIET_MS;
  await turn();
  for (let before = -1; before !== connections.added && performance.now() < giveUpAt; ) {
    before = connections.added;
    await turn();
  }
}
