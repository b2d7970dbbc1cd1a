// Stores what processes have counted: one statement about once a second, however much has failed; and resolves what has
// recovered.
import type { CauseCount, SubjectCount } from '../../core/messages/issue-counts.ts';
import { type IssueSubject, MAX_CAUSES, MAX_ISSUES, OPENS_AFTER, OTHER_CAUSE } from '../../core/messages/issues.ts';
import { newId } from '../../core/text/ids.ts';
import { isUniqueViolation } from '../connections/database-errors.ts';
import type { Queryable } from '../connections/pool.ts';
import { raw, sql, jsonParameter } from '../connections/statements.ts';
import { MAY_RECOVER, isAbout, resolvedLately, SUBJECT_KEY, subjectRow } from './circuit-issues.ts';

const STREAK_KEY = 'organization_id, kind, source_id, route_id, destination_id';
const isStreakOf = (streak: string, subject: string): string =>
  STREAK_KEY.split(', ')
    .map((column) => `${streak}.${column} = ${subject}.${column}`)
    .join(' and ');

// A delivery has failed for good. What a process counts together, without a destination, is all final: that says
// nothing.
const IS_EXHAUSTED = `is_final and kind = 'delivery_failing' and destination_id <> '' as is_exhausted`;

// Failures open an issue when one is final, or enough came in a row: the last one of the same key if it was resolved
// lately, else a new one. What is counted already continues, whatever the number. Issues of what was deleted are not
// opened; those that slip through are resolved by housekeeping.
//
// Safe beside others of its kind: rows are written in the order of their key, and where two processes open the same
// issue, the index issues_unresolved makes one of them count into the row of the other. Two that open issues at the
// same moment do not see each other's, so there may be a few more than the bounds allow. A row of `subject` has either
// failures that come last (streak > 0), or has worked after all of them, so no part changes a row that another part of
// the statement has changed.
const RECORD = `
with subject as (
  select * from json_to_recordset($1::json) as s(organization_id text, kind text, source_id text, route_id text,
    destination_id text, streak int, worked bool, opens_after int, since timestamptz)
), streaked as (
  insert into issue_streaks as k (${STREAK_KEY}, failures, restarted, since, last_at)
  select ${STREAK_KEY}, streak, worked, least(since, now()), now() from subject where streak > 0 and opens_after > 1
  order by ${STREAK_KEY}
  on conflict (${STREAK_KEY}) do update
    set failures = excluded.failures + case when excluded.restarted then 0 else k.failures end,
        restarted = excluded.restarted,
        since = case when excluded.restarted then excluded.since else k.since end, last_at = excluded.last_at
  returning k.*
), ended as (
  delete from issue_streaks k using subject s where ${isStreakOf('k', 's')} and s.streak = 0
), failure as (
  select f.*, row_number() over (partition by ${STREAK_KEY.replaceAll(/(\w+)/g, 'f.$1')}
    order by f.is_final desc, f.last_at desc, f.cause) as latest
  from json_to_recordset($2::json) as f(id text, organization_id text, kind text, source_id text, route_id text,
    destination_id text,
    cause text, failures bigint, first_at timestamptz, last_at timestamptz, is_final bool, event_id text,
    delivery_id text)
), due as (
  select f.*, x.id as known_id, s.streak = 0 as has_recovered,
         case when b.opens then k.failures - s.streak + f.failures else f.failures end as counted,
         case when b.opens then least(f.first_at, k.since) else f.first_at end as first_seen_at
  from failure f join subject s on ${isStreakOf('s', 'f')}
  left join issues x on ${isAbout('x', 'f')} and x.cause = f.cause and x.state <> 'resolved'
  left join streaked k on ${isStreakOf('k', 'f')}
  -- Where they open an issue, those in a row before count too, for the cause of the last final one, else of the last
  -- one; unless an issue has counted some of them. A final one in a process that counted meanwhile may have opened one
  -- that this statement does not see: then the row is not as it was when the statement began.
  cross join lateral (
    select x.id is null and f.latest = 1 and k.failures - s.streak < s.opens_after
      and case when f.is_final
        then k.failures - s.streak = (select b.failures from issue_streaks b where ${isStreakOf('b', 'f')})
        else k.failures >= s.opens_after end
      and not exists (select from issues i where ${isAbout('i', 'f')} and i.state <> 'resolved'
        and i.last_seen_at >= k.since)
      and not exists (select from issues i where ${isAbout('i', 'f')} and i.state = 'resolved'
        and i.resolved_at >= k.since and i.last_seen_at >= k.since) as opens
  ) b
  where x.id is not null or (
    (f.is_final or s.opens_after = 1 or greatest(s.streak, k.failures) >= s.opens_after)
    and (f.source_id = '' or exists (select from sources r where r.id = f.source_id))
    and (f.route_id = '' or exists (select from routes r where r.id = f.route_id))
    and (f.destination_id = '' or exists (select from destinations r where r.id = f.destination_id)))
), crowded as materialized (
  -- once for each organization, however many issues are to open
  select o.organization_id, n.issues from (select distinct organization_id from due where known_id is null) o
  cross join lateral (
    select count(*) as issues from (
      select from issues i where i.organization_id = o.organization_id and i.state <> 'resolved' limit ${MAX_ISSUES}) i
  ) n
), varied as materialized (
  select s.*, n.causes from (select distinct ${STREAK_KEY} from due where known_id is null) s cross join lateral (
    select count(*) as causes from (select from issues i where ${isAbout('i', 's')} and i.state <> 'resolved'
      limit ${MAX_CAUSES}) i
  ) n
), opening as (
  select d.*,
    c.issues + row_number() over (partition by d.organization_id
      order by d.kind, d.source_id, d.route_id, d.destination_id, d.cause) > ${MAX_ISSUES} as is_crowded,
    v.causes + row_number() over (partition by ${STREAK_KEY.replaceAll(/(\w+)/g, 'd.$1')}
      order by d.cause) > ${MAX_CAUSES} as has_many_causes
  from due d join crowded c using (organization_id) join varied v using (${STREAK_KEY}) where d.known_id is null
), placed as (
  select id, organization_id, kind, source_id, route_id, destination_id, cause, counted, first_seen_at, last_at,
         event_id, delivery_id, has_recovered,
         ${IS_EXHAUSTED}
  from due where known_id is not null
  union all
  select id, organization_id, kind, case when is_crowded then '' else source_id end,
         case when is_crowded then '' else route_id end,
         case when is_crowded then '' else destination_id end,
         case when is_crowded or has_many_causes then '${OTHER_CAUSE}' else cause end,
         -- what is counted together does not tell whether it has counted those before
         case when is_crowded and is_final then failures else counted end, first_seen_at, last_at, event_id,
         delivery_id, has_recovered and not is_crowded, ${IS_EXHAUSTED}
  from opening
), counted as (
  select min(id) as id, organization_id, kind, source_id, route_id, destination_id, cause, sum(counted) as count,
         least(min(first_seen_at), now()) as first_seen_at, least(max(last_at), now()) as last_seen_at,
         (array_agg(event_id order by last_at desc) filter (where event_id is not null))[1] as event_id,
         (array_agg(delivery_id order by last_at desc) filter (where delivery_id is not null))[1] as delivery_id,
         case when bool_and(has_recovered) then now() end as recovered_at,
         case when bool_or(is_exhausted) then now() end as exhausted_at
  from placed group by organization_id, kind, source_id, route_id, destination_id, cause
), lately as (
  select x.id, c.id as counted_id
  from counted c cross join lateral (${resolvedLately('c')}) l join issues x on x.id = l.id
  order by c.organization_id, c.kind, c.source_id, c.route_id, c.destination_id, c.cause
  for no key update of x
), reopened as (
  -- another process may have opened it meanwhile: then this only counts
  update issues x
  set state = case x.state when 'resolved' then 'open' else x.state end,
      changed_at = case x.state when 'resolved' then now() else x.changed_at end, resolved_at = null,
      exhausted_at = case x.state when 'resolved' then c.exhausted_at else coalesce(x.exhausted_at, c.exhausted_at) end,
      count = x.count + c.count, first_seen_at = least(x.first_seen_at, c.first_seen_at),
      last_seen_at = greatest(x.last_seen_at, c.last_seen_at),
      sample_event_id = case when c.delivery_id is null and c.event_id is null then x.sample_event_id
        else c.event_id end,
      sample_delivery_id = coalesce(c.delivery_id, x.sample_delivery_id), recovered_at = c.recovered_at
  from lately l join counted c on c.id = l.counted_id where x.id = l.id
), written as (
  insert into issues as x (id, organization_id, kind, source_id, route_id, destination_id, cause, count, first_seen_at,
    last_seen_at, sample_event_id, sample_delivery_id, recovered_at, exhausted_at)
  select id, organization_id, kind, nullif(source_id, ''), nullif(route_id, ''), nullif(destination_id, ''), cause,
         count, first_seen_at,
         last_seen_at, event_id, delivery_id, recovered_at, exhausted_at
  from counted c where not exists (select from lately l where l.counted_id = c.id)
  order by organization_id, kind, source_id, route_id, destination_id, cause
  on conflict (${SUBJECT_KEY}, cause) where state <> 'resolved' do update
    set count = x.count + excluded.count, first_seen_at = least(x.first_seen_at, excluded.first_seen_at),
        last_seen_at = greatest(x.last_seen_at, excluded.last_seen_at),
        sample_event_id = case when excluded.sample_delivery_id is null
          and excluded.sample_event_id is null then x.sample_event_id
                               else excluded.sample_event_id end,
        sample_delivery_id = coalesce(excluded.sample_delivery_id, x.sample_delivery_id),
        recovered_at = excluded.recovered_at,
        exhausted_at = coalesce(x.exhausted_at, excluded.exhausted_at)
), recovering as (
  select x.id from issues x join subject s on ${isAbout('x', 's')}
  where s.streak = 0 and x.state in ${MAY_RECOVER} and x.recovered_at is null
    and not exists (select from due d where d.known_id = x.id)
  order by x.organization_id, x.kind, x.source_id nulls first, x.route_id nulls first, x.destination_id nulls first,
    x.cause
  for no key update of x
)
update issues x set recovered_at = now() from recovering r where x.id = r.id`;

