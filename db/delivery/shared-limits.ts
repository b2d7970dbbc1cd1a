// Limits of all workers together at destinations that cope with fewer attempts than workers use them (core/shared-limit.ts).
// Rules: DLV-38.
import type { SharedReport, TurnRequest } from '../../core/destination-turn.ts';
import { beginShared, nextShared, NOTHING_SEEN, type SharedLimit, type SharedUse } from '../../core/shared-limit.ts';
import { jsonParameter } from '../parameters.ts';
import type { Queryable } from '../connections/pool.ts';
import { IN_USE, VALID } from './concurrency.ts';

const age = (column: string) => `(extract(epoch from now() - s.${column}) * 1000)::double precision`;

interface Row extends SharedUse {
  id: string;
  /** Null: there is none. */
  shared: SharedLimit | null;
  /** Whether it is locked. */
  isMine: boolean;
}

/** A limit, and whether it was judged by what this worker has seen. */
export type Judged = Pick<SharedLimit, 'places' | 'version'> & { isHeard: boolean };

// One worker judges at a time. Nobody waits for that: who finds another one at it uses the limit as it was, and tells later what it has
// seen.
const LOCK = `
with mine as materialized (
  select * from destination_shared_limits where destination_id = any($1::text[]) order by destination_id for update skip locked
), known as (
  -- What is locked is read as it was locked, which may be later than the snapshot of this statement.
  select *, true as is_mine from mine
  union all
  select *, false from destination_shared_limits o
  where destination_id = any($1::text[]) and not exists (select from mine where mine.destination_id = o.destination_id)
)
select t.id, case when s.destination_id is not null then json_build_object(
         'places', s.places, 'version', s.version, 'answered', s.answered, 'refused', s.refused, 'outcomes', s.outcomes,
         'mostHeld', s.most_held, 'usual', s.usual, 'tooMuch', s.too_much, 'patienceMs', s.patience_ms,
         'windowMs', ${age('window_at')}, 'changedMs', ${age('changed_at')}) end as shared,
       coalesce(s.is_mine, false) as "isMine",
       (select count(*)::int from destination_turns d where d.destination_id = t.id and d.held_until > now()) as held,
       (select count(*)::int from destination_concurrency c where c.destination_id = t.id and c.seen_at > now() - ${VALID}) as users
from destinations t left join known s on s.destination_id = t.id and ${IN_USE} where t.id = any($1::text[])`;

// A limit that another worker begins at the same time stays as that one has begun it.
const WRITE = `
with given as materialized (
  select * from json_to_recordset($1::json) as g(
    id text, "isNew" boolean, places int, version int, answered int, refused int, "mostHeld" int, outcomes int, usual double precision,
    "tooMuch" int, "patienceMs" int, "windowMs" double precision, "changedMs" double precision)
), gone as (
  delete from destination_shared_limits where destination_id = any($2::text[])
), changed as (
  update destination_shared_limits s
  set places = g.places, version = g.version, answered = g.answered, refused = g.refused, most_held = g."mostHeld",
      outcomes = g.outcomes, usual = g.usual, too_much = g."tooMuch", patience_ms = g."patienceMs", seen_at = now(),
      window_at = now() - g."windowMs" * interval '1 millisecond', changed_at = now() - g."changedMs" * interval '1 millisecond'
  from given g where s.destination_id = g.id and not g."isNew"
)
insert into destination_shared_limits as s (destination_id, places, version, answered, refused, most_held, outcomes, usual, too_much,
                                            patience_ms, window_at, changed_at, seen_at)
select id, places, version, 0, 0, 0, 0, 0, "tooMuch", "patienceMs", now(), now(), now() from given where "isNew" order by id
on conflict (destination_id) do update
  set places = excluded.places, version = excluded.version, answered = 0, refused = 0, most_held = 0, outcomes = 0, usual = 0,
      too_much = excluded.too_much, patience_ms = excluded.patience_ms, window_at = now(), changed_at = now(), seen_at = now()
  where not (${IN_USE})`;

/**
 * Judges what a worker has seen at shared limits. The rows are locked until the end of the transaction.
 * @returns the limits that there are now, by destination
 */
export async function judgeSharedLimits(db: Queryable, requests: TurnRequest[]): Promise<Map<string, Judged>> {
  const reports = new Map(requests.flatMap(({ destinationId, shared }) => (shared ? [[destinationId, shared]] : [])));
  const judged = new Map<string, Judged>();
  if (reports.size === 0) return judged;
  const { rows } = await db.query<Row>(LOCK, [[...reports.keys()]]);
  const given: object[] = [];
  const gone: string[] = [];
  for (const row of rows) {
    const { id, shared } = row;
    const isHeard = shared === null || row.isMine;
    const limit = isHeard ? judge(row, reports.get(id)) : shared;
    if (limit) judged.set(id, { ...limit, isHeard });
    if (isHeard && limit) given.push({ ...limit, id, isNew: shared === null });
    if (isHeard && !limit && shared) gone.push(id);
  }
  await db.query(WRITE, [jsonParameter(given), gone]);
  return judged;
}

function judge({ shared, held, users }: Row, report: SharedReport | undefined): SharedLimit | null {
  if (shared === null) return report?.excess ? beginShared({ users }, report.excess) : null;
  // What was seen before it was known says nothing of it.
  const seen = report?.version === shared.version ? report.seen : NOTHING_SEEN;
  return nextShared(shared, seen, { held, users });
}
