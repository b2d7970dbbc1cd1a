// Notifications of routes: recorded where deliveries end, claimed when due, frozen while they are sent.
// Rules: NOTE-01 to NOTE-04.
import type { ErrorSummary } from '../../core/text/error-summary.ts';
import type { Queryable } from '../connections/pool.ts';
import { dueInTurn } from '../sql-rules.ts';

export type NotificationKind = 'failure' | 'recovery' | 'success';

/** The key of a notification: its route and kind. */
export interface NotificationKey {
  routeId: string;
  kind: NotificationKind;
}

/** Facts of the latest delivery in the mail. */
export interface NotificationFacts {
  source_id: string;
  destination_id: string;
  event_id: string;
  delivery_id: string;
  attempts: number;
  status_code: number | null;
  /** Its detail. */
  error: string | null;
  /** What the mail and the log may contain of it. */
  error_summary: ErrorSummary | null;
  /** When the delivery ended, ISO 8601. */
  at: string;
  /** Of a recovery: the failed deliveries before it, and when the first of them failed. */
  failures?: number;
  failing_since?: string;
}

/** A mail's content, the same for every try to send it. */
export interface FrozenMail {
  /** Number of deliveries in it. */
  count: number;
  /** When the first of them ended, ISO 8601. */
  since: string;
  facts: NotificationFacts;
}

/**
 * The common table expressions that record notifications in the statement that ends deliveries.
 * @param ended the expression that holds them: organization_id, route_id, source_id, destination_id, primary_id (the
 *   destination the event was to go to first), event_id, delivery_id, status, attempts, status_code, error,
 *   error_summary, at
 * @returns SQL that defines `noted`, which the main query must read: PostgreSQL does not run a CTE that nobody reads
 */
export function noteOutcomes(ended: string): string {
  return `telling as (
  select o.*, r.notify_on_failure as on_failure, r.notify_on_success as on_success, r.notify_on_recovery as on_recovery
  from ${ended} o join routes r on r.id = o.route_id
  where r.notify_emails is not null
    and (r.notify_on_recovery or (o.status = 'failed' and r.notify_on_failure) or (o.status = 'delivered' and r.notify_on_success))
), noted as (
  select note_outcomes(jsonb_agg(to_jsonb(t))) as written from telling t having count(*) > 0
)`;
}

// Rows are locked while they are claimed and moved ahead in time, so each is claimed by one worker, and comes back when
// that worker dies before it has started the workflow.
const CLAIM = `
with due as (
  select n.route_id, n.kind from route_notifications n
  join (${dueInTurn('route_notifications', 'route_id, kind', 'due_at', '$1')}) w on w.route_id = n.route_id and w.kind = n.kind
  where n.due_at <= now() for update of n skip locked
)
update route_notifications n set due_at = now() + interval '1 minute'
from due d where n.route_id = d.route_id and n.kind = d.kind
returning n.route_id, n.kind, n.organization_id`;

/** Claims notifications that are due, organization by organization, the longest overdue first. */
export async function claimNotifications(
  db: Queryable,
  limit: number,
): Promise<(NotificationKey & { organizationId: string })[]> {
  const { rows } = await db.query<{ route_id: string; kind: NotificationKind; organization_id: string }>(CLAIM, [
    limit,
  ]);
  return rows.map((row) => ({ routeId: row.route_id, kind: row.kind, organizationId: row.organization_id }));
}

const FREEZE = `
update route_notifications
set mail = case when mail is null and count > 0 then jsonb_build_object('count', count, 'since', since, 'facts', facts) else mail end,
    count = case when mail is null then 0 else count end,
    due_at = case when mail is null and count = 0 then null else due_at end
where route_id = $1 and kind = $2
returning mail`;

/**
 * Freezes the content of the next mail; deliveries recorded from now on go into the one after it.
 * @returns null: nothing to send
 */
export async function freezeMail(db: Queryable, { routeId, kind }: NotificationKey): Promise<FrozenMail | null> {
  const { rows } = await db.query<{ mail: FrozenMail | null }>(FREEZE, [routeId, kind]);
  return rows[0]?.mail ?? null;
}

/** The recipients, and the names in the mail; a name is null when its record was deleted. */
export interface MailContext {
  organizationId: string;
  /** Its slug. */
  organization: string;
  routeName: string;
  emails: string;
  /** Those of them whose owners have agreed, in lower case. */
  confirmed: string[];
  sourceName: string | null;
  destinationName: string | null;
}

/** @returns null when the route was deleted or has this kind of notification off */
export async function mailContext(
  db: Queryable,
  { routeId, kind }: NotificationKey,
  { facts }: FrozenMail,
): Promise<MailContext | null> {
  const { rows } = await db.query<MailContext>(
    `select r.organization_id as "organizationId", o.slug as organization, r.name as "routeName", r.notify_emails as emails, s.name as "sourceName", d.name as "destinationName",
       array(select n.address from notification_recipients n
             where n.organization_id = r.organization_id and n.confirmed_at is not null
               and n.address = any(notified_addresses(r.notify_emails))) as confirmed
     from routes r
     join organizations o on o.id = r.organization_id
     left join sources s on s.id = r.source_id
     left join destinations d on d.id = $3 and d.organization_id = r.organization_id
     where r.id = $1 and r.notify_emails is not null
       and case $2 when 'failure' then r.notify_on_failure when 'success' then r.notify_on_success else r.notify_on_recovery end`,
    [routeId, kind, facts.destination_id],
  );
  return rows[0] ?? null;
}

/**
 * Ends the frozen mail: it was sent, logged or given up. Notifications recorded meanwhile are due when the route may get the next
 * mail. No two mails of a route and kind have the same last delivery, so ending one twice is harmless.
 */
export async function finishMail(db: Queryable, { routeId, kind }: NotificationKey, mail: FrozenMail): Promise<void> {
  await db.query(
    `update route_notifications
     set mail = null, sent_at = now(), due_at = case when count > 0 then now() + notification_spacing(kind) end
     where route_id = $1 and kind = $2 and mail -> 'facts' ->> 'delivery_id' = $3`,
    [routeId, kind, mail.facts.delivery_id],
  );
}

/** Removes a notification that is off. */
export async function forgetNotification(db: Queryable, { routeId, kind }: NotificationKey): Promise<void> {
  await db.query('delete from route_notifications where route_id = $1 and kind = $2', [routeId, kind]);
}
