// Alert channels with their configuration opened, and those that fail: another channel is notified of that, and again when the first one works or is gone. At
// PagerDuty that ends the incident.
import { type AnnouncedChange, chooseOther, type OtherChannel } from '../../core/messages/announcements.ts';
import type { ChannelConfig, ChannelType, OpenChannel } from '../../core/messages/channel.ts';
import { newId } from '../../core/text/ids.ts';
import type { Queryable } from '../connections/pool.ts';
import { raw, sql } from '../connections/statements.ts';
import type { SecretBox } from '../encryption/secret-box.ts';
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

/**
 * Notes which channel is notified that another one fails: before it is sent, because it may arrive without an answer.
 */
export async function noteNotifying(db: Queryable, { organizationId, messageId }: MessageKey): Promise<void> {
  await sql(db).run`
    update alert_channels f set told_channel_id = m.channel_id from messages m
    where m.organization_id = ${organizationId} and m.id = ${messageId}
      and f.organization_id = ${organizationId} and f.id = m.failing_channel_id and f.failing_since is not null`;
}

/** A channel has given up a message. @returns whether it fails from now on; undefined when it is gone */
export async function noteFailed(
  db: Queryable,
  { id, organizationId }: ChannelKey,
  reason: string,
): Promise<{ isNew: boolean; type: ChannelType } | undefined> {
  return sql(db).first<{ isNew: boolean; type: ChannelType }>`
    update alert_channels c set failing_since = coalesce(c.failing_since, now()), failed_at = now(),
      last_error = ${reason}
    from alert_channels before
    where c.organization_id = ${organizationId} and c.id = ${id} and before.id = c.id
    returning before.failing_since is null as is_new, c.type`;
}

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
  // None when the channel works again.
  const rows = await sql(db).rows<OtherChannel & { now: Date }>`
    select c.id, c.type, c.quiet_hours, now() as now
    from alert_channels f join alert_channels c on c.organization_id = f.organization_id and c.id <> f.id
    where f.organization_id = ${organizationId} and f.id = ${id} and f.failing_since is not null
      and c.enabled and c.failing_since is null and c.id <> all(${tried}::text[])
    order by c.created_at, c.id for key share of c`;
  const chosen = rows[0] && chooseOther(rows, rows[0].now);
  if (chosen === undefined) return null;
  await sql(db).run`
    insert into messages (id, organization_id, channel_id, kind, content, failing_channel_id, tried_channel_ids)
    values (${newId('alm')}, ${organizationId}, ${chosen.id}, 'failing', ${JSON.stringify(changes)}::jsonb, ${id},
      ${tried}::text[])`;
  return chosen.id;
}

/** Notifies a channel later once more that another one has recovered, for a week. */
export async function notifyLater(
  db: Queryable,
  channel: ChannelKey,
  recoveredId: string | null,
  since: Date,
): Promise<void> {
  // Only this message ends the incident that the channel opened, so it is sent again when the channel may work.
  await sql(db).run`
    insert into messages (id, organization_id, channel_id, kind, content, failing_channel_id, created_at, due_at)
    select ${newId('alm')}, ${channel.organizationId}, ${channel.id}, 'recovered', '[]', ${recoveredId}, ${since},
      now() + interval '15 minutes'
    where ${since}::timestamptz > now() - interval '7 days'`;
}

// Alert channels, besides what the object mapper does: their config, opened. The API seals it.

export interface StoredConfig {
  id: string;
  type: ChannelType;
  config?: string | null;
  notifyEmails?: string | null;
}

/** The stored config, secrets in clear. @throws DecryptionError */
export function openConfig(secretBox: SecretBox, { id, type, config, notifyEmails }: StoredConfig): ChannelConfig {
  if (type === 'mail') return { type, emails: notifyEmails ?? '' };
  if (config === null || config === undefined) throw new Error(`alert channel ${id} has no config`);
  // Checked before it was sealed.
  return { ...JSON.parse(secretBox.decrypt(config, id)), type };
}

/** A channel to be sent to. @throws DecryptionError */
export function openChannel(
  secretBox: SecretBox,
  stored: StoredConfig & { previousSecret?: string | null; previousSecretUntil?: Date | null },
): OpenChannel {
  const { id, previousSecret, previousSecretUntil } = stored;
  const rotates = (previousSecretUntil?.getTime() ?? 0) > Date.now();
  return {
    id,
    config: openConfig(secretBox, stored),
    previousSecret: rotates && previousSecret ? secretBox.decrypt(previousSecret, id) : null,
  };
}

export async function existingIds(
  db: Queryable,
  table: 'sources' | 'routes' | 'destinations',
  organizationId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  return new Set(
    await sql(db).column`
      select id from ${raw(table)} where organization_id = ${organizationId} and id = any(${ids}::text[])`,
  );
}
