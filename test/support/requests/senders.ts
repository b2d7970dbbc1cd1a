// Load for tests of faults: senders that each send one webhook after the other, whatever the answers are.
import { setTimeout as pause } from 'node:timers/promises';
import type { Ledger } from '../workflows/ledger.ts';

/** How many there are. */
export const SENDERS = 4;
const PAUSE_MS = 50;

interface Senders {
  /** Every status seen so far; undefined for a broken connection. */
  statuses: Set<number | undefined>;
  /** The `Retry-After` of every answer that was not 200. */
  retryAfter: (string | undefined)[];
  stop(): Promise<void>;
}

/** Sends webhooks until `stop` is called. */
export function startSenders(ledger: Ledger): Senders {
  const statuses: Senders['statuses'] = new Set();
  const retryAfter: Senders['retryAfter'] = [];
  let sending = true;
  const sender = async () => {
    while (sending) {
      const answer = await ledger.post();
      statuses.add(answer?.status);
      if (answer?.status !== 200) retryAfter.push(answer?.headers['retry-after']);
      await pause(PAUSE_MS);
    }
  };
  const senders = Promise.all(Array.from({ length: SENDERS }, sender));
  return {
    statuses,
    retryAfter,
    async stop() {
      sending = false;
      await senders;
    },
  };
}
