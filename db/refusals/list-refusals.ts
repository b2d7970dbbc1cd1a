// Reads refused webhooks for the API.
import type { LimitName } from '../../core/fairness/limits.ts';
import { KEPT_REFUSALS, type RefusalCause, type RefusedWebhook } from '../../core/ingest/refusal.ts';
import { inSnapshot, type Pool, type Queryable } from '../connections/pool.ts';

interface OfSource {
  organizationId: string;
  sourceId: string;
}

export type RefusalRecord = Omit<RefusedWebhook, 'organizationId' | 'sourceId'>;

export interface RefusalQuery {
  cause?: RefusalCause | undefined;
  /** Whether `payloadStart` is wanted; it is null otherwise. */
  withPayload: boolean;
}

const LAST = `
from (select * from refused_webhooks where organization_id = $1 and source_id = $2 order by id desc limit ${KEPT_REFUSALS}) w
where ($3::text is null or cause = $3)`;

/** Which counts are wanted: of what is counted together, in UTC, and since when. */
export interface CountQuery {
  step: 'hour' | 'day';
  since: Date;
}

export interface Refusals {
  /** One page, newest first. */
  refusals: RefusalRecord[];
  /** How many are kept of the cause. */
  total: number;
  /** All that were refused since then, oldest first. */
  counts: RefusalCountRecord[];
}

/** One page of the last refused webhooks of a source, and how many there were, as of one moment. */
export function readRefusals(
  pool: Pool,
  ofSource: OfSource,
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
  { organizationId, sourceId }: OfSource,
  { cause, withPayload }: RefusalQuery,
  { limit, offset }: { limit: number; offset: number },
): Promise<Pick<Refusals, 'refusals' | 'total'>> {
  const values = [organizationId, sourceId, cause ?? null];
  const { rows: counted } = await db.query<{ total: number }>(`select count(*) as total ${LAST}`, values);
  const { rows } = await db.query<RefusalRecord>(
    `select id, refused_at as at, cause, limit_name as "limit", status, message, method, client_address as "clientAddress",
            headers, payload_size as "payloadSize", case when $4 then payload_start end as "payloadStart"
     ${LAST} order by id desc limit $5 offset $6`,
    [...values, withPayload, limit, offset],
  );
  return { refusals: rows, total: counted[0]?.total ?? 0 };
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

const COUNTS = `
select date_trunc($3, hour, 'UTC') as start, cause, nullif(limit_name, '') as "limit", sum(refusals)::float8 as count,
       max(last_at) as "lastAt"
from refusal_counts
where organization_id = $1 and source_id = $2 and hour >= $4
group by 1, 2, 3 order by 1, 2, 3 nulls first`;

async function countSince(
  db: Queryable,
  { organizationId, sourceId }: OfSource,
  { step, since }: CountQuery,
): Promise<RefusalCountRecord[]> {
  return (await db.query<RefusalCountRecord>(COUNTS, [organizationId, sourceId, step, since])).rows;
}
