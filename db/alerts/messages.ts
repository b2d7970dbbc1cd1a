// Messages to channels of alerts on their way: claimed when due, and loaded to be sent (alert_messages). endings.ts ends them.
// Rules: ALR-14, ALR-19.
import type { Change, ChannelType } from '../../core/messages/channel.ts';
import type { AlertIssue, IssueChange, Named } from '../../core/messages/message.ts';
import type { IssueKind, IssueState } from '../../core/messages/issues.ts';
import { jsonParameter } from '../parameters.ts';
import type { Queryable } from '../connections/pool.ts';
import { dueInTurn } from '../sql-rules.ts';

export interface MessageKey {
  organizationId: string;
  messageId: string;
}

/** A change that a message tells. */
export interface ToldChange {
  issueId: string;
  change: Change;
  /** Of the messages about this issue to this channel. */
  number: number;
  /** What the channel had been told of it before. */
  before: Change | null;
  /** Whether it tells that a delivery has failed for good. */
  exhausted: boolean;
}

/** `failing` and `recovered` are about another channel. */
export type MessageKind = 'change' | 'digest' | 'failing' | 'recovered';

/** A message to be started. */
export interface DueMessage extends MessageKey {
  channelId: string;
  kind: MessageKind;
  changes: ToldChange[];
}

// A clock that was set back leaves messages of the future behind: they are of now. Columns round to the millisecond: upwards, they
// would not be due yet.
const OF_NOW = `
update alert_messages set created_at = now(), due_at = date_trunc('milliseconds', now()) where created_at > now() + interval '1 minute'`;

// Rows are locked while they are claimed and moved ahead in time, so each is claimed by one worker, and comes back when that worker
// dies before it has started the workflow. What tells of another channel waits for the end of the quiet hours, and until what told
// of it before has ended: an incident that is over must not begin afterwards.
const CLAIM = `
with due as (
  select m.id, m.failing_channel_id is not null and exists (
    select from alert_messages b
    where b.channel_id = m.channel_id and b.failing_channel_id = m.failing_channel_id and (b.created_at, b.id) < (m.created_at, m.id)
  ) as is_early
  from alert_messages m
  join (${dueInTurn('alert_messages', 'id', 'due_at', '$1')}) w on w.id = m.id
  where m.due_at <= now() for update of m skip locked
), claimed as (
  update alert_messages m set due_at = now() + case when d.is_early then interval '5 seconds' else interval '1 minute' end
  from due d where m.id = d.id returning m.*, d.is_early
)
select m.id as "messageId", m.organization_id as "organizationId", m.channel_id as "channelId", m.kind, m.changes
from claimed m join alert_channels c on c.id = m.channel_id
where not m.is_early and (m.failing_channel_id is null or not is_quiet(c.quiet_hours, now()))`;

/** Claims messages whose workflows are to be started, organization by organization, the longest overdue first. */
export async function claimMessages(db: Queryable, limit: number): Promise<DueMessage[]> {
  await db.query(OF_NOW);
  return (await db.query<DueMessage>(CLAIM, [limit])).rows;
}

const STARTED = `
update alert_messages m set due_at = now() + interval '3 hours'
from json_to_recordset($1::json) as s("organizationId" text, "messageId" text)
where m.organization_id = s."organizationId" and m.id = s."messageId"`;

/** The workflows of these messages have started: they are claimed again only when these should have ended long ago. */
export async function noteStarted(db: Queryable, started: readonly MessageKey[]): Promise<void> {
  const keys = started.map(({ organizationId, messageId }) => ({ organizationId, messageId }));
  if (keys.length > 0) await db.query(STARTED, [jsonParameter(keys)]);
}

/** A message with what it takes to send it. */
export interface LoadedMessage {
  kind: MessageKind;
  createdAt: Date;
  organization: { id: string; slug: string };
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
  /** Of its addresses, in lower case, those whose owners have agreed. */
  confirmed: string[];
  changes: IssueChange[];
  /** Of `failing` and `recovered`. */
  other: {
    id: string;
    /** Null: it was deleted. */
    name: string | null;
    /** Null: it does not fail. */
    failing: { type: ChannelType; since: Date; error: string } | null;
  } | null;
}

