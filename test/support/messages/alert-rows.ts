// Channels of alerts and issues as rows. A worker would claim what `round`, `claim`, `sent` and `told` claim: they are
// for a database that no worker looks at.

import type { AnnouncedChange } from '../../../core/messages/announcements.ts';
import { newId } from '../../../core/text/ids.ts';
import type { Pool } from '../../../db/connections/pool.ts';
import { createAnnouncements } from '../../../db/messages/announcements.ts';
import { claimMessages, type DueMessage, finishMessage } from '../../../db/messages/outbox.ts';
import { execute, selectRows } from '../database/sql.ts';

/** A message that was claimed, with the changes that it is about. */
export interface ClaimedMessage extends DueMessage {
  changes: AnnouncedChange[];
}

export interface ChannelRow {
  id: string;
  organizationId: string;
}

/** @param pool gives the pool of the database, once it is there */
export const alertRows = (pool: () => Pool) => {
  async function insert(table: string, columns: Record<string, unknown>): Promise<void> {
    const names = Object.keys(columns);
    await pool().query(
      `insert into ${table} (${names.join(', ')}) values (${names.map((_, index) => `$${index + 1}`)})`,
      Object.values(columns),
    );
  }

  async function organization(): Promise<string> {
    const id = newId('org');
    const slug = id.slice(-20).replaceAll('_', '-');
    await insert('organizations', { id, slug, name: slug, plan: 'business' });
    return id;
  }

  async function channel(rules: Record<string, unknown> = {}, organizationId?: string): Promise<ChannelRow> {
    const made = { id: newId('alc'), organizationId: organizationId ?? (await organization()) };
    const columns = {
      id: made.id,
      organization_id: made.organizationId,
      name: 'On call',
      type: 'slack',
      throttle_minutes: 0,
    };
    await insert('alert_channels', { ...columns, ...rules });
    return made;
  }

  async function issue(organizationId: string, members: Record<string, unknown> = {}): Promise<string> {
    const id = newId('iss');
    const now = new Date();
    const columns = { id, organization_id: organizationId, kind: 'delivery_failing', cause: id, count: 1 };
    await insert('issues', { ...columns, first_seen_at: now, last_seen_at: now, ...members });
    return id;
  }

  const setState = (id: string, state: string) =>
    execute(pool())`update issues
      set state = ${state}, changed_at = now(), resolved_at = case when ${state} = 'resolved' then now() end
      where id = ${id}`;

  /** One round over every channel, and what there is to start. */
  async function round(): Promise<ClaimedMessage[]> {
    let last = '';
    do last = (await createAnnouncements(pool(), last))?.last ?? '';
    while (last !== '');
    return claim(1000);
  }

  async function claim(limit: number): Promise<ClaimedMessage[]> {
    const { due } = await claimMessages(pool(), limit);
    const rows = await selectRows<{ id: string; content: AnnouncedChange[] }>(pool())`select id, content from messages
      where id = any(${due.map(({ messageId }) => messageId)}::text[])`;
    const contents = new Map(rows.map(({ id, content }) => [id, content]));
    return due.map((each) => ({ ...each, changes: contents.get(each.messageId) ?? [] }));
  }

  const sent = ({ organizationId, messageId }: DueMessage) =>
    finishMessage(pool(), { organizationId, messageId }, 'sent');

  /** The changes of a round, all of which arrive. */
  async function told(): Promise<string[]> {
    const due = await round();
    await Promise.all(due.map(sent));
    return due.flatMap(({ changes }) => changes.map(({ change, issueId }) => `${change} ${issueId}`));
  }

  return { organization, channel, issue, setState, round, claim, sent, told };
};