/**
 * @param db not in a transaction: the statement may be repeated
 * @throws a database error; when the connection was lost, they may have been stored all the same
 */
export async function recordIssues(db: Queryable, failing: SubjectCount[], working: IssueSubject[]): Promise<void> {
  const subjects = [
    ...failing.map((each) => ({ ...countedRow(each), worked: each.worked })),
    ...working.map((subject) => ({ ...subjectRow(subject), streak: 0, worked: true })),
  ];
  const failures = failing.flatMap(({ subject, causes }) =>
    Array.from(causes.values(), (cause) => ({ ...subjectRow(subject), ...causeRow(cause) })),
  );
  const record = () =>
    db.query({ name: 'record-issues', text: RECORD, values: [jsonParameter(subjects), jsonParameter(failures)] });
  try {
    await record();
  } catch (error) {
    // Another process has opened a new issue while this one opened the last one again. The next statement sees it.
    if (!isUniqueViolation(error)) throw error;
    await record();
  }
}

function countedRow({ subject, streak, causes }: SubjectCount) {
  const since = Math.min(...Array.from(causes.values(), ({ firstAt }) => firstAt));
  return { ...subjectRow(subject), streak, opens_after: OPENS_AFTER[subject.kind], since: new Date(since) };
}

function causeRow({ cause, count, firstAt, lastAt, isFinal, eventId, deliveryId }: CauseCount) {
  return {
    id: newId('iss'),
    cause,
    failures: count,
    first_at: new Date(firstAt),
    last_at: new Date(lastAt),
    is_final: isFinal,
    event_id: eventId,
    delivery_id: deliveryId,
  };
}

