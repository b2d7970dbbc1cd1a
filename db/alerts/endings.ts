// How messages to channels of alerts end: sent, not wanted any more, or given up.
// Rules: ALR-15, ALR-17 to ALR-20, ALR-25.
import type { ChannelType } from '../../core/messages/channel.ts';
import { newId } from '../../core/text/ids.ts';
import { jsonParameter } from '../parameters.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';
import type { MessageKey, MessageKind, ToldChange } from './messages.ts';
import { noteArrived } from './recoveries.ts';

interface Removed {
  channelId: string;
  kind: MessageKind;
  changes: ToldChange[];
  /** Of `failing` and `recovered`. */
  failingChannelId: string | null;
  triedChannelIds: string[];
  createdAt: Date;
}

const REMOVE = `
delete from alert_messages where organization_id = $1 and id = $2
returning channel_id as "channelId", kind, changes, failing_channel_id as "failingChannelId",
          tried_channel_ids as "triedChannelIds", created_at as "createdAt"`;

async function remove(db: Queryable, { organizationId, messageId }: MessageKey): Promise<Removed | undefined> {
  return (await db.query<Removed>(REMOVE, [organizationId, messageId])).rows[0];
}

/** Ends a message that was sent, or is not wanted any more. Ending it twice is harmless. */
export async function finishMessage(pool: Pool, key: MessageKey, result: 'sent' | 'unwanted'): Promise<void> {
  const { organizationId } = key;
  await inTransaction(pool, async (db) => {
    const message = await remove(db, key);
    if (!message) return;
    if (result === 'sent') await noteArrived(db, { id: message.channelId, organizationId });
    else await takeBack(db, organizationId, message);
  });
}

// What the channel knows is what it knew before; it is told of what is still so, once it is enabled and has been given time.
const FORGET = `
update alert_announcements a
set told = t.before, told_at = now(), told_exhausted = a.told_exhausted and t.change not in ('opened', 'exhausted')
from json_to_recordset($3::json) as t("issueId" text, change text, before text)
where a.organization_id = $1 and a.channel_id = $2 and a.issue_id = t."issueId"`;
const FORGET_DIGEST = 'update alert_channels set last_digest_at = null where organization_id = $1 and id = $2';

// Nobody else can end an incident that was opened there, so it is told again when the channel may work.
const TELL_LATER = `
insert into alert_messages (id, organization_id, channel_id, kind, changes, failing_channel_id, created_at, due_at)
select $1, $2, $3, 'recovered', '[]', $4, $5, now() + interval '15 minutes' where $5::timestamptz > now() - interval '7 days'`;

/** Undoes what was noted for a message that has not arrived. @returns the channel that is told instead, if any */
async function takeBack(db: Queryable, organizationId: string, message: Removed): Promise<string | null> {
  const { channelId, kind, changes, failingChannelId, triedChannelIds } = message;
  if (kind === 'failing' && failingChannelId !== null)
    return tellOther(db, organizationId, failingChannelId, changes, [...triedChannelIds, channelId]);
  if (kind === 'recovered') {
    await db.query(TELL_LATER, [newId('alm'), organizationId, channelId, failingChannelId, message.createdAt]);
    return null;
  }
  await db.query(FORGET, [organizationId, channelId, jsonParameter(changes)]);
  if (kind === 'digest') await db.query(FORGET_DIGEST, [organizationId, channelId]);
  return null;
}

// One that may be told now, and is read as a message, before one that makes an incident that nobody ends. None when the channel
// works again.
const TELL = `
insert into alert_messages (id, organization_id, channel_id, kind, changes, failing_channel_id, tried_channel_ids)
select $1, $2, c.id, 'failing', $3::jsonb, f.id, $5::text[]
from alert_channels f join alert_channels c on c.organization_id = f.organization_id and c.id <> f.id
where f.organization_id = $2 and f.id = $4 and f.failing_since is not null
  and c.enabled and c.failing_since is null and c.id <> all($5::text[])
order by is_quiet(c.quiet_hours, now()), c.type = 'pagerduty', c.created_at, c.id limit 1
returning channel_id as "channelId"`;

/** Has another channel told that one fails. @param tried that could not be told @returns the channel, if there is any */
async function tellOther(
  db: Queryable,
  organizationId: string,
  failingId: string,
  changes: ToldChange[],
  tried: string[],
): Promise<string | null> {
  const values = [newId('alm'), organizationId, JSON.stringify(changes), failingId, tried];
  const { rows } = await db.query<{ channelId: string }>(TELL, values);
  return rows[0]?.channelId ?? null;
}

const MARK = `
update alert_channels c set failing_since = coalesce(c.failing_since, now()), failed_at = now(), last_error = $3
from alert_channels before
where c.organization_id = $1 and c.id = $2 and before.id = c.id
returning before.failing_since is null as "isNew", c.type`;

/**
 * Gives up a message: its channel fails, and another channel of the organization is told, once until it works again. What the
 * message was to tell of another channel is passed on to one that was not tried.
 * @returns the channel that gave up and the one that is told, if any; null when the message is gone
 */
export async function giveUpMessage(
  pool: Pool,
  key: MessageKey,
  reason: string,
): Promise<{ channelId: string; type: ChannelType; notifiedChannelId: string | null } | null> {
  const { organizationId } = key;
  return inTransaction(pool, async (db) => {
    const message = await remove(db, key);
    if (!message) return null;
    const { channelId, kind } = message;
    const { rows } = await db.query<{ isNew: boolean; type: ChannelType }>(MARK, [organizationId, channelId, reason]);
    const [mark] = rows;
    if (!mark) return null;
    const passedTo = await takeBack(db, organizationId, message);
    // What it was to pass on is on its way.
    const changes = kind === 'failing' ? [] : message.changes;
    const notifiedChannelId = mark.isNew ? await tellOther(db, organizationId, channelId, changes, []) : null;
    return { channelId, type: mark.type, notifiedChannelId: notifiedChannelId ?? passedTo };
  });
}

const NOTE_TRY = `
update alert_messages set tried_at = coalesce(tried_at, now()) where organization_id = $1 and id = $2
returning tried_at <= now() - interval '1 hour' as "isOver"`;

/** Notes that a try has failed. @returns whether the first that did is an hour ago, so that this was the last */
export async function noteFailedTry(db: Queryable, { organizationId, messageId }: MessageKey): Promise<boolean> {
  const { rows } = await db.query<{ isOver: boolean }>(NOTE_TRY, [organizationId, messageId]);
  return rows[0]?.isOver ?? false;
}
