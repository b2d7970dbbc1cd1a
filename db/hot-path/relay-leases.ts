// Leases: which relay may claim which positions of the outbox (core/positions.ts).
//
// A relay has one row, which it renews several times a second, and its positions are a range of their own in the order of the
// relays: a share is all positions divided by the live relays, to one position. Each relay sets its own positions only. When there
// are others than before, everybody gives up what is not in its new share, and takes what the others have given up.
//
// A relay is gone when its lease has expired, or sooner: when it was silent for a moment and its process holds the session lock no
// longer that it held (relay-session.ts). Neither alone is enough for that: a process that lost only its lock still renews, and one
// that was stopped keeps its lock. Anyone who finds a relay gone deletes its row, so that it cannot renew any more: should it live, it
// registers again, with nothing. After an outage, relays that hold their lock get longer than a lease to renew
// (core/take-over-grace.ts).
import type { Lane } from '../../core/lane.ts';
import { POSITIONS, type Positions, readPositions, writePositions } from '../../core/positions.ts';
import type { TakeOver } from '../../core/take-over-grace.ts';
import { isExclusionViolation } from '../connections/database-errors.ts';
import type { Queryable } from '../connections/pool.ts';
import { LOCKS } from '../sql-rules.ts';

/** How long a lease lasts, in ms. The positions of a dead relay without a session lock wait for that long. */
export const LEASE_MS = 6000;
/** After this silence, in ms, a relay without its session lock is gone. Several renewals. */
export const SILENCE_MS = 700;

const seconds = (ms: number): string => `interval '${ms / 1000} seconds'`;
const LEASE = seconds(LEASE_MS);
// When the clock of the database is set back, leases end much too late. They are cut to the usual length: a live relay renews before
// that, and what a dead one had does not wait for the clock.
const OUTLASTING = `r.expires_at > now() + ${seconds(2 * LEASE_MS)}`;

// `case` makes the look at the lock the last one. Those who look at the same time share it.
const isGone = (takeOver: string) => `(${takeOver}::text <> 'none' and case
    when r.expires_at <= now() and (r.session is null or ${takeOver} = 'expired') then true
    when r.session is null or r.expires_at > now() + ${seconds(LEASE_MS - SILENCE_MS)} then false
    else pg_try_advisory_xact_lock_shared(hashtextextended(r.session, 0)) end)`;

// `wanted`: what a relay may have at most now, from the CTE `other` of the other relays.
const WANTED = `live as (
  select count(*) + 1 as relays, count(*) filter (where owner < $1) as before from other where not gone and not is_leaving
), wanted as (
  select share.positions as share, share.positions - taken.positions as positions
  from live,
  lateral (select case when (select is_leaving from me) then '{}' else int4multirange(
    int4range((before * ${POSITIONS} / relays)::int, ((before + 1) * ${POSITIONS} / relays)::int)) end) as share(positions),
  (select coalesce(range_agg(positions), '{}') from other where not gone) as taken(positions)
)`;

const RENEW = `
with me as (
  update relay_leases set expires_at = now() + ${LEASE}, session = $2, is_leaving = $4, lane = $5, version = $6 where owner = $1
  returning positions, is_leaving
), other as materialized (
  select r.owner, r.positions, r.is_leaving, ${isGone('$3')} as gone, ${OUTLASTING} as outlasts from relay_leases r where r.owner <> $1
), ${WANTED}
select m.positions::text as positions, (m.positions * w.share)::text as kept,
       m.positions = w.positions and not exists (select from other where gone or outlasts) as "isSettled"
from me m, wanted w`;

/** A relay's lease after it was renewed. */
export interface Lease {
  /** What it holds for LEASE_MS from now. */
  positions: Positions;
  /** What of that is in its share; it gives the others up. */
  kept: Positions;
  /** Whether there is nothing to give up or to take at the moment. */
  isSettled: boolean;
}

/**
 * Renews a relay's lease.
 * @param relay.session name of the session lock that its process holds; null for none
 * @param relay.takeOver which others count as gone
 * @param relay.isLeaving whether it gives everything up, because its process ends
 * @param relay.lane the lane that it takes for deliveries whose route names none, for operators, like its version
 * @returns null when the lease was taken away
 */
