// Mails of routes: outcomes are noted in drafts where deliveries end, and drafts become mails when these may go.
import {
  decideMail,
  type Draft,
  isReady,
  type MailKind,
  quietUntil,
  type RouteMail,
} from '../../core/messages/route-mails.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';
import { jsonParameter, sql } from '../connections/statements.ts';
import { dueInTurn, LOCKS } from '../sql/rules.ts';

/**
 * @param ended the expression that holds them: organization_id, route_id, source_id, destination_id, primary_id (the
 * destination the event was to go to first), event_id, delivery_id, status, attempts, status_code, error_summary, at
 * @returns SQL that defines `noted`, which the main query must read: PostgreSQL does not run a CTE that nobody reads
 */
export function noteOutcomes(ended: string): string {
  return `notifying as (
  select o.organization_id, o.route_id, o.primary_id, o.status, o.at,
         to_jsonb(o) - '{organization_id,route_id,primary_id,status}'::text[] as facts,
         r.notify_on_failure as on_failure, r.notify_on_success as on_success, r.notify_on_recovery as on_recovery
  from ${ended} o join routes r on r.id = o.route_id
  where r.notify_emails is not null
    and (r.notify_on_recovery or (o.status = 'failed' and r.notify_on_failure)
      or (o.status = 'delivered' and r.notify_on_success))
), noted as (
  select note_outcomes(jsonb_agg(to_jsonb(n))) as written from notifying n having count(*) > 0
)`;
}

// Routes and kinds that one round decides about; more of them follow at once.
const MAX_DUE = 100;
const UNDECIDED = '(select * from messages where route_id is not null and (content is null or sent_at is not null)) m';
interface Row extends Draft {
  routeId: string;
  kind: MailKind;
  isDraft: boolean;
  sentAt: Date | null;
  isWanted: boolean;
  now: Date;
}

interface Changes {
  /** Drafts; with a content they become a mail. What is not ready loses its facts. */
  changed: { id: string; due_at: Date | null; content: RouteMail | null; is_ready: boolean }[];
  removed: string[];
}

/**
 * One round: makes mails of the drafts that are due. One process is in it at a time, so a mail has all that is ready.
 * @returns whether more may be due
 */
export async function createRouteMails(pool: Pool): Promise<boolean> {
  return inTransaction(pool, async (db) => {
    if (!(await lockRound(db))) return false;
    const rows = await sql(db).rows<Row>`
      with due as (
        select distinct m.route_id, m.kind from messages m
        join (${dueInTurn(UNDECIDED, 'id', 'due_at', MAX_DUE)}) d on d.id = m.id
      )
      select m.id, m.route_id, m.kind, m.content is null as is_draft, m.sent_at, m.count, m.since, m.last_at, m.facts,
             now() as now, r.notify_emails is not null and case m.kind when 'failure' then r.notify_on_failure
               when 'success' then r.notify_on_success else r.notify_on_recovery end is true as is_wanted
      from messages m join due using (route_id, kind) left join routes r on r.id = m.route_id
      order by m.route_id, m.kind, m.destination_id for update of m`;
    const [first] = rows;
    if (first === undefined) return false;
    const groups = Map.groupBy(rows, ({ routeId, kind }) => `${routeId} ${kind}`);
    const all = [...groups.values()].map((group) => changesOf(group, first.now));
    const changed = all.flatMap((each) => each.changed);
    const removed = all.flatMap((each) => each.removed);
    await sql(db).run`delete from messages where id = any(${removed}::text[])`;
    await sql(db).run`
      update messages m set due_at = c.due_at, content = c.content, facts = case when c.is_ready then m.facts end,
        created_at = case when c.content is null then m.created_at else now() end
      from json_to_recordset(${jsonParameter(changed)}::json) as c(id text, due_at timestamptz, content jsonb,
        is_ready boolean)
      where m.id = c.id`;
    return rows.length >= MAX_DUE;
  });
}

/**
 * Makes the transaction the only one that makes messages. In a statement of its own: the next one sees what the last
 * holder has committed.
 */
export async function lockRound(db: Queryable): Promise<boolean> {
  // Recording waits for the drafts that the round has locked: a worker that freezes in it must not keep them.
  return sql(db).value<boolean>`
    select pg_try_advisory_xact_lock(${LOCKS.messages}),
           set_config('idle_in_transaction_session_timeout', '5s', true)`;
}

function changesOf(rows: Row[], now: Date): Changes {
  const drafts = rows.filter(({ isDraft }) => isDraft);
  const [kind, isWanted] = [rows[0]?.kind ?? 'failure', rows[0]?.isWanted ?? false];
  const sent = rows.filter(({ sentAt }) => sentAt !== null && quietUntil(kind, sentAt) <= now).map(({ id }) => id);
  if (!isWanted) return { changed: [], removed: [...sent, ...drafts.map(({ id }) => id)] };
  const decision = decideMail(kind, drafts, lastOf(rows), now);
  if (!('send' in decision)) {
    const changed = drafts.map((draft) => {
      const ready = isReady(kind, draft);
      return { id: draft.id, due_at: ready ? decision.at : null, content: null, is_ready: ready };
    });
    return { changed, removed: sent };
  }
  const [message, ...merged] = decision.of;
  const others = drafts.filter((draft) => !decision.of.includes(draft));
  return {
    changed: [
      ...others.map(({ id }) => ({ id, due_at: null, content: null, is_ready: false })),
      ...(message ? [{ id: message.id, due_at: now, content: decision.send, is_ready: true }] : []),
    ],
    removed: [...sent, ...merged.map(({ id }) => id)],
  };
}

function lastOf(rows: Row[]): Date | 'under way' | null {
  if (rows.some(({ isDraft, sentAt }) => !isDraft && sentAt === null)) return 'under way';
  return rows.reduce<Date | null>((last, { sentAt }) => (sentAt && (!last || sentAt > last) ? sentAt : last), null);
}
