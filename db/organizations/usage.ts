// What organizations use, by day (UTC): from the ledger, which keeps their days as long as the organization.
import type { LimitOverrides } from '../../core/fairness/organization-limits.ts';
import type { Plan } from '../../core/config/plans-and-scopes.ts';
import { byDay, dayOf } from '../ledger/entries.ts';
import type { Queryable } from '../connections/pool.ts';
import { type Fragment, fragment, joined, raw, sql } from '../connections/statements.ts';

const TODAY = dayOf('now()');
const MONTH = `date_trunc('month', now(), 'UTC')`;

export interface Use {
  organizationId: string;
  plan: Plan;
  limits: LimitOverrides;
  configVersion: number;
  today: string;
  monthEvents: number;
  monthBytes: number;
  /** Bytes of the payloads that are kept. */
  storedBytes: number;
}

/** The first day whose payloads are kept. @param days a parameter: for how many days; null: for ever */
const keptSince = (days: Fragment): Fragment =>
  fragment`coalesce(${raw(TODAY)} - make_interval(hours => 24 * ${days}::int), 'epoch')`;
const STORED = `greatest(coalesce(sum(bytes), 0) - coalesce(sum(removed_bytes), 0), 0)`;

// What was removed of a day counts in that day, so that what has expired is not subtracted.
const KEPT_SINCE = keptSince(raw('$2'));
const LOAD = `
with used as (
  select organization_id, bucket, sum(events) as events, sum(bytes) as bytes, ${STORED} as stored
  from ${byDay(raw('organization_id = any($1::text[])'), raw(`least(${MONTH}, ${KEPT_SINCE})`))} l group by 1, 2
), added as (
  select organization_id, sum(events) filter (where bucket >= ${MONTH}) as month_events,
         sum(bytes) filter (where bucket >= ${MONTH}) as month_bytes,
         sum(stored) filter (where bucket >= ${KEPT_SINCE}) as stored
  from used group by 1
)
select o.id as "organizationId", o.plan, o.limits, o.config_version as "configVersion",
       to_char(now() at time zone 'UTC', 'YYYY-MM-DD') as today, coalesce(a.month_events, 0)::bigint as "monthEvents",
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

export interface DayOfUse {
  /** UTC, as 2026-11-21. */
  day: string;
  events: number;
  payloadBytes: number;
  deliveries: number;
  attempts: number;
}

/** The days on which an organization used something, oldest first. @param from, to days as 2026-11-21, both included */
export async function dailyUse(
  db: Queryable,
  organizationId: string,
  { from, to }: { from: string; to: string },
): Promise<DayOfUse[]> {
  const ofOrganization = fragment`organization_id = ${organizationId}`;
  return sql(db).rows<DayOfUse>`
    select to_char(bucket at time zone 'UTC', 'YYYY-MM-DD') as day, sum(events)::bigint as events,
           sum(bytes)::bigint as payload_bytes, (sum(deliveries) + sum(failed_over))::bigint as deliveries,
           sum(attempts)::bigint as attempts
    from (
      select bucket, coalesce(events, 0) as events, coalesce(bytes, 0) as bytes, coalesce(deliveries, 0) as deliveries,
             coalesce(failed_over, 0) as failed_over, coalesce(attempts, 0) as attempts
      from ${byDay(ofOrganization, fragment`${from}::timestamp at time zone 'UTC'`)} l
      where bucket <= ${to}::timestamp at time zone 'UTC'
    ) days group by bucket having sum(events + deliveries + failed_over + attempts) > 0 order by bucket`;
}

// Whose the database is: for the limit of its size (core/fairness/backlog-room.ts). Read only while the database is
// nearly full.

// What a row `t` takes, bytes: the columns that tenants and their destinations can make large, and the rest with its
// indexes (docs/operate/scaling.md). The size of a value that is stored outside of its row is told without reading it;
// the rows of records are read.
const RECORD = '300 + pg_column_size(t.*)';
const WEIGHTS = {
  events: '700 + pg_column_size(t.headers)',
  deliveries: '750',
  audit_records: '500 + pg_column_size(t.record_ids)',
  idempotent_requests: '300 + coalesce(pg_column_size(t.answer), 0)',
  warehouse_batches: '500',
  destinations: RECORD,
  routes: RECORD,
  filters: RECORD,
  transforms: RECORD,
  earlier_versions: RECORD,
  schemas: RECORD,
};
const ATTEMPT = `200 + coalesce(pg_column_size(a.request_headers), 0) + coalesce(pg_column_size(a.response_headers), 0)
  + coalesce(pg_column_size(a.response_body), 0)`;

// Rows have no size that is counted anywhere, and they may be many. So a sample of the pages of each table is weighed,
// and no row costs anything when it is written. Payloads are counted as they are stored: few of them can be most of a
// database, and a sample would miss them.
const TABLES = Object.keys(WEIGHTS) as (keyof typeof WEIGHTS)[];
// The part of an organization is then right to some hundredths, and a look costs some milliseconds, whatever the size
// of a table.
const SAMPLED_BYTES = 512 * 8192;

/**
 * The part of what is stored that each organization holds, from 0 to 1; one that holds nothing is missing.
 * @param payloadDays how many days payloads are kept; null: for ever
 * @throws a database error
 */
export async function storedParts(db: Queryable, payloadDays: number | null): Promise<Map<string, number>> {
  const sizes = await sql(db).rows<{ name: string; bytes: number }>`
    select name, coalesce(sum(pg_relation_size(p.relid)), 0)::bigint as bytes
    from unnest(${[...TABLES, 'attempts']}::text[]) name cross join lateral pg_partition_tree(name::regclass) p
    where p.isleaf group by name`;
  const bytesOf = new Map(sizes.map(({ name, bytes }) => [name, bytes]));
  const weighed = (name: string, weight: string) => {
    const percent = Math.min(100, (100 * SAMPLED_BYTES) / Math.max(1, bytesOf.get(name) ?? 0));
    return {
      bytes: fragment`sum(${raw(weight)}) * 100 / ${percent}::float8`,
      sample: fragment`tablesample system ((${percent}::float8)::float4)`,
    };
  };
  const tables = TABLES.map((table) => {
    const { bytes, sample } = weighed(table, WEIGHTS[table]);
    return fragment`select organization_id as id, ${bytes} as bytes from ${raw(table)} t ${sample} group by 1`;
  });
  const attempts = weighed('attempts', ATTEMPT);
  const rows = await sql(db).rows<{ id: string; part: number | null }>`
    select id, sum(bytes) / nullif(sum(sum(bytes)) over (), 0) as part
    from (
      ${joined(tables, ' union all ')}
      union all
      select d.organization_id, ${attempts.bytes} from attempts a ${attempts.sample}
      -- one by one: joined, PostgreSQL may read all deliveries
      cross join lateral (select organization_id from deliveries d where d.id = a.delivery_id offset 0) d group by 1
      union all
      select organization_id, sum(stored) from (
        select organization_id, ${raw(STORED)} as stored
        from ${byDay(raw('true'), keptSince(fragment`${payloadDays}`))} l group by organization_id, bucket
      ) days group by 1
    ) stored
    -- organizations beyond these hold less than a thousandth each
    group by id order by part desc nulls last limit 1000`;
  return new Map(rows.map(({ id, part }) => [id, part ?? 0]));
}
