// Tells the API, through the database, which lane this worker takes, and its release: written when the lane changes, apart from the
// hot path.
import { setTimeout as delay } from 'node:timers/promises';
import type { Lane } from '../core/lane.ts';
import { setRelayLane } from '../db/hot-path/relay-lanes.ts';
import type { Pool } from '../db/connections/pool.ts';
import packageJson from '../package.json' with { type: 'json' };

const TRY_AGAIN_MS = 2000;

export interface LaneReport {
  write(lane: Lane): void;
  /** Writes no more; resolves when nothing is being written. */
  stop(): Promise<void>;
}

/** Failure policy: while the database is away, the latest lane is kept, and written when it is back. */
export function createLaneReport(pool: Pool, owner: string): LaneReport {
  const ending = new AbortController();
  let wanted: Lane | undefined;
  let written: Lane | undefined;
  let writing: Promise<void> | undefined;

  async function writeLatest(): Promise<void> {
    while (wanted !== undefined && written !== wanted && !ending.signal.aborted) {
      const lane = wanted;
      try {
        await setRelayLane(pool, owner, lane, packageJson.version);
        written = lane;
      } catch {
        await delay(TRY_AGAIN_MS, undefined, { ref: false, signal: ending.signal }).catch(() => undefined);
      }
    }
    writing = undefined;
  }

  return {
    write(lane) {
      wanted = lane;
      writing ??= writeLatest();
    },
    async stop() {
      ending.abort();
      await writing;
    },
  };
}
