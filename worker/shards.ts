// Holds this relay's leases on shards and knows at any time which of them it certainly owns.
import type { Log } from '../core/log.ts';
import { LEASE_MS, releaseShards, renewShards } from '../db/hot-path/claim.ts';
import type { Pool } from '../db/pool.ts';

const RENEW_MS = 2000;
// A lease is not used in its last moments: clocks of the database and of this process may run at different speeds.
const SAFETY_MS = 1000;

export interface Shards {
  /** The holder. */
  owner: string;
  /** The shards held now; none when the leases could not be renewed in time. */
  held(): number[];
  /** Stops renewing and gives all leases up. */
  release(): Promise<void>;
}

/**
 * Starts renewing the leases.
 * Failure policy: while the database is away the leases expire and nothing is claimed; they are acquired again when it is back.
 */
export function holdShards(pool: Pool, owner: string, log: Log): Shards {
  let shards: number[] = [];
  let validUntil = 0;
  // Time of the last failed renewal.
  let failedAt = Number.NEGATIVE_INFINITY;
  let renewing: Promise<void> = Promise.resolve();

  async function renew(): Promise<void> {
    const askedAt = performance.now();
    try {
      const held = await renewShards(pool, owner, askedAt - failedAt > LEASE_MS);
      if (held.length !== shards.length) log.info({ shards: held.length }, 'relay holds shards');
      shards = held;
      validUntil = askedAt + LEASE_MS - SAFETY_MS;
    } catch (error) {
      failedAt = performance.now();
      log.warn({ error: String(error) }, 'shard leases could not be renewed');
    }
  }

  const timer = setInterval(() => {
    renewing = renewing.then(renew);
  }, RENEW_MS);
  renewing = renew();

  return {
    owner,
    held: () => (performance.now() < validUntil ? shards : []),
    async release() {
      clearInterval(timer);
      await renewing;
      shards = [];
      await releaseShards(pool, owner).catch((error: unknown) =>
        log.warn({ error: String(error) }, 'leases run out by themselves'),
      );
    },
  };
}
