// Alert channels that fail: another channel is notified of that, and again when the first one works or is gone. At
// PagerDuty that ends the incident.
import { type AnnouncedChange, chooseOther, type OtherChannel } from '../../core/messages/announcements.ts';
import type { ChannelType } from '../../core/messages/channel.ts';
import { newId } from '../../core/text/ids.ts';
import type { Queryable } from '../connections/pool.ts';
import type { EntityManager } from '../records/orm.ts';
import type { MessageKey } from './outbox.ts';

interface ChannelKey {
  id: string;
  organizationId: string;
}

/**
 * @param parameters organization, channel, id of a message; each used once
 * @param set further columns of the channel
 */
const recovery = ([organizationId, id, messageId]: [string, string, string], set = '') => `
with it as materialized (
  select c.id, c.organization_id, c.told_channel_id, ${messageId}::text as message_id
  from alert_channels c where c.organization_id = ${organizationId} and c.id = ${id} for update
), changed as (
  update alert_channels c set ${set} told_channel_id = null from it where c.id = it.id
)
insert into messages (id, organization_id, channel_id, kind, content, failing_channel_id)
select message_id, organization_id, told_channel_id, 'recovered', '[]', id from it where told_channel_id is not null`;

const ARRIVED = recovery(
  ['$1', '$2', '$3'],
  'last_sent_at = now(), failing_since = null, failed_at = null, last_error = null,',
);

export async function noteArrived(db: Queryable, { id, organizationId }: ChannelKey): Promise<void> {
  await db.query(ARRIVED, [organizationId, id, newId('alm')]);
}

// The parameters in the order of the text.
const OVER = recovery(['?', '?', '?']);

export async function noteOver(em: EntityManager, { id, organizationId }: ChannelKey): Promise<void> {
  await em.execute(OVER, [newId('alm'), organizationId, id]);
}

const NOTIFYING = `
update alert_channels f set told_channel_id = m.channel_id from messages m
where m.organization_id = $1 and m.id = $2
  and f.organization_id = $1 and f.id = m.failing_channel_id and f.failing_since is not null`;

/**
 * Notes which channel is notified that another one fails: before it is sent, because it may arrive without an answer.
 */
export async function noteNotifying(db: Queryable, { organizationId, messageId }: MessageKey): Promise<void> {
  await db.query(NOTIFYING, [organizationId, messageId]);
}

const FAILED = `
update alert_channels c set failing_since = coalesce(c.failing_since, now()), failed_at = now(), last_error = $3
from alert_channels before
where c.organization_id = $1 and c.id = $2 and before.id = c.id
returning before.failing_since is null as "isNew", c.type`;

/** A channel has given up a message. @returns whether it fails from now on; undefined when it is gone */
export async function noteFailed(
  db: Queryable,
  { id, organizationId }: ChannelKey,
  reason: string,
): Promise<{ isNew: boolean; type: ChannelType } | undefined> {
  return (await db.query<{ isNew: boolean; type: ChannelType }>(FAILED, [organizationId, id, reason])).rows[0];
}

// None when the channel works again.
const OTHERS = `
select c.id, c.type, c.quiet_hours as "quietHours", now() as now
from alert_channels f join alert_channels c on c.organization_id = f.organization_id and c.id <> f.id
where f.organization_id = $1 and f.id = $2 and f.failing_since is not null
  and c.enabled and c.failing_since is null and c.id <> all($3::text[])
order by c.created_at, c.id for key share of c`;

const NOTIFY = `
insert into messages (id, organization_id, channel_id, kind, content, failing_channel_id, tried_channel_ids)
values ($1, $2, $3, 'failing', $4::jsonb, $5, $6::text[])`;

/**
 * @param tried that could not be notified
 * @returns the channel, if there is any
 */
export async function notifyOther(
  db: Queryable,
  failing: ChannelKey,
  changes: AnnouncedChange[],
  tried: string[],
): Promise<string | null> {
  const { id, organizationId } = failing;
  const { rows } = await db.query<OtherChannel & { now: Date }>(OTHERS, [organizationId, id, tried]);
  const chosen = rows[0] && chooseOther(rows, rows[0].now);
  if (chosen === undefined) return null;
  await db.query(NOTIFY, [newId('alm'), organizationId, chosen.id, JSON.stringify(changes), id, tried]);
  return chosen.id;
}

// Nobody else can end an incident that was opened there, so the recovery is told again when the channel may work.
const LATER = `
insert into messages (id, organization_id, channel_id, kind, content, failing_channel_id, created_at, due_at)
select $1, $2, $3, 'recovered', '[]', $4, $5, now() + interval '15 minutes'
where $5::timestamptz > now() - interval '7 days'`;

/** Notifies a channel later once more that another one has recovered, for a week. */
export async function notifyLater(
  db: Queryable,
  channel: ChannelKey,
  recoveredId: string | null,
  since: Date,
): Promise<void> {
  await db.query(LATER, [newId('alm'), channel.organizationId, channel.id, recoveredId, since]);
}
