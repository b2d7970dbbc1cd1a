// Channels that work again, or are gone: what they had failed with is over, and the channel that was told that they fail is told so. At
// PagerDuty that ends the incident.
// Rules: ALR-18, ALR-25.
import { newId } from '../../core/text/ids.ts';
import type { EntityManager } from '../orm.ts';
import type { Queryable } from '../connections/pool.ts';
import type { MessageKey } from './messages.ts';

/** @param id, organizationId, messageId parameters, each used once @param set further columns of the channel */
const recovery = ([organizationId, id, messageId]: [string, string, string], set = '') => `
with it as materialized (
  select c.id, c.organization_id, c.told_channel_id, ${messageId}::text as message_id
  from alert_channels c where c.organization_id = ${organizationId} and c.id = ${id} for update
), changed as (
  update alert_channels c set ${set} told_channel_id = null from it where c.id = it.id
)
insert into alert_messages (id, organization_id, channel_id, kind, changes, failing_channel_id)
select message_id, organization_id, told_channel_id, 'recovered', '[]', id from it where told_channel_id is not null`;

const ARRIVED = recovery(
  ['$1', '$2', '$3'],
  'last_sent_at = now(), failing_since = null, failed_at = null, last_error = null,',
);

/** A message has arrived at a channel: it works. */
export async function noteArrived(db: Queryable, channel: { id: string; organizationId: string }): Promise<void> {
  await db.query(ARRIVED, [channel.organizationId, channel.id, newId('alm')]);
}

// The parameters in the order of the text.
const OVER = recovery(['?', '?', '?']);

/** A channel has new settings, or is about to be deleted: that it failed is over. */
export async function noteOver(em: EntityManager, channel: { id: string; organizationId: string }): Promise<void> {
  await em.execute(OVER, [newId('alm'), channel.organizationId, channel.id]);
}

const TELLING = `
update alert_channels f set told_channel_id = m.channel_id from alert_messages m
where m.organization_id = $1 and m.id = $2 and f.organization_id = $1 and f.id = m.failing_channel_id and f.failing_since is not null`;

/** Notes whom a message tells that a channel fails: before it is sent, because it may arrive without an answer. */
export async function noteTelling(db: Queryable, { organizationId, messageId }: MessageKey): Promise<void> {
  await db.query(TELLING, [organizationId, messageId]);
}
