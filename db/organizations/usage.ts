// What organizations use, by day (organization_usage): counted by API processes within a second, and exactly by settling.
import type { LimitOverrides } from '../../core/limits.ts';
import type { Plan } from '../../core/access.ts';
import { jsonParameter } from '../parameters.ts';
import type { Queryable } from '../connections/pool.ts';
import { addedUp } from '../sql-rules.ts';

/** The best count of a day: both may lack something, and neither has too much. */
const EVENTS = 'greatest(u.accepted_events, u.events)';
const BYTES = 'greatest(u.accepted_bytes, u.payload_bytes)';
const TODAY = `(now() at time zone 'UTC')::date`;
const MONTH = `date_trunc('month', ${TODAY})::date`;

/** The day (UTC) of a time. @param at an expression */
export const dayOf = (at: string): string => `(${at} at time zone 'UTC')::date`;

/**
 * A CTE `freed` for a statement that deletes events: their payloads are no longer stored.
 * @param gone the CTE of these events
 */
export const countRemoved = (gone: string): string => `freed as (
  insert into organization_usage as s (organization_id, day, removed_bytes)
  select g.organization_id, ${dayOf('id_time(g.id)')}, sum(g.payload_size)
  from ${gone} g join organizations o on o.id = g.organization_id
  group by 1, 2 order by 1, 2
  ${addedUp('organization_id, day', ['removed_bytes'])}
)`;

/** Webhooks that a process has stored since it last said so. */
export interface Accepted {
  organizationId: string;
  /** UTC, as 2026-11-21. */
  day: string;
  events: number;
  bytes: number;
}

// Rows are written in the order of their key, so that statements that meet queue instead of deadlocking.
const ADD = `
insert into organization_usage as s (organization_id, day, accepted_events, accepted_bytes)
select a.organization_id, a.day, a.events, a.bytes
from json_to_recordset($1::json) as a(organization_id text, day date, events bigint, bytes bigint)
join organizations o on o.id = a.organization_id
order by 1, 2
${addedUp('organization_id, day', ['accepted_events', 'accepted_bytes'])}`;

/**
 * Adds what a process has stored. An organization that was deleted is left out.
 * @throws a database error; when the connection was lost, it may have been added all the same
 */
export async function addAccepted(db: Queryable, accepted: Accepted[]): Promise<void> {
  const rows = accepted.map(({ organizationId, ...counts }) => ({ organization_id: organizationId, ...counts }));
  await db.query({ name: 'add-accepted', text: ADD, values: [jsonParameter(rows)] });
}

/** An organization with what all processes have counted of it. */
export interface Use {
  organizationId: string;
  plan: Plan;
  limits: LimitOverrides;
  configVersion: number;
  /** UTC, of the database. */
  today: string;
  /** That API processes have counted today. */
  acceptedToday: number;
  /** In this calendar month (UTC). */
  monthEvents: number;
  monthBytes: number;
  /** Bytes of the payloads that are kept. */
  storedBytes: number;
}

const LOAD = `
select o.id as "organizationId", o.plan, o.limits, o.config_version as "configVersion", to_char(${TODAY}, 'YYYY-MM-DD') as today,
       coalesce(used.accepted_today, 0)::bigint as "acceptedToday", coalesce(used.month_events, 0)::bigint as "monthEvents",
       coalesce(used.month_bytes, 0)::bigint as "monthBytes", coalesce(used.stored_bytes, 0)::bigint as "storedBytes"
from organizations o cross join lateral (
  select sum(u.accepted_events) filter (where u.day = ${TODAY}) as accepted_today,
         sum(${EVENTS}) filter (where u.day >= ${MONTH}) as month_events,
         sum(${BYTES}) filter (where u.day >= ${MONTH}) as month_bytes,
         sum(greatest(${BYTES} - u.removed_bytes, 0)) filter (where u.day >= ${TODAY} - $2::int) as stored_bytes
  from organization_usage u
  where u.organization_id = o.id and u.day >= least(${MONTH}, ${TODAY} - $2::int)
) used
where o.id = any($1::text[])`;

// Of a calendar that begins long before the first webhook.
const FOR_EVER_DAYS = 100_000;

/**
 * Loads what organizations use; one that was deleted is missing.
 * @param payloadDays how many days payloads are kept; null: for ever
 */
export async function loadUse(db: Queryable, organizationIds: string[], payloadDays: number | null): Promise<Use[]> {
  const { rows } = await db.query<Use>({
    name: 'load-use',
    text: LOAD,
    values: [organizationIds, payloadDays ?? FOR_EVER_DAYS],
  });
  return rows;
}

/** What an organization used on one day. */
export interface DayOfUse {
  /** UTC, as 2026-11-21. */
  day: string;
  events: number;
  payloadBytes: number;
  deliveries: number;
  /** Of deliveries of this day that have ended. */
  attempts: number;
}

const DAILY = `
select to_char(u.day, 'YYYY-MM-DD') as day, ${EVENTS} as events, ${BYTES} as "payloadBytes", u.deliveries, u.attempts
from organization_usage u
where u.organization_id = $1 and u.day >= $2::date and u.day <= $3::date
order by u.day`;

/**
 * A query of the payloads that are kept, of all organizations: columns `id` and `bytes`.
 * @param days a parameter: how many days payloads are kept; null: for ever
 */
export const keptPayloads = (days: string): string => `
select u.organization_id as id, sum(greatest(${BYTES} - u.removed_bytes, 0)) as bytes
from organization_usage u where u.day >= ${TODAY} - coalesce(${days}::int, ${FOR_EVER_DAYS}) group by 1`;

/** The days on which an organization used something, oldest first. @param from, to days as 2026-11-21, both included */
export async function dailyUse(
  db: Queryable,
  organizationId: string,
  { from, to }: { from: string; to: string },
): Promise<DayOfUse[]> {
  return (await db.query<DayOfUse>(DAILY, [organizationId, from, to])).rows;
}