const MESSAGE = `
select m.kind, m.created_at as "createdAt", m.changes, m.channel_id as "channelId", o.slug,
       c.name, c.type, c.enabled, c.config, c.notify_emails as "notifyEmails", c.previous_secret as "previousSecret",
       c.previous_secret_until as "previousSecretUntil",
       array(select n.address from notification_recipients n
             where n.organization_id = c.organization_id and n.confirmed_at is not null
               and n.address = any(notified_addresses(c.notify_emails))) as confirmed,
       m.failing_channel_id as "otherId", f.name as "otherName", f.type as "otherType", f.failing_since as "failingSince",
       f.last_error as "lastError"
from alert_messages m
join alert_channels c on c.id = m.channel_id
join organizations o on o.id = m.organization_id
left join alert_channels f on f.id = m.failing_channel_id and f.organization_id = m.organization_id
where m.organization_id = $1 and m.id = $2`;

const ISSUES = `
select i.id, i.kind, i.cause, i.state, i.count, i.first_seen_at as "firstSeenAt", i.last_seen_at as "lastSeenAt",
       i.opened_at as "openedAt", i.resolved_at as "resolvedAt", i.sample_event_id as "sampleEventId",
       i.sample_delivery_id as "sampleDeliveryId",
       i.source_id as "sourceId", s.name as "sourceName", i.route_id as "routeId", r.name as "routeName",
       i.destination_id as "destinationId", d.name as "destinationName"
from issues i
left join sources s on s.id = i.source_id and s.organization_id = i.organization_id
left join routes r on r.id = i.route_id and r.organization_id = i.organization_id
left join destinations d on d.id = i.destination_id and d.organization_id = i.organization_id
where i.organization_id = $1 and i.id = any($2::text[])`;

type MessageRow = LoadedMessage['channel'] &
  Pick<LoadedMessage, 'kind' | 'createdAt' | 'confirmed'> & {
    changes: ToldChange[];
    channelId: string;
    slug: string;
    otherId: string | null;
    otherName: string | null;
    otherType: ChannelType | null;
    failingSince: Date | null;
    lastError: string | null;
  };

interface IssueRow extends Omit<AlertIssue, 'source' | 'route' | 'destination'> {
  kind: IssueKind;
  state: IssueState;
  sourceId: string | null;
  sourceName: string | null;
  routeId: string | null;
  routeName: string | null;
  destinationId: string | null;
  destinationName: string | null;
}

/** @returns null when the message was sent or given up, or its channel deleted. Issues that are gone are left out */
export async function loadMessage(db: Queryable, key: MessageKey): Promise<LoadedMessage | null> {
  const { organizationId, messageId } = key;
  const { rows } = await db.query<MessageRow>(MESSAGE, [organizationId, messageId]);
  const [row] = rows;
  if (!row) return null;
  const issues = await loadIssues(
    db,
    organizationId,
    row.changes.map(({ issueId }) => issueId),
  );
  const { name, type, enabled, config, notifyEmails, previousSecret, previousSecretUntil } = row;
  return {
    kind: row.kind,
    createdAt: row.createdAt,
    organization: { id: organizationId, slug: row.slug },
    channel: { id: row.channelId, name, type, enabled, config, notifyEmails, previousSecret, previousSecretUntil },
    confirmed: row.confirmed,
    changes: row.changes.flatMap(({ issueId, change, exhausted }) => {
      const issue = issues.get(issueId);
      return issue ? [{ change, issue, exhausted }] : [];
    }),
    other: row.otherId === null ? null : otherOf(row, row.otherId),
  };
}

const otherOf = ({ otherName, otherType, failingSince, lastError }: MessageRow, id: string) => ({
  id,
  name: otherName,
  failing:
    otherType === null || failingSince === null
      ? null
      : { type: otherType, since: failingSince, error: lastError ?? '' },
});

async function loadIssues(db: Queryable, organizationId: string, ids: string[]): Promise<Map<string, AlertIssue>> {
  if (ids.length === 0) return new Map();
  const { rows } = await db.query<IssueRow>(ISSUES, [organizationId, ids]);
  return new Map(rows.map((row) => [row.id, issueOf(row)]));
}

function issueOf({ sourceId, sourceName, routeId, routeName, destinationId, destinationName, ...issue }: IssueRow) {
  const named = (id: string | null, name: string | null): Named | null => (id === null ? null : { id, name });
  return {
    ...issue,
    source: named(sourceId, sourceName),
    route: named(routeId, routeName),
    destination: named(destinationId, destinationName),
  };
}
