// The outbox: messages are claimed when due, loaded to be sent, and ended: sent, not wanted any more, or given up.
import type { AnnouncedChange } from '../../core/messages/announcements.ts';
import { type ChannelType, isQuiet, type QuietHours } from '../../core/messages/channel.ts';
import type { AlertIssue, IssueChange } from '../../core/messages/message.ts';
import type { MailKind, RouteMail } from '../../core/messages/route-mails.ts';
import { jsonParameter, raw, rowsParameter, sql } from '../connections/statements.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';
import { dueInTurn, ISSUE_NAMES } from '../sql/rules.ts';
import { noteArrived, noteFailed, notifyLater, notifyOther } from './alert-channels.ts';

export interface MessageKey {
  organizationId: string;
  messageId: string;
}

/** `failing` and `recovered` are about another channel. */
export type AlertKind = 'change' | 'digest' | 'failing' | 'recovered';

export interface DueMessage extends MessageKey {
  kind: MailKind | AlertKind;
  channelId: string | null;
  type: ChannelType;
  routeId: string | null;
}

const MADE = '(select * from messages where content is not null and sent_at is null) m';

/**
 * Claims messages whose workflows are to be started, organization by organization, the longest overdue first. Those
 * about another channel wait for the end of the quiet hours.
 */
export async function claimMessages(db: Queryable, limit: number): Promise<{ due: DueMessage[]; claimed: number }> {
  // A clock that was set back leaves messages of the future behind: they are of now. Columns round to the millisecond:
  // upwards, they would not be due yet.
  await sql(db).run`
    update messages
    set created_at = now(), due_at = case when due_at is not null then date_trunc('milliseconds', now()) end
    where created_at > now() + interval '1 minute'`;
  // Rows are locked while they are claimed and moved ahead in time, so each is claimed by one worker, and comes back
  // when that worker dies before it has started the workflow. What is about another channel waits until what was about
  // it before has ended: an incident that is over must not begin afterwards.
  const rows = await sql(db).rows<DueMessage & { quietHours: QuietHours | null; isEarly: boolean; now: Date }>`
    with due as (
      select m.id, m.failing_channel_id is not null and exists (
        select from messages b
        where b.channel_id = m.channel_id and b.failing_channel_id = m.failing_channel_id
          and (b.created_at, b.id) < (m.created_at, m.id)
      ) as is_early
      from messages m
      join (${dueInTurn(MADE, 'id', 'due_at', limit)}) w on w.id = m.id
      where m.due_at <= now() and m.content is not null and m.sent_at is null for update of m skip locked
    ), claimed as (
      update messages m
      set due_at = now() + case when d.is_early then interval '5 seconds' else interval '1 minute' end
      from due d where m.id = d.id returning m.*, d.is_early
    )
    select m.id as message_id, m.organization_id, m.kind, m.channel_id, m.route_id, coalesce(c.type, 'mail') as type,
           case when m.failing_channel_id is not null then c.quiet_hours end as quiet_hours, m.is_early, now() as now
    from claimed m left join alert_channels c on c.id = m.channel_id`;
  const due = rows.flatMap(({ quietHours, isEarly, now, ...message }) =>
    isEarly || isQuiet(quietHours, now) ? [] : [message],
  );
  return { due, claimed: rows.length };
}

/**
 * The workflows of these messages have started: they are claimed again hours later, should the workflows have been
 * lost.
 */
export async function noteStarted(db: Queryable, started: readonly MessageKey[]): Promise<void> {
  if (started.length > 0)
    await sql(db).run`
      update messages m set due_at = now() + interval '3 hours'
      from json_to_recordset(${rowsParameter(started)}::json) as s(organization_id text, message_id text)
      where m.organization_id = s.organization_id and m.id = s.message_id and m.sent_at is null`;
}

interface Loaded {
  createdAt: Date;
  organization: { id: string; slug: string };
  emails: string;
  /** Those of them, in lower case, whose owners have agreed. */
  confirmed: string[];
}

export interface LoadedMail extends Loaded {
  to: 'route';
  kind: MailKind;
  mail: RouteMail;
  /** Null: it was deleted, or does not notify of this any more. */
  route: { id: string; name: string } | null;
  /** Names; null when the record was deleted. */
  sourceName: string | null;
  destinationName: string | null;
}

