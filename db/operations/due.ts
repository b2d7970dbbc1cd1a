// What workers find due in the database, all of it in one small statement: the only one that an idle worker repeats.
// What is due is claimed by statements of its own.
import type { Queryable } from '../connections/pool.ts';
import { NEXT_HOLD_END } from '../delivery/ordering.ts';
import { ANY_UNBLOCKED, NEXT_REPORT, RECOVERING, RESOLVABLE } from '../issues/record-issues.ts';
import { UNSTARTED_FLUSH } from '../warehouse/flushes.ts';

/** How long until something of a kind is due, by the clock of the database, ms. */
const inMs = (at: string): string => `extract(epoch from (${at}) - now()) * 1000`;
const now = (condition: string): string => `case when ${condition} then 0 end`;

// For each kind an expression: 0 or less, due now; null, nothing is. Each reads one row or two by an index, whatever is
// stored. Alerts are compared with what channels know whenever there is something to compare: only that tells whether
// something is due (db/messages/announcements.ts).
const KINDS = {
  circuits: inMs('select min(wake_at) from circuits'),
  flushes: `least(${now(UNSTARTED_FLUSH)}, ${inMs('select min(due_at) from warehouse_flushes')})`,
  gains: inMs('select min(counted_at) + make_interval(secs => $2) from warehouse_flushes where counted_in is not null'),
  alerts: now(`exists (select from alert_channels where enabled) and (
    exists (select from issues where state <> 'resolved')
    or exists (select from alert_announcements where announced in ('opened', 'acknowledged')))`),
  // Those of the future are from before the clock was set back.
  messages: `least(${now(`exists (select from messages where created_at > now() + interval '1 minute')`)},
    ${inMs('select min(due_at) from messages')})`,
  recipients: inMs(`select ask_at from notification_recipients where confirmed_at is null and ask_at < 'infinity'
    order by ask_at limit 1`),
  replays: inMs('select min(due_at) from event_replays'),
  ordering: `least(${inMs(NEXT_HOLD_END)}, ${inMs(NEXT_REPORT)}, ${now(ANY_UNBLOCKED)})`,
  recovered: `least(${now(RESOLVABLE)}, ${inMs(RECOVERING)})`,
};

export type DueKind = keyof typeof KINDS;

const WHAT_IS_DUE = `
select json_build_object(${Object.entries(KINDS).map(([kind, at]) => `'${kind}', ${at}`)}) as "inMs",
       exists (select from organizations offset 1) as "severalOrganizations",
       array(select id from organizations where suspended_at is not null) as suspended`;

export interface Due {
  /** When something of a kind is due, ms from now; 0 or less: now. Null: nothing is. */
  inMs: Record<DueKind, number | null>;
  severalOrganizations: boolean;
  suspended: ReadonlySet<string>;
}

/**
 * @param db of the hot path: there the statement has one plan, by indexes, whatever the tables hold. Claims have a plan
 * for each call
 * @param options.recoverySeconds for how long nothing may have failed before an issue that has recovered is resolved
 * @param options.gainSeconds how long after the last count the gains of filling files are counted again
 */
export async function whatIsDue(
  db: Queryable,
  { recoverySeconds, gainSeconds }: { recoverySeconds: number; gainSeconds: number },
): Promise<Due> {
  const { rows } = await db.query<Omit<Due, 'suspended'> & { suspended: string[] }>({
    name: 'what-is-due',
    text: WHAT_IS_DUE,
    values: [recoverySeconds, gainSeconds],
  });
  const [due] = rows;
  if (due === undefined) throw new Error('PostgreSQL returned no row');
  return { ...due, suspended: new Set(due.suspended) };
}
