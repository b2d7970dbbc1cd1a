// What organizations use, by day (UTC): from the ledger, which keeps their days as long as the organization.
import type { LimitOverrides } from '../../core/fairness/limits.ts';
import type { Plan } from '../../core/config/access.ts';
import { byDay, dayOf } from '../ledger/columns.ts';
import type { Queryable } from '../connections/pool.ts';

const TODAY = dayOf('now()');
const MONTH = `date_trunc('month', now(), 'UTC')`;

/** An organization with what all processes have stored of it. */
export interface Use {
  organizationId: string;
  plan: Plan;
  limits: LimitOverrides;
  configVersion: number;
  /** UTC, of the database. */
  today: string;
  /** In this calendar month (UTC). */
  monthEvents: number;
  monthBytes: number;
  /** Bytes of the payloads that are kept. */
  storedBytes: number;
}

/** The first day whose payloads are kept. @param days a parameter: for how many days; null: for ever */
const keptSince = (days: string) => `coalesce(${TODAY} - make_interval(hours => 24 * ${days}::int), 'epoch')`;
const STORED = `greatest(coalesce(sum(bytes), 0) - coalesce(sum(removed_bytes), 0), 0)`;

// What was removed of a day counts in that day, so that what has expired is not subtracted.
const LOAD = `
with used as (
  select organization_id, bucket, sum(events) as events, sum(bytes) as bytes, ${STORED} as stored
  from ${byDay('organization_id = any($1::text[])', `least(${MONTH}, ${keptSince('$2')})`)} l group by 1, 2
), added as (
  select organization_id, sum(events) filter (where bucket >= ${MONTH}) as month_events,
         sum(bytes) filter (where bucket >= ${MONTH}) as month_bytes, sum(stored) filter (where bucket >= ${keptSince('$2')}) as stored
  from used group by 1
)
select o.id as "organizationId", o.plan, o.limits, o.config_version as "configVersion", to_char(now() at time zone 'UTC', 'YYYY-MM-DD') as today,
       coalesce(a.month_events, 0)::bigint as "monthEvents",
       coalesce(a.month_bytes, 0)::bigint as "monthBytes", coalesce(a.stored, 0)::bigint as "storedBytes"
from organizations o left join added a on a.organization_id = o.id
where o.id = any($1::text[])`;

/**
 * Loads what organizations use; one that was deleted is missing.
 * @param payloadDays how many days payloads are kept; null: for ever
 */
export async function loadUse(db: Queryable, organizationIds: string[], payloadDays: number | null): Promise<Use[]> {
  return (await db.query<Use>({ name: 'load-use', text: LOAD, values: [organizationIds, payloadDays] })).rows;
}

/** What an organization used on one day. */
export interface DayOfUse {
  /** UTC, as 2026-11-21. */
  day: string;
  events: number;
  payloadBytes: number;
  deliveries: number;
  attempts: number;
}

const DAILY = `
select to_char(bucket at time zone 'UTC', 'YYYY-MM-DD') as day, sum(events)::bigint as events, sum(bytes)::bigint as "payloadBytes",
       (sum(deliveries) + sum(failed_over))::bigint as deliveries, sum(attempts)::bigint as attempts
from (
  select bucket, coalesce(events, 0) as events, coalesce(bytes, 0) as bytes, coalesce(deliveries, 0) as deliveries,
         coalesce(failed_over, 0) as failed_over, coalesce(attempts, 0) as attempts
  from ${byDay('organization_id = $1', `$2::timestamp at time zone 'UTC'`)} l where bucket <= $3::timestamp at time zone 'UTC'
) days group by bucket having sum(events + deliveries + failed_over + attempts) > 0 order by bucket`;

/**
 * A query of the payloads that are kept, of all organizations: columns `id` and `bytes`.
 * @param days a parameter: how many days payloads are kept; null: for ever
 */
export const keptPayloads = (days: string): string => `
select organization_id as id, sum(stored) as bytes from (
  select organization_id, ${STORED} as stored from ${byDay('true', keptSince(days))} l group by organization_id, bucket
) days group by 1`;

/** The days on which an organization used something, oldest first. @param from, to days as 2026-11-21, both included */
export async function dailyUse(
  db: Queryable,
  organizationId: string,
  { from, to }: { from: string; to: string },
): Promise<DayOfUse[]> {
  return (await db.query<DayOfUse>(DAILY, [organizationId, from, to])).rows;
}
