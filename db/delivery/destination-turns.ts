// Places at destinations at which fewer attempts may be under way than there are workers: each is held by one worker at a time
// (core/destination-turn.ts).
// Rules: DLV-38.
import { PLACE_HELD_MS, type TurnAnswer, type TurnRequest } from '../../core/destination-turn.ts';
import { jsonParameter } from '../parameters.ts';
import type { Queryable } from '../connections/pool.ts';
import { judgeSharedLimits } from './shared-limits.ts';

const HELD = `interval '${PLACE_HELD_MS} milliseconds'`;
// Who waits says so several times a second. Who may not take yet does not wait: others would leave free places to it.
const WAITS = `interval '5 seconds'`;
const SEEN_AGAIN = `interval '1 second'`;
const OLD = `interval '2 minutes'`;

// Safe beside others of its kind: a worker changes its own rows only, but for a place that is free. Two that want the same one meet in
// its row, and the second one finds that it is held (`on conflict ... where`, which sees the latest version). Who has waited longer
// takes first: to those that others wait longer than, as many free places are left. One that has just begun to wait is not seen by a
// statement under way, which costs it one turn.
const TAKE = `
with asked as materialized (
  select i.id, i.wants, least(t.max_concurrency, i.places) as maximum
  from json_to_recordset($2::json) as i(id text, wants boolean, places int) join destinations t on t.id = i.id
  where t.max_concurrency is not null or i.places is not null
), kept as materialized (
  select id, place from json_to_recordset($3::json) as k(id text, place int)
), given as (
  delete from destination_turns d
  where d.worker = $1 and not exists (select from kept k where k.id = d.destination_id and k.place = d.place)
), renewed as (
  update destination_turns d set held_until = now() + ${HELD} from kept k
  where d.destination_id = k.id and d.place = k.place and d.worker = $1
  returning d.destination_id, d.place
), other as materialized (
  select a.id, o.worker, o.since from asked a join destination_turn_waits o on o.destination_id = a.id
  where o.worker <> $1 and o.seen_at > now() - ${WAITS}
), free as (
  select a.id, p.place, row_number() over (partition by a.id order by p.place) - 1 as before
  from asked a cross join lateral generate_series(0, a.maximum - 1) as p(place)
  where a.wants and $4
    and not exists (select from destination_turns d where d.destination_id = a.id and d.place = p.place and d.held_until > now())
    -- A place that this worker has asked to keep, and that has run out meanwhile, is renewed above: no statement writes a row twice.
    and not exists (select from kept k where k.id = a.id and k.place = p.place)
), taken as (
  insert into destination_turns as d (destination_id, place, worker, held_until)
  select f.id, f.place, $1, now() + ${HELD}
  from free f left join destination_turn_waits mine on mine.destination_id = f.id and mine.worker = $1
  where f.before = (select count(*) from other o where o.id = f.id and (o.since, o.worker) < (coalesce(mine.since, now()), $1))
  order by f.id
  on conflict (destination_id, place) do update set worker = excluded.worker, held_until = excluded.held_until
    where d.held_until <= now()
  returning destination_id, place
), waiting as materialized (
  select a.id from asked a where a.wants and not exists (select from taken t where t.destination_id = a.id)
), waits as (
  insert into destination_turn_waits as w (destination_id, worker, since, seen_at)
  select id, $1, now(), now() from waiting where $4 order by id
  on conflict (destination_id, worker) do update set seen_at = excluded.seen_at where w.seen_at < now() - ${SEEN_AGAIN}
), waits_no_more as (
  delete from destination_turn_waits w
  where w.worker = $1 and not exists (select from waiting a where a.id = w.destination_id)
)
select a.id as "destinationId", a.maximum as "all", exists (select from other o where o.id = a.id) as "isContested",
       array(select place from (select * from renewed union all select * from taken) h where h.destination_id = a.id order by 1) as places
from asked a`;

/**
 * Says what a worker holds and wants, and has seen at shared limits, and takes what is free for it. What it does not name it gives up.
 * To be called in a transaction where limits are shared.
 * @param worker its name
 * @param mayTake false: it only continues to hold what it has
 * @returns of each destination that exists and has a maximum or a shared limit
 */
export async function takeTurns(
  db: Queryable,
  worker: string,
  requests: TurnRequest[],
  mayTake: boolean,
): Promise<TurnAnswer[]> {
  const limits = await judgeSharedLimits(db, requests);
  const asked = requests.map(({ destinationId, wants }) => ({
    ...{ id: destinationId, wants },
    places: limits.get(destinationId)?.places ?? null,
  }));
  const kept = requests.flatMap(({ destinationId, places }) => places.map((place) => ({ id: destinationId, place })));
  const { rows } = await db.query<Omit<TurnAnswer, 'shared'>>(TAKE, [
    ...[worker, jsonParameter(asked), jsonParameter(kept), mayTake],
  ]);
  return rows.map((row) => {
    const limit = limits.get(row.destinationId);
    return { ...row, shared: limit ? { version: limit.version, isHeard: limit.isHeard } : null };
  });
}

/** Removes what workers have left that are gone. Rows that are being written stay. */
export async function forgetTurns(db: Queryable): Promise<void> {
  await db.query(
    `delete from destination_turns where (destination_id, place) in (
       select destination_id, place from destination_turns where held_until < now() - ${OLD} for update skip locked)`,
  );
  await db.query(
    `delete from destination_turn_waits where (destination_id, worker) in (
       select destination_id, worker from destination_turn_waits where seen_at < now() - ${OLD} for update skip locked)`,
  );
  await db.query(
    `delete from destination_shared_limits where destination_id in (
       select destination_id from destination_shared_limits where seen_at < now() - ${OLD} for update skip locked)`,
  );
}
