// The pages of replays: created in the database as far as the backlog has room, then signalled to the workflows of the
// failed deliveries that they replace.
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { ReplayProgress } from '../core/delivery/event-replay.ts';
import type { Log } from '../core/process/log.ts';
import { causeOf } from '../core/process/log-cause.ts';
import { type BacklogLimits, lookAtBacklog } from '../db/organizations/backlog.ts';
import { type FindRoom, makePage, readProgress } from '../db/replay/event-replay-pages.ts';
import { endEventReplay, type EventReplayKey } from '../db/replay/event-replays.ts';
import { loadSuspension } from '../db/organizations/organizations.ts';
import type { Pool } from '../db/connections/pool.ts';
import { actingFor } from '../db/connections/by-organization.ts';
import type { ReplayedDelivery } from '../db/replay/replay.ts';
import type { Threads } from '../outbound/threads/index.ts';
import { replayedSignals, sendAll } from '../temporal-config/workflows.ts';
import { withHeartbeat } from './activity.ts';
import type { ReplayActivities } from './types.ts';
import { BacklogRoom } from '../core/fairness/backlog-room.ts';
import { createStandings } from '../db/hot-path/routing.ts';

// How long one activity makes pages, or searches while no event matches; then the workflow can handle a cancel, and it
// is another organization's turn. An activity costs more than a small page.
const TURN_MS = 1000;
// Between two pages of a turn.
const SHORT_REST_MS = 250;
const CONCURRENT_SIGNALS = 5;
// A page is followed by a rest as long as it took: results of its events wait for it, and PostgreSQL works for others
// meanwhile. A longer one, until the next page may be made, is left to the workflow.
const LONGEST_REST_MS = 1000;

export interface ReplayDeps {
  pool: Pool;
  client: Client;
  threads: Pick<Threads, 'validate'>;
  settings: BacklogLimits;
  log: Log;
}

export function createReplayActivities(deps: ReplayDeps): ReplayActivities {
  const findRoom = createReplayRoom(deps.pool, deps.settings);
  return {
    async replayPage({ page, ...key }) {
      try {
        return await actingFor(key.organizationId, () => withHeartbeat(() => replayPage(deps, findRoom, key, page)));
      } catch (error) {
        deps.log.error({ ...key, page, cause: causeOf(error) }, 'failed to replay a page of events');
        throw error;
      }
    },
    async cancelReplay(key) {
      await endEventReplay(deps.pool, key, 'cancelled');
      return readProgress(deps.pool, key);
    },
  };
}

async function replayPage(
  deps: ReplayDeps,
  findRoom: FindRoom,
  key: EventReplayKey,
  page: number,
): Promise<ReplayProgress> {
  const { suspended } = await loadSuspension(deps.pool, key.organizationId);
  if (suspended) return { ...(await readProgress(deps.pool, key)), suspended };
  const until = performance.now() + TURN_MS;
  for (let next = page; ; ) {
    const { progress, tookMs } = await onePage(deps, findRoom, key, next);
    if (progress.status !== 'running') {
      deps.log.info({ ...key, ...progress }, `replay ${progress.status}`);
      return progress;
    }
    const { restMs = 0, waitsFor } = progress;
    const pauseMs = Math.max(tookMs, restMs);
    if (waitsFor !== undefined || restMs > SHORT_REST_MS || performance.now() + pauseMs > until) {
      const restedMs = Math.min(LONGEST_REST_MS, tookMs);
      await pause(restedMs);
      return resting(progress, restMs - restedMs);
    }
    await pause(pauseMs);
    next = progress.pages + 1;
  }
}

async function onePage(
  deps: ReplayDeps,
  findRoom: FindRoom,
  key: EventReplayKey,
  page: number,
): Promise<{ progress: ReplayProgress; tookMs: number }> {
  const beganAt = performance.now();
  const made = await makePage(deps.pool, key, page, deps.threads.validate, findRoom);
  const { progress, deliveries, unplanned, paceMs = 0 } = made;
  await tellReplaced(deps, key, deliveries);
  if (unplanned !== undefined)
    deps.log.warn({ ...key, page, cause: causeOf(unplanned) }, 'failed to plan the next page of a replay');
  const tookMs = performance.now() - beganAt;
  return { progress: resting(progress, Math.max(progress.restMs ?? 0, paceMs - tookMs)), tookMs };
}

function resting({ restMs: _, ...progress }: ReplayProgress, restMs: number): ReplayProgress {
  return progress.status === 'running' && restMs > 0 ? { ...progress, restMs: Math.ceil(restMs) } : progress;
}

/**
 * Failure policy: the deliveries exist, so a failed one that misses the signal only stays open until its replay window
 * ends. Waiting here limits the concurrent signals of a large replay.
 */
async function tellReplaced({ client, log }: ReplayDeps, key: EventReplayKey, replays: ReplayedDelivery[]) {
  try {
    await sendAll(replayedSignals(client, replays), CONCURRENT_SIGNALS);
  } catch (error) {
    log.warn({ ...key, cause: causeOf(error) }, 'failed to signal workflows of replayed deliveries');
  }
}

// Each look is followed by a rest of this many times its duration.
const REST = 19;
const EVERY_MS = 1000;

/**
 * How much replays may add to the backlog, for the pages that this worker makes. Looks when a page is to be made, as
 * rarely as the API does for webhooks (api/ingest/backlog.ts): a look counts what waits, and may take a second of a
 * core. Failure policy: an error of the database is thrown; the page could not be stored either.
 */
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