export interface LoadedAlert extends Loaded {
  to: 'channel';
  kind: AlertKind;
  channel: {
    id: string;
    name: string;
    type: ChannelType;
    enabled: boolean;
    config: string | null;
    notifyEmails: string | null;
    previousSecret: string | null;
    previousSecretUntil: Date | null;
  };
  changes: IssueChange[];
  other: {
    id: string;
    /** Null: it was deleted. */
    name: string | null;
    /** Null: it does not fail. */
    failing: { type: ChannelType; since: Date; error: string } | null;
  } | null;
}

type MessageRow = Loaded &
  Pick<LoadedMail, 'route' | 'sourceName' | 'destinationName'> & {
    kind: MailKind | AlertKind;
    content: RouteMail | AnnouncedChange[];
    channel: Omit<LoadedAlert['channel'], 'previousSecretUntil'> | null;
    previousSecretUntil: Date | null;
    other: { id: string; name: string | null } | null;
    failing: { type: ChannelType; error: string } | null;
    failingSince: Date | null;
  };

/** @returns null when the message was ended, or its channel deleted. Issues that are gone are left out */
export async function loadMessage(db: Queryable, key: MessageKey): Promise<LoadedMail | LoadedAlert | null> {
  const row = await sql(db).first<MessageRow>`
    select m.kind, m.created_at, m.content,
           jsonb_build_object('id', o.id, 'slug', o.slug) as organization,
           coalesce(r.notify_emails, c.notify_emails, '') as emails,
           array(select n.address from notification_recipients n
                 where n.organization_id = m.organization_id and n.confirmed_at is not null
                   and n.address = any(notified_addresses(coalesce(r.notify_emails, c.notify_emails)))) as confirmed,
           case when r.id is not null then jsonb_build_object('id', r.id, 'name', r.name) end as route,
           s.name as source_name, d.name as destination_name,
           case when c.id is not null then jsonb_build_object(
             'id', c.id, 'name', c.name, 'type', c.type, 'enabled', c.enabled, 'config', c.config,
             'notifyEmails', c.notify_emails, 'previousSecret', c.previous_secret) end as channel,
           c.previous_secret_until,
           case when m.failing_channel_id is not null then jsonb_build_object(
             'id', m.failing_channel_id, 'name', f.name) end as other,
           case when f.failing_since is not null then jsonb_build_object(
             'type', f.type, 'error', coalesce(f.last_error, '')) end as failing,
           f.failing_since
    from messages m
    join organizations o on o.id = m.organization_id
    left join routes r on r.id = m.route_id and r.notify_emails is not null
      and case m.kind when 'failure' then r.notify_on_failure when 'success' then r.notify_on_success
        else r.notify_on_recovery end
    left join sources s on s.id = r.source_id
    left join destinations d on d.id = m.content -> 'facts' ->> 'destination_id'
      and d.organization_id = m.organization_id
    left join alert_channels c on c.id = m.channel_id
    left join alert_channels f on f.id = m.failing_channel_id and f.organization_id = m.organization_id
    where m.organization_id = ${key.organizationId} and m.id = ${key.messageId} and m.content is not null
      and m.sent_at is null`;
  if (!row) return null;
  const { channel, content, other, failing, failingSince, previousSecretUntil, ...loaded } = row;
  if (channel === null) return { ...loaded, to: 'route', kind: row.kind as MailKind, mail: content as RouteMail };
  const announced = content as AnnouncedChange[];
  const issues = await loadIssues(
    db,
    key.organizationId,
    announced.map(({ issueId }) => issueId),
  );
  return {
    ...loaded,
    to: 'channel',
    kind: row.kind as AlertKind,
    channel: { ...channel, previousSecretUntil },
    changes: announced.flatMap(({ issueId, change, exhausted }) => {
      const issue = issues.get(issueId);
      return issue ? [{ change, issue, exhausted }] : [];
    }),
    other: other && { ...other, failing: failing && failingSince && { ...failing, since: failingSince } },
  };
}

async function loadIssues(db: Queryable, organizationId: string, ids: string[]): Promise<Map<string, AlertIssue>> {
  const rows = await sql(db).rows<AlertIssue>`
    select id, kind, cause, state, count, first_seen_at, last_seen_at, opened_at, resolved_at, sample_event_id,
           sample_delivery_id, ${raw(ISSUE_NAMES)}
    from issues where organization_id = ${organizationId} and id = any(${ids}::text[])`;
  return new Map(rows.map((issue) => [issue.id, issue]));
}

