// How much replays may add to the backlog, for the pages that this worker makes. Looks when a page is to be made, as rarely as the
// API does for webhooks (api/ingest/adaptive-poll.ts): a look counts what waits, and may take a second of a core.
// Rules: RPL-15, LIMIT-08, LIMIT-16, LIMIT-20.
import { BacklogRoom } from '../core/fairness/backlog-room.ts';
import { type BacklogLimits, lookAtBacklog } from '../db/delivery/backlog.ts';
import { createStandings } from '../db/organizations/standing.ts';
import type { FindRoom } from '../db/replay/event-replay-pages.ts';
import type { Pool } from '../db/connections/pool.ts';

// Each look is followed by a rest of this many times its duration.
const REST = 19;
const EVERY_MS = 1000;

/** Failure policy: an error of the database is thrown; the page could not be stored either. */
export function createReplayRoom(pool: Pool, limits: BacklogLimits): FindRoom {
  const room = new BacklogRoom(limits.HOOKYARD_MAX_BACKLOG);
  const standings = createStandings(pool);
  let last = { endedAt: Number.NEGATIVE_INFINITY, tookMs: 0 };
  let looking: Promise<void> | undefined;

  const isDue = () => performance.now() - last.endedAt >= Math.max(EVERY_MS, last.tookMs * REST);

  async function look(): Promise<void> {
    const begunAt = performance.now();
    await lookAtBacklog(pool, limits, room);
    last = { endedAt: performance.now(), tookMs: performance.now() - begunAt };
  }

  return async (organizationId) => {
    if (isDue()) {
      looking ??= look().finally(() => {
        looking = undefined;
      });
      await looking;
    }
    const standing = await standings(organizationId);
    // Of an organization that was deleted meanwhile there is no replay any more.
    const { waitingDeliveries = 0, deliveriesPerEvent = 0, replayedPerSecond = 0 } = standing?.limits ?? {};
    const sender = { organizationId, limits: { waitingDeliveries } };
    return {
      deliveriesPerEvent,
      deliveriesPerSecond: replayedPerSecond,
      fitting: (events) => room.fitting(sender, events),
      add: (waiting) => room.add(organizationId, waiting),
    };
  };
}
