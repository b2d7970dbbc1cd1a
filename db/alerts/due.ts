// Which channels are to be told of which issues now: compares what is with what each channel has been told, so nothing that a process
// forgot to say is lost.
// Rules: ALR-06 to ALR-09, ALR-14 to ALR-16, ALR-26.
import type { Change } from '../../core/messages/channel.ts';
import { MAX_DIGEST_CHANGES } from '../../core/messages/safe-text.ts';
import { newId } from '../../core/text/ids.ts';
import { jsonParameter } from '../parameters.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';
import { LOCKS } from '../sql-rules.ts';

// Limits of one round: channels, issues that are compared with what channels were told, and changes. What is beyond waits, as does
// what is beyond the messages under way to one channel.
const MAX_CHANNELS = 200;
const MAX_COMPARED = 20_000;
// A digest is not cut by it: it has up to MAX_DIGEST_CHANGES more.
const MAX_CHANGES = 500;
const MAX_UNDER_WAY = 100;
// To one that has not taken any yet.
const MAX_UNTIL_ANSWERED = 5;
// A channel that failed is tried again with the next change after this time.
const TRY_FAILING_AFTER = "interval '15 minutes'";

/** Condition: a time is so long ago. One of the future is from before the clock was set back: it counts as past. */
const passed = (at: string, interval: string): string =>
  `(${at} <= now() - ${interval} or ${at} > now() + interval '1 minute')`;
const THROTTLED = 'make_interval(mins => c.throttle_minutes)';
const DIGEST = 'make_interval(mins => c.digest_minutes)';

interface Due {
  channelId: string;
  organizationId: string;
  issueId: string;
  change: Change;
  /** What it was told before; null: nothing. */
  before: Change | null;
  /** Whether a delivery has failed for good, as the message tells. */
  exhausted: boolean;
  /** Of the messages about this issue to this channel, this one included. */
  number: number;
  isDigest: boolean;
  /** Of a digest: whether it has everything that is due. */
  isWhole: boolean;
}

// A channel is told first of open issues that its rules name; then, whatever its rules say by now, of what becomes of these. While a
// message about an issue is on its way there is no other, so they arrive in their order. That a delivery has failed for good is told
// once, so it does not wait for the throttle. `here`: the channels of this round. `untold`: a channel that does not want to hear of
// ends has no message of one, but hears of the issue again when it opens again.
const DUE = `
with here as materialized (
  select c.*, (select count(*) from (select from alert_messages m where m.channel_id = c.id limit ${MAX_UNDER_WAY}) m) as under_way,
         case when c.failing_since is not null then 1 when c.last_sent_at is null then ${MAX_UNTIL_ANSWERED} else ${MAX_UNDER_WAY} end as room
  from alert_channels c
  where c.id = any($1::text[])
    and (c.failing_since is null or ${passed('c.failed_at', TRY_FAILING_AFTER)}) and not is_quiet(c.quiet_hours, now())
), due as (
  select c.id as channel_id, c.organization_id, i.id as issue_id, case when e.tells then i.exhausted_at else i.changed_at end as changed_at,
         a.told as before, coalesce(a.number, 0) + 1 as number,
         case when e.tells then 'exhausted' when i.state = 'open' then 'opened' else 'acknowledged' end as change,
         i.exhausted_at is not null as exhausted, c.under_way
  from here c
  join issues i on i.organization_id = c.organization_id and i.state <> 'resolved' and i.state in ('open', 'acknowledged')
  left join alert_announcements a on a.channel_id = c.id and a.issue_id = i.id
  cross join lateral (
    select i.exhausted_at is not null and not a.told_exhausted and a.told in ('opened', 'acknowledged') is true as tells
  ) e
  where a.message_id is null
    and (e.tells or a.told_at is null or ${passed('a.told_at', THROTTLED)})
    and case when e.tells then true
        when i.state = 'open' and (a.told is null or a.told in ('ignored', 'resolved')) then i.count >= c.after_count
          and (c.kinds is null or i.kind = any(c.kinds)) and (c.source_ids is null or i.source_id = any(c.source_ids))
          and (c.route_ids is null or i.route_id = any(c.route_ids))
          and (c.destination_ids is null or i.destination_id = any(c.destination_ids))
        when i.state = 'open' then a.told = 'acknowledged'
        else a.told = 'opened' and c.on_acknowledged end
  union all
  select c.id, c.organization_id, i.id, i.changed_at, a.told, a.number + 1, i.state, i.exhausted_at is not null, c.under_way
  from here c
  join alert_announcements a on a.channel_id = c.id and a.told in ('opened', 'acknowledged')
  join issues i on i.id = a.issue_id and i.state in ('resolved', 'ignored')
  where c.on_resolved and a.message_id is null and ${passed('a.told_at', THROTTLED)}
), untold as (
  update alert_announcements a set told = 'resolved', told_exhausted = false
  from here c, issues i
  where not c.on_resolved and a.channel_id = c.id and a.told in ('opened', 'acknowledged') and a.message_id is null
    and ${passed('a.told_at', THROTTLED)} and i.id = a.issue_id and i.state = 'resolved'
), in_turn as (
  select d.*, row_number() over (partition by d.channel_id order by d.changed_at, d.issue_id) as place,
         min(d.changed_at) over (partition by d.channel_id) as oldest, count(*) over (partition by d.channel_id) as total
  from due d
), fitting as (
  select t.*, c.digest_minutes is not null as is_digest from in_turn t join here c on c.id = t.channel_id
  where case when c.digest_minutes is null then t.place + t.under_way <= c.room
        else t.place <= ${MAX_DIGEST_CHANGES} and t.under_way = 0 and ${passed('t.oldest', DIGEST)}
          and (c.last_digest_at is null or ${passed('c.last_digest_at', DIGEST)}) end
), numbered as (
  select f.*, row_number() over (order by case when f.is_digest then 1 else f.place end, f.channel_id, f.place) as nth from fitting f
), bounded as (
  select n.*, min(n.nth) over (partition by n.channel_id) as first_nth from numbered n
)
select b.channel_id as "channelId", b.organization_id as "organizationId", b.issue_id as "issueId", b.change, b.before, b.exhausted, b.number,
       b.is_digest as "isDigest", b.total <= ${MAX_DIGEST_CHANGES} as "isWhole"
from bounded b where case when b.is_digest then b.first_nth else b.nth end <= ${MAX_CHANGES}
order by b.nth`;