export async function renewLease(
  db: Queryable,
  relay: {
    owner: string;
    session: string | null;
    takeOver: TakeOver;
    isLeaving?: boolean;
    lane: Lane;
    version: string;
  },
): Promise<Lease | null> {
  const { rows } = await db.query<{ positions: string; kept: string; isSettled: boolean }>({
    name: 'renew-lease',
    text: RENEW,
    values: [relay.owner, relay.session, relay.takeOver, relay.isLeaving ?? false, relay.lane, relay.version],
  });
  const [row] = rows;
  return (
    (row && { positions: readPositions(row.positions), kept: readPositions(row.kept), isSettled: row.isSettled }) ??
    null
  );
}

/** Registers a relay, with no positions; may be repeated. @param owner a name of this registration alone */
export async function registerRelay(db: Queryable, owner: string): Promise<void> {
  await db.query(`insert into relay_leases (owner, expires_at) values ($1, now() + ${LEASE}) on conflict do nothing`, [
    owner,
  ]);
}

// A lock lets one relay at a time do this: two that have seen different others would deadlock over what both want. It is tried
// only, and the constraint of the table refuses what a relay wants that read before another one had committed.
// A relay that still holds something outside of its share takes nothing: it must know first what it has in flight there.
const TAKE = `
with turn as materialized (
  select pg_try_advisory_xact_lock(${LOCKS.positions}) as got
), gone as materialized (
  select r.owner from relay_leases r where (select got from turn) and r.owner <> $1 and ${isGone('$2')}
  for update skip locked
), buried as (
  delete from relay_leases r using gone g where r.owner = g.owner returning r.owner
), outlasting as materialized (
  select r.owner from relay_leases r where (select got from turn) and r.owner <> $1 and ${OUTLASTING} for update skip locked
), cut as (
  update relay_leases r set expires_at = now() + ${LEASE} from outlasting o where r.owner = o.owner
), me as (
  select is_leaving from relay_leases where owner = $1
), other as materialized (
  select r.owner, r.positions, r.is_leaving, false as gone from relay_leases r where r.owner <> $1 and r.owner not in (select owner from buried)
), ${WANTED}
update relay_leases m set positions = w.positions
from wanted w where m.owner = $1 and (select got from turn) and m.positions <@ w.share
returning m.positions::text as positions, (select count(*)::int from buried) as buried`;

/** What a relay has taken. */
interface Taken {
  positions: Positions;
  /** How many relays were found gone. */
  buried: number;
}

/**
 * Takes what is free of a relay's share, and the lease of relays that are gone.
 * @param takeOver as for `renewLease`
 * @returns null when another relay does the same at the moment, or something is to be given up first: try again soon
 */
export async function takePositions(db: Queryable, owner: string, takeOver: TakeOver): Promise<Taken | null> {
  try {
    const { rows } = await db.query<{ positions: string; buried: number }>(TAKE, [owner, takeOver]);
    const [row] = rows;
    return (row && { positions: readPositions(row.positions), buried: row.buried }) ?? null;
  } catch (error) {
    if (isExclusionViolation(error)) return null;
    throw error;
  }
}

/**
 * Gives up what a relay holds beside these positions.
 * @param inFlight its deliveries in flight there; no other relay claims them until `forgetLeftovers`, or until this one is gone
 */
export async function givePositionsUp(
  db: Queryable,
  owner: string,
  kept: Positions,
  inFlight: string[],
): Promise<void> {
  await db.query(
    `with kept as (
       update relay_leases set positions = positions * $2::int4multirange where owner = $1 returning owner
     )
     insert into relay_leftovers (delivery_id, owner) select unnest($3::text[]), owner from kept
     on conflict (delivery_id) do update set owner = excluded.owner`,
    [owner, writePositions(kept), inFlight],
  );
}

/** Others may claim what a relay had in flight where it gave up its positions. @param inFlight what it still has */
export async function forgetLeftovers(db: Queryable, owner: string, inFlight: string[]): Promise<void> {
  await db.query('delete from relay_leftovers where owner = $1 and delivery_id <> all($2::text[])', [owner, inFlight]);
}

/** Ends the lease of a relay that stops, so that others need not wait for its end. */
export async function endLease(db: Queryable, owner: string): Promise<void> {
  await db.query('delete from relay_leases where owner = $1', [owner]);
}

/** How many relays take each lane. */
export async function countRelayLanes(db: Queryable): Promise<Record<Lane, number>> {
  const { rows } = await db.query<Record<Lane, number>>(
    `select count(*) filter (where lane = 'workflow')::int as workflow,
            count(*) filter (where lane = 'express')::int as express
     from relay_leases where expires_at > now()`,
  );
  return rows[0] ?? { workflow: 0, express: 0 };
}
