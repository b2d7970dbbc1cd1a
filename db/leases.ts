// Leases: sources, destinations and routes that are removed when whoever made them renews them no more.
import { deleteDestinations, deleteSource } from './delivery-commands.ts';
import type { Pool, Queryable } from './pool.ts';

// Leases that one step of housekeeping looks at.
const STEP = 100;

export interface Lease {
  id: string;
  expiresAt: Date;
}

// In the order of ids, so that two renewals of the same records queue.
const RENEW = `
insert into leases (record_id, organization_id, expires_at)
select id, $1, now() + make_interval(secs => $3)
from (
  select id from sources where organization_id = $1 and id = any($2::text[])
  union all select id from destinations where organization_id = $1 and id = any($2::text[])
  union all select id from routes where organization_id = $1 and id = any($2::text[])
) record order by id
on conflict (record_id) do update set expires_at = excluded.expires_at
returning record_id as id, expires_at as "expiresAt"`;

/** Lets records live for so many seconds from now on; those that do not exist are passed over. */
export async function renewLeases(
  db: Queryable,
  organizationId: string,
  ids: string[],
  seconds: number,
): Promise<Lease[]> {
  return (await db.query<Lease>(RENEW, [organizationId, ids, seconds])).rows;
}

/** Lets records live for ever again. @returns the ids that had a lease */
export async function endLeases(db: Queryable, organizationId: string, ids: string[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    'delete from leases where organization_id = $1 and record_id = any($2::text[]) returning record_id as id',
    [organizationId, ids],
  );
  return rows.map(({ id }) => id);
}

/** What one step removed, and which sources it kept because routes lead from them. */
export interface ExpiredLeases {
  removed: string[];
  kept: string[];
}

const REMOVE_ROUTES = `
delete from routes r using leases l
where r.id = l.record_id and l.record_id = any($1::text[]) and l.expires_at < now()
returning r.id`;

/**
 * Removes the records of leases that have expired, as far as they are still there. A source that has got routes of somebody else
 * stays: it holds events.
 * @returns null when nothing has expired
 */
export async function removeExpired(pool: Pool): Promise<ExpiredLeases | null> {
  const { rows: expired } = await pool.query<{ id: string; organizationId: string }>(
    `select record_id as id, organization_id as "organizationId" from leases
     where expires_at < now() order by expires_at limit $1`,
    [STEP],
  );
  if (expired.length === 0) return null;
  const ids = expired.map(({ id }) => id);
  const removed = (await pool.query<{ id: string }>(REMOVE_ROUTES, [ids])).rows.map(({ id }) => id);
  const kept: string[] = [];
  for (const { id, organizationId } of expired) {
    if (id.startsWith('dst_')) removed.push(...(await deleteDestinations(pool, organizationId, [id])).deleted);
    if (!id.startsWith('src_')) continue;
    const { rowCount } = await pool.query('select from routes where source_id = $1 limit 1', [id]);
    if (rowCount !== 0) kept.push(id);
    else if (await deleteSource(pool, organizationId, id)) removed.push(id);
  }
  // Last, so that whoever dies in between leaves a lease that the next step finds again.
  await pool.query('delete from leases where record_id = any($1::text[]) and expires_at < now()', [ids]);
  return { removed, kept };
}
