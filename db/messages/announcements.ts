// Makes the messages to alert channels that are due: compares what issues are with what each channel knows of them, so
// nothing that a process forgot to say is lost.
import {
  type Announcement,
  announce,
  announcedAfter,
  type ChannelState,
  type IssueNews,
  inTurn,
  MAX_UNDER_WAY,
} from '../../core/messages/announcements.ts';
import { newId } from '../../core/text/ids.ts';
import { jsonParameter, rowsParameter, fragment, raw, sql } from '../connections/statements.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';
import { lockRound } from './route-mails.ts';

// What one round compares, at most: channels, and pairs of a channel and an issue.
const MAX_CHANNELS = 200;
const MAX_COMPARED = 20_000;

// Issues that are not as a channel knows them, but for those whose message is on its way.
const news = (channelIds: string[]) => fragment`
  select c.id as channel_id, i.id as issue_id, i.state, i.changed_at, i.exhausted_at,
         a.announced, a.announced_at, coalesce(a.announced_exhausted, false) as announced_exhausted
  from alert_channels c
  join issues i on i.organization_id = c.organization_id and i.state <> 'resolved'
  left join alert_announcements a on a.channel_id = c.id and a.issue_id = i.id
  where c.id = any(${channelIds}::text[]) and a.message_id is null
    and case when a.announced in ('opened', 'acknowledged')
      then a.announced <> case i.state when 'open' then 'opened' else i.state end
        or (i.exhausted_at is not null and not a.announced_exhausted)
      else i.state = 'open' and i.count >= c.after_count
        and (c.kinds is null or i.kind = any(c.kinds)) and (c.source_ids is null or i.source_id = any(c.source_ids))
        and (c.route_ids is null or i.route_id = any(c.route_ids))
        and (c.destination_ids is null or i.destination_id = any(c.destination_ids)) end
  union all
  select a.channel_id, i.id, i.state, i.changed_at, i.exhausted_at, a.announced, a.announced_at, a.announced_exhausted
  from alert_announcements a join issues i on i.id = a.issue_id and i.state = 'resolved'
  where a.channel_id = any(${channelIds}::text[]) and a.announced in ('opened', 'acknowledged')
    and a.message_id is null`;

interface Round {
  created: number;
  /** The last channel that this round compared; the next round begins after it. Empty: with the first. */
  last: string;
}

/**
 * One round: makes the messages that are due, for channels after one. The messages, and what the channels know by them,
 * are one transaction; one process is in it at a time, so each change has one message.
 * @returns null when another process is at it
 */
export async function createAnnouncements(pool: Pool, after: string): Promise<Round | null> {
  return inTransaction(pool, async (db) => {
    if (!(await lockRound(db))) return null;
    // The channels of a round, each with its organization's issues: with many, a round has fewer channels.
    const channels = await sql(db).rows<ChannelState & { total: number; now: Date }>`
      with next as materialized (
        select c.* from alert_channels c join organizations o on o.id = c.organization_id and o.deleted_at is null
        where c.id > ${after} and c.enabled order by c.id limit ${raw(MAX_CHANNELS)}
      ), per_organization as materialized (
        select n.organization_id,
               (select count(*) from issues i where i.organization_id = n.organization_id
                 and i.state <> 'resolved') as issues
        from (select distinct organization_id from next) n
      ), compared as (
        select n.*, sum(p.issues) over (order by n.id) - p.issues as before, count(*) over ()::int as total
        from next n join per_organization p using (organization_id)
      )
      select id, organization_id, on_acknowledged, on_resolved, throttle_minutes, quiet_hours, digest_minutes,
             last_digest_at, failing_since, failed_at, last_sent_at,
             (select count(*)::int from (
               select from messages m where m.channel_id = c.id limit ${raw(MAX_UNDER_WAY)}) m) as under_way,
             total, now() as now
      from compared c where before < ${raw(MAX_COMPARED)} order by id`;
    const [first] = channels;
    if (first === undefined) return { created: 0, last: '' };
    const rows = await sql(db).rows<IssueNews & { channelId: string }>`${news(channels.map(({ id }) => id))}`;
    const newsOf = Map.groupBy(rows, ({ channelId }) => channelId);
    const decided = channels.map((channel) => ({
      channel,
      ...announce(channel, newsOf.get(channel.id) ?? [], first.now),
    }));
    const messages = inTurn(decided.map((each) => each.messages));
    await store(db, messages);
    const forgotten = decided.flatMap(({ channel, forgotten }) =>
      forgotten.map((issue) => ({ channel: channel.id, issue })),
    );
    if (forgotten.length > 0)
      await sql(db).run`
        update alert_announcements a set announced = 'resolved', announced_exhausted = false
        from json_to_recordset(${jsonParameter(forgotten)}::json) as f(channel text, issue text)
        where a.channel_id = f.channel and a.issue_id = f.issue`;
    const isLast = channels.length === first.total && channels.length < MAX_CHANNELS;
    return { created: messages.length, last: isLast ? '' : (channels.at(-1)?.id ?? '') };
  });
}

async function store(db: Queryable, announcements: Announcement[]): Promise<void> {
  if (announcements.length === 0) return;
  const messages = announcements.map(({ channel, changes, digest }) => ({
    id: newId('alm'),
    organizationId: channel.organizationId,
    channelId: channel.id,
    kind: digest === null ? 'change' : 'digest',
    content: changes,
  }));
  const known = messages.flatMap(({ id: messageId, organizationId, channelId, content }) =>
    content.map((announcement) => ({
      ...{ channelId, organizationId, messageId, issueId: announcement.issueId },
      announced: announcedAfter(announcement),
      exhausted: announcement.exhausted,
    })),
  );
  await sql(db).run`
    insert into messages (id, organization_id, channel_id, kind, content)
    select * from json_to_recordset(${rowsParameter(messages)}::json) as m(id text, organization_id text,
      channel_id text, kind text, content jsonb)`;
  await sql(db).run`
    insert into alert_announcements as a (channel_id, issue_id, organization_id, announced, announced_at,
      announced_exhausted, message_id)
    select channel_id, issue_id, organization_id, announced, now(), exhausted, message_id
    from json_to_recordset(${rowsParameter(known)}::json)
      as t(channel_id text, issue_id text, organization_id text, announced text, exhausted boolean, message_id text)
    on conflict (channel_id, issue_id) do update
    set announced = excluded.announced, announced_at = excluded.announced_at,
        announced_exhausted = excluded.announced_exhausted,
        message_id = excluded.message_id`;
  const whole = announcements.flatMap(({ channel, digest }) => (digest === 'whole' ? [channel.id] : []));
  // The rest of a digest that is not whole does not wait for the next.
  if (whole.length > 0)
    await sql(db).run`update alert_channels set last_digest_at = now() where id = any(${whole}::text[])`;
}