const WITH_ISSUES = `
select o.id from unnest($1::text[]) o(id)
where exists (select from issues i where i.organization_id = o.id and i.state <> 'resolved')
   or exists (select from issue_streaks k where k.organization_id = o.id)`;

export async function organizationsWithIssues(db: Queryable, organizationIds: string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>({
    name: 'organizations-with-issues',
    text: WITH_ISSUES,
    values: [organizationIds],
  });
  return new Set(rows.map(({ id }) => id));
}

/** @param due which of `issues x`; what is being counted is skipped */
const resolve = (due: string): string => `
update issues set state = 'resolved', resolved_at = now(), changed_at = now() where id = any(array(
  select x.id from issues x where x.state in ${MAY_RECOVER} and ${due} order by x.id for update skip locked))`;

const SINCE_LONG = 'x.last_seen_at < now() - make_interval(secs => $1)';

// Nothing is accepted while a limit is reached, so nothing says that its time has passed; nor does anything of what is
// counted together.
const OVER = `
x.source_id is null and x.route_id is null and x.destination_id is null and ${SINCE_LONG} and (
  x.kind <> 'quota_reached' or x.cause = 'eventsPerSecond' or x.cause = '${OTHER_CAUSE}'
  or (x.cause = 'eventsPerMonth' and date_trunc('month', x.last_seen_at, 'UTC') < date_trunc('month', now(), 'UTC')))`;

