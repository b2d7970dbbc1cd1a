// Which lane each relay takes at the moment, and its release, so that operators see it.
import type { Lane } from '../../core/lane.ts';
import type { Queryable } from '../connections/pool.ts';
import { GUARD_MS } from './relay-leases.ts';

// A relay is seen every GUARD_MS (guardShards).
export const SEEN_LATELY_MS = 3 * GUARD_MS;

/** Writes which lane a relay takes from now on, and the release that it is of. */
export async function setRelayLane(db: Queryable, owner: string, lane: Lane, version: string): Promise<void> {
  // It may not have a lease yet.
  await db.query(
    `insert into relays (owner, seen_at, lane, version) values ($1, now(), $2, $3)
     on conflict (owner) do update set lane = excluded.lane, version = excluded.version`,
    [owner, lane, version],
  );
}

/** How many relays that were seen lately take each lane. */
export async function countRelayLanes(db: Queryable): Promise<Record<Lane, number>> {
  const { rows } = await db.query<Record<Lane, number>>(
    `select count(*) filter (where lane = 'workflow')::int as workflow,
            count(*) filter (where lane = 'express')::int as express
     from relays where seen_at > now() - make_interval(secs => $1)`,
    [SEEN_LATELY_MS / 1000],
  );
  return rows[0] ?? { workflow: 0, express: 0 };
}
