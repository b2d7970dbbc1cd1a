// Refused webhooks: their counts by hour, and a sample of them.
import type { LimitName } from '../../core/fairness/organization-limits.ts';
import {
  KEPT_REFUSALS,
  type RefusalCause,
  type RefusalCount,
  type RefusalOwner,
  type RefusedWebhook,
} from '../../core/ingest/refusals.ts';
import { inSnapshot, type Pool, type Queryable } from '../connections/pool.ts';
import { jsonParameter, fragment, raw, sql } from '../connections/statements.ts';

export type RefusalRecord = Omit<RefusedWebhook, keyof RefusalOwner>;

export interface RefusalQuery {
  cause?: RefusalCause | undefined;
  /** Whether `payloadStart` is wanted; it is null otherwise. */
  withPayload: boolean;
}

export interface CountQuery {
  step: 'hour' | 'day';
  since: Date;
}

export interface Refusals {
  refusals: RefusalRecord[];
  total: number;
  counts: RefusalCountRecord[];
}

export function readRefusals(
  pool: Pool,
  ofSource: RefusalOwner,
  query: RefusalQuery & CountQuery,
  page: { limit: number; offset: number },
): Promise<Refusals> {
  return inSnapshot(pool, async (db) => ({
    ...(await listLast(db, ofSource, query, page)),
    counts: await countSince(db, ofSource, query),
  }));
}

async function listLast(
  db: Queryable,
  { organizationId, sourceId }: RefusalOwner,
  { cause, withPayload }: RefusalQuery,
  { limit, offset }: { limit: number; offset: number },
): Promise<Pick<Refusals, 'refusals' | 'total'>> {
  const last = fragment`
    from (select * from refused_webhooks where organization_id = ${organizationId} and source_id = ${sourceId}
      order by id desc limit ${raw(KEPT_REFUSALS)}) w
    where (${cause ?? null}::text is null or cause = ${cause ?? null})`;
  const counted = await sql(db).first<{ total: number }>`select count(*) as total ${last}`;
  const refusals = await sql(db).rows<RefusalRecord>`
    select id, refused_at as at, cause, limit_name as "limit", status, message, method, client_address, headers,
           payload_size, case when ${withPayload} then payload_start end as payload_start
    ${last} order by id desc limit ${limit} offset ${offset}`;
  return { refusals, total: counted?.total ?? 0 };
}

/** How many were refused in an hour or a day, for one cause. */
export interface RefusalCountRecord {
  /** When the hour or day begins. */
  start: Date;
  cause: RefusalCause;
  limit: LimitName | null;
  count: number;
  lastAt: Date;
}

async function countSince(
  db: Queryable,
  { organizationId, sourceId }: RefusalOwner,
  { step, since }: CountQuery,
): Promise<RefusalCountRecord[]> {
  return sql(db).rows<RefusalCountRecord>`
    select date_trunc(${step}, hour, 'UTC') as start, cause, nullif(limit_name, '') as "limit",
           sum(refusals)::float8 as count, max(last_at) as last_at
    from refusal_counts
    where organization_id = ${organizationId} and source_id = ${sourceId} and hour >= ${since}
    group by 1, 2, 3 order by 1, 2, 3 nulls first`;
}

// One statement for all sources. Safe beside others of its kind: counts are written in the order of their key, and what
// goes is locked first, without waiting. A source that is being changed or deleted is left to the next time: nobody
// waits for it, and nothing is written of one that is gone. Processes that store at the same time do not see each
// other's samples, so for a moment there are more than are kept; the next statement removes them, and lists show no
// more.
const RECORD = `
with source as (
  select id, organization_id from sources where id = any($1::text[]) order by id for key share skip locked
), counted as (
  insert into refusal_counts as s (organization_id, source_id, hour, cause, limit_name, refusals, last_at)
  select o.organization_id, c.source_id, c.hour, c.cause, c.limit_name, c.refusals, c.last_at
  from json_to_recordset($2::json) as c(source_id text, hour timestamptz, cause text, limit_name text, refusals bigint,
    last_at timestamptz)
  join source o on o.id = c.source_id
  order by 2, 3, 4, 5
  on conflict (source_id, hour, cause, limit_name) do update
    set refusals = s.refusals + excluded.refusals, last_at = greatest(s.last_at, excluded.last_at)
), sample as (
  select o.organization_id, w.*
  from json_to_recordset($3::json) as w(id text, source_id text, refused_at timestamptz, cause text, limit_name text,
    status smallint, message text, method text, client_address text, headers jsonb, payload_size bigint,
    payload_start text)
  join source o on o.id = w.source_id
), kept as (
  insert into refused_webhooks (id, organization_id, source_id, refused_at, cause, limit_name, status, message, method,
                                client_address, headers, payload_size, payload_start)
  select id, organization_id, source_id, refused_at, cause, limit_name, status, message, method,
         client_address, headers, payload_size, decode(payload_start, 'base64')
  from sample
), excess as (
  select w.id from refused_webhooks w where w.id = any(array(
    select older.id from (select source_id, count(*) as more from sample group by source_id) added
    cross join lateral (
      select id from refused_webhooks where source_id = added.source_id
      order by id desc offset greatest(0, ${KEPT_REFUSALS} - added.more)
    ) older))
  order by w.id for update skip locked
), removed as (
  delete from refused_webhooks w using excess x where w.id = x.id
)
select s.id from sources s where s.id = any($1::text[]) and not exists (select from source o where o.id = s.id)`;

/**
 * @returns the sources of which nothing was stored, because something else is done with them at the moment
 * @throws a database error; when the connection was lost, they may have been stored all the same
 */
export async function recordRefusals(
  db: Queryable,
  counts: RefusalCount[],
  webhooks: RefusedWebhook[],
): Promise<Set<string>> {
  const sourceIds = [...new Set(counts.map(({ sourceId }) => sourceId))];
  const values = [sourceIds, jsonParameter(counts.map(countRow)), jsonParameter(webhooks.map(webhookRow))];
  const { rows } = await db.query<{ id: string }>(RECORD, values);
  return new Set(rows.map(({ id }) => id));
}

function countRow({ sourceId, hour, cause, limit, count, lastAt }: RefusalCount) {
  return {
    ...{ source_id: sourceId, hour: new Date(hour), cause, limit_name: limit ?? '' },
    ...{ refusals: count, last_at: new Date(lastAt) },
  };
}

function webhookRow(webhook: RefusedWebhook) {
  const { id, sourceId, at, cause, limit, status, message, method, clientAddress, headers } = webhook;
  return {
    ...{ id, source_id: sourceId, refused_at: at, cause, limit_name: limit, status, message, method, headers },
    client_address: clientAddress,
    payload_size: webhook.payloadSize,
    payload_start: webhook.payloadStart?.toString('base64') ?? null,
  };
}