const RECOVERED = `x.recovered_at is not null and ${SINCE_LONG}`;

/** Whether something is to be resolved now; with the seconds of `resolveRecovered` as $1. */
export const RESOLVABLE = `exists (select from issues x where x.state in ${MAY_RECOVER} and ${OVER})`;
export const RECOVERING = `select min(x.last_seen_at) + make_interval(secs => $1) from issues x
    where x.state in ${MAY_RECOVER} and x.recovered_at is not null`;

/**
 * Resolves what has worked after its last failure, and has not failed for some time.
 * @param seconds for how long nothing may have failed
 */
export async function resolveRecovered(db: Queryable, seconds: number): Promise<void> {
  await db.query(resolve(RECOVERED), [seconds]);
  await db.query(resolve(OVER), [seconds]);
}

// Ordering keys that have been blocked for some time (db/schema/04-outbox.sql): they open an issue of their
// destination.

/** How long a key is blocked before that is an issue, in minutes. */
const REPORTED_AFTER_MINUTES = 5;

/** When a blocked key becomes an issue, for `db/operations/due.ts`. */
export const NEXT_REPORT = `select min(blocked_at) + interval '${REPORTED_AFTER_MINUTES} minutes' from order_keys
  where hold_until is not null and not is_reported`;
// Of issues that are not known to be over.
const UNBLOCKED_ISSUES = `issues x
  where x.kind = 'order_blocked' and x.state in ${MAY_RECOVER} and x.recovered_at is null
    and not exists (select from order_keys k where k.destination_id = x.destination_id and k.hold_until is not null)`;
export const ANY_UNBLOCKED = `exists (select from ${UNBLOCKED_ISSUES})`;

interface BlockedKey {
  organizationId: string;
  destinationId: string;
  deliveryId: string;
  eventId: string | null;
}

/** Keys that have been blocked for some time; each is returned once. */
export async function takeLongBlocked(db: Queryable, most: number): Promise<BlockedKey[]> {
  return sql(db).rows<BlockedKey>`
    with reported as (
      update order_keys k set is_reported = true
      where (destination_id, key_hash) in (
        select destination_id, key_hash from order_keys
        where hold_until is not null and not is_reported
          and blocked_at < now() - interval '${raw(REPORTED_AFTER_MINUTES)} minutes'
        order by blocked_at limit ${most} for update skip locked)
      returning k.organization_id, k.destination_id, k.head_id
    )
    select r.organization_id, r.destination_id, r.head_id as delivery_id,
           (select event_id from deliveries d where d.id = r.head_id) as event_id
    from reported r`;
}

/** Destinations with an issue about blocked keys that have none any more. */
export async function unblockedDestinations(
  db: Queryable,
): Promise<Pick<BlockedKey, 'organizationId' | 'destinationId'>[]> {
  return sql(db).rows<Pick<BlockedKey, 'organizationId' | 'destinationId'>>`
    select x.organization_id, x.destination_id from ${raw(UNBLOCKED_ISSUES)}
    and x.destination_id is not null`;
}
