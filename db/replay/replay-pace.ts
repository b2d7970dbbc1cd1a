// Replays by filter of an organization share a rate, and take turns: each plans when it may make its next page, behind those of the
// others.
// Rules: LIMIT-20.
import type { Queryable } from '../connections/pool.ts';
import { OPEN_REPLAY } from '../sql-rules.ts';
import { type EventReplayKey, REPLAY_LEASE_SECONDS } from './event-replays.ts';

// Replays of an organization queue by the time until which its rate is planned. Pages that come at the same time wait for each
// other's row only as long as this statement takes.
const PLAN = `
with planned as (
  update organizations
  set replays_planned_until = greatest(coalesce(replays_planned_until, now()), now()) + make_interval(secs => $3)
  where id = $1 returning replays_planned_until - make_interval(secs => $4) as at
)
update event_replays r
set status = 'running', waits_for = null, started_at = coalesce(started_at, now()), page_at = planned.at,
    due_at = greatest(due_at, planned.at + make_interval(secs => $5))
from planned where r.organization_id = $1 and r.id = $2 and r.status in ${OPEN_REPLAY}
returning extract(epoch from r.page_at - clock_timestamp())::float8 * 1000 as "restMs"`;

/**
 * Plans when the next page may be made, behind those of the organization's other replays.
 * @param deliveries how many it is expected to have, and how many more than was expected the page before had
 * @returns how long it is until then, ms; below 0: its time has come; undefined: the replay has ended
 */
export async function planPage(
  db: Queryable,
  key: EventReplayKey,
  deliveriesPerSecond: number,
  { expected, more = 0 }: { expected: number; more?: number },
): Promise<number | undefined> {
  const { rows } = await db.query<{ restMs: number }>(PLAN, [
    key.organizationId,
    key.replayId,
    (expected + more) / deliveriesPerSecond,
    expected / deliveriesPerSecond,
    REPLAY_LEASE_SECONDS,
  ]);
  return rows[0]?.restMs;
}

const FORGET = `
with unplanned as (
  update organizations set replays_planned_until = null where id = $1 returning id
)
update event_replays r set page_at = null
from unplanned where r.organization_id = unplanned.id and r.status in ${OPEN_REPLAY} and r.page_at is not null`;

/** Forgets what was planned, because the organization has another rate now. */
export async function forgetPlans(db: Queryable, organizationId: string): Promise<void> {
  await db.query(FORGET, [organizationId]);
}