/** Notes that a try has failed. @returns whether the first that did is an hour ago */
export async function noteFailedTry(db: Queryable, { organizationId, messageId }: MessageKey): Promise<boolean> {
  const [isOver = false] = await sql(db).column<boolean>`
    update messages set tried_at = coalesce(tried_at, now()) where organization_id = ${organizationId}
      and id = ${messageId}
    returning tried_at <= now() - interval '1 hour'`;
  return isOver;
}

/** @returns false when the message is not a mail of a route */
async function finishMail(db: Queryable, { organizationId, messageId }: MessageKey): Promise<boolean> {
  // One that was sent, or given up, keeps the next one of its kind waiting (core/messages/route-mails.ts).
  return sql(db).any`
    update messages set sent_at = now(), due_at = now() + interval '5 minutes'
    where organization_id = ${organizationId} and id = ${messageId} and route_id is not null and sent_at is null`;
}

interface Removed {
  /** Null: it was a mail of a route. */
  channelId: string | null;
  kind: AlertKind;
  changes: AnnouncedChange[];
  failingChannelId: string | null;
  triedChannelIds: string[];
  createdAt: Date;
}

async function remove(db: Queryable, { organizationId, messageId }: MessageKey): Promise<Removed | undefined> {
  return sql(db).first<Removed>`
    delete from messages where organization_id = ${organizationId} and id = ${messageId} and sent_at is null
    returning channel_id, kind, content as changes, failing_channel_id, tried_channel_ids, created_at`;
}

/** Ends a message that was sent, or is not wanted any more. Ending it twice is harmless. */
export async function finishMessage(pool: Pool, key: MessageKey, result: 'sent' | 'unwanted'): Promise<void> {
  const { organizationId } = key;
  await inTransaction(pool, async (db) => {
    if (result === 'sent' && (await finishMail(db, key))) return;
    const message = await remove(db, key);
    if (!message || message.channelId === null) return;
    const channel = { id: message.channelId, organizationId };
    if (result === 'sent') await noteArrived(db, channel);
    else await takeBack(db, channel, message);
  });
}

/**
 * Gives up a message. If it was to a channel, this fails, and another channel of the organization is notified, once
 * until it works again. What the message was to say about another channel is passed on to one that was not tried.
 * @returns the type of the channel, `mail` for a mail of a route, and the channel that is notified; null when the
 *   message is gone
 */
export async function giveUpMessage(
  pool: Pool,
  key: MessageKey,
  reason: string,
): Promise<{ channelId: string | null; type: ChannelType; notifiedChannelId: string | null } | null> {
  const { organizationId } = key;
  return inTransaction(pool, async (db) => {
    if (await finishMail(db, key)) return { channelId: null, type: 'mail', notifiedChannelId: null };
    const message = await remove(db, key);
    if (!message || message.channelId === null) return null;
    const channel = { id: message.channelId, organizationId };
    const failed = await noteFailed(db, channel, reason);
    if (!failed) return null;
    const passedTo = await takeBack(db, channel, message);
    // What it was to pass on is on its way.
    const changes = message.kind === 'failing' ? [] : message.changes;
    const notified = failed.isNew ? await notifyOther(db, channel, changes, []) : null;
    return { channelId: channel.id, type: failed.type, notifiedChannelId: notified ?? passedTo };
  });
}

/** Undoes what was noted for a message that has not arrived. @returns the channel that is notified instead, if any */
async function takeBack(
  db: Queryable,
  channel: { id: string; organizationId: string },
  { kind, changes, failingChannelId, triedChannelIds, createdAt }: Removed,
): Promise<string | null> {
  const { id, organizationId } = channel;
  if (kind === 'failing' && failingChannelId !== null)
    return notifyOther(db, { id: failingChannelId, organizationId }, changes, [...triedChannelIds, id]);
  if (kind === 'recovered') {
    await notifyLater(db, channel, failingChannelId, createdAt);
  } else {
    // The channel knows what it knew before; it is notified of what is still so, once it is enabled and has been given
    // time.
    await sql(db).run`
      update alert_announcements a
      set announced = t.before, announced_at = now(),
          announced_exhausted = a.announced_exhausted and t.change not in ('opened', 'exhausted')
      from json_to_recordset(${jsonParameter(changes)}::json) as t("issueId" text, change text, before text)
      where a.organization_id = ${organizationId} and a.channel_id = ${id} and a.issue_id = t."issueId"`;
  }
  if (kind === 'digest')
    await sql(db).run`
      update alert_channels set last_digest_at = null where organization_id = ${organizationId} and id = ${id}`;
  return null;
}