// The channels of a round, each with its organization's issues: with many, a round has fewer channels.
const NEXT = `
with next as materialized (
  select c.id, c.organization_id from alert_channels c join organizations o on o.id = c.organization_id and o.deleted_at is null
  where c.id > $1 and c.enabled order by c.id limit ${MAX_CHANNELS}
), per_organization as materialized (
  select n.organization_id, (select count(*) from issues i where i.organization_id = n.organization_id and i.state <> 'resolved') as issues
  from (select distinct organization_id from next) n
), in_turn as (
  select n.id, sum(p.issues) over (order by n.id) - p.issues as compared, count(*) over () as total
  from next n join per_organization p using (organization_id)
)
select id, total::int from in_turn where compared < ${MAX_COMPARED} order by id`;

/** Where a round begins: after this channel. Empty: at the first. */
export type Place = string;

/**
 * One round: creates the messages that are due, for channels after a place. The messages, and what the channels have been told by
 * them, are one transaction; one process is in it at a time, so each change has one message.
 * @returns how many were created, and where the next round begins; null when another process is at it
 */
export async function createDueMessages(pool: Pool, after: Place): Promise<{ created: number; next: Place } | null> {
  return inTransaction(pool, async (db) => {
    // In a statement of its own: the next one sees what the last holder has committed.
    const { rows: locks } = await db.query<{ locked: boolean }>('select pg_try_advisory_xact_lock($1) as locked', [
      LOCKS.alerts,
    ]);
    if (!locks[0]?.locked) return null;
    const { rows: channels } = await db.query<{ id: string; total: number }>(NEXT, [after]);
    const ids = channels.map(({ id }) => id);
    if (ids.length === 0) return { created: 0, next: '' };
    const { rows: due } = await db.query<Due>(DUE, [ids]);
    const created = await createMessages(db, due);
    const whole = new Set(due.filter(({ isDigest, isWhole }) => isDigest && isWhole).map(({ channelId }) => channelId));
    // The rest of one that is not whole does not wait for the next.
    if (whole.size > 0) await db.query(DIGEST_MADE, [[...whole]]);
    const isLast = ids.length === channels[0]?.total && ids.length < MAX_CHANNELS;
    return { created, next: isLast ? '' : (ids.at(-1) ?? '') };
  });
}

const DIGEST_MADE = 'update alert_channels set last_digest_at = now() where id = any($1::text[])';

const INSERT = `
insert into alert_messages (id, organization_id, channel_id, kind, changes)
select m.id, m."organizationId", m."channelId", m.kind, m.changes
from json_to_recordset($1::json) as m(id text, "organizationId" text, "channelId" text, kind text, changes jsonb)`;

const ANNOUNCE = `
insert into alert_announcements as a (channel_id, issue_id, organization_id, told, told_at, told_exhausted, number, message_id)
select t."channelId", t."issueId", t."organizationId", t.told, now(), t.exhausted, t.number, t."messageId"
from json_to_recordset($1::json)
  as t("channelId" text, "issueId" text, "organizationId" text, told text, exhausted boolean, number integer, "messageId" text)
on conflict (channel_id, issue_id) do update
set told = excluded.told, told_at = excluded.told_at, told_exhausted = excluded.told_exhausted, number = excluded.number,
    message_id = excluded.message_id`;

/** @returns how many messages */
async function createMessages(db: Queryable, due: Due[]): Promise<number> {
  if (due.length === 0) return 0;
  const digests = Map.groupBy(
    due.filter(({ isDigest }) => isDigest),
    ({ channelId }) => channelId,
  );
  const groups = [...due.filter(({ isDigest }) => !isDigest).map((each) => [each]), ...digests.values()];
  const messages = groups.map((changes) => ({ id: newId('alm'), changes }));
  const rows = messages.flatMap(({ id, changes: [first, ...others] }) => {
    if (!first) return [];
    const { organizationId, channelId, isDigest } = first;
    const changes = [first, ...others].map(({ issueId, change, number, before, exhausted }) => ({
      ...{ issueId, change, number, before, exhausted },
    }));
    return { id, organizationId, channelId, kind: isDigest ? 'digest' : 'change', changes };
  });
  await db.query(INSERT, [jsonParameter(rows)]);
  const told = messages.flatMap(({ id, changes }) =>
    changes.map((each) => ({ ...each, told: stateAfter(each), messageId: id })),
  );
  await db.query(ANNOUNCE, [jsonParameter(told)]);
  return messages.length;
}

/** As what the channel knows the issue. That deliveries fail for good is one more word about one that it knows. */
const stateAfter = ({ change, before }: Due): Change | null => (change === 'exhausted' ? before : change);
