// Leases: sources, destinations and routes that are removed when their creator stops renewing them.
// Rules: LEASE-04.
import { isStatementTimeout, isTransientDatabaseError, isWriteConflict } from '../connections/database-errors.ts';
import { removeDestinations, removeSource } from '../delivery/delivery-commands.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';

// Leases that one step of housekeeping checks.
const STEP = 100;

export interface Lease {
  id: string;
  expiresAt: Date;
}

// The records are locked against deletion first, as removeExpired() does, and sources before their routes, as deleting a source
// does: a record that is being removed is waited for and then skipped. In the order of ids, so that two renewals of the same ones
// queue.
const RENEW = `
with source as materialized (
  select id from sources where organization_id = $1 and id = any($2::text[]) order by id for key share
), destination as materialized (
  select id from destinations where organization_id = $1 and id = any($2::text[]) order by id for key share
), route as materialized (
  select id from routes where organization_id = $1 and id = any($2::text[]) order by id for key share
)
insert into leases (record_id, organization_id, expires_at)
select id, $1, now() + make_interval(secs => $3)
from (select id from source union all select id from destination union all select id from route) record order by id
on conflict (record_id) do update set expires_at = excluded.expires_at
returning record_id as id, expires_at as "expiresAt"`;

/** Sets the lifetime of records, in seconds from now; unknown ids are ignored. */
export async function renewLeases(
  db: Queryable,
  organizationId: string,
  ids: string[],
  seconds: number,
): Promise<Lease[]> {
  return (await db.query<Lease>(RENEW, [organizationId, ids, seconds])).rows;
}

/** Removes the leases, so that the records stay. @returns the ids that had a lease */
export async function endLeases(db: Queryable, organizationId: string, ids: string[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    'delete from leases where organization_id = $1 and record_id = any($2::text[]) returning record_id as id',
    [organizationId, ids],
  );
  return rows.map(({ id }) => id);
}

interface ExpiredLease {
  id: string;
  organizationId: string;
  /** As text from PostgreSQL, without loss of precision. */
  expiresAt: string;
}

/** Result of one step. */
export interface ExpiredLeases {
  removed: string[];
  /** Sources that routes without an expired lease use. */
  kept: string[];
  /** Records that could not be removed; their leases stay for a later round. */
  failed: { id: string; error: unknown }[];
  /** Where the next step continues. */
  last: ExpiredLease;
}

const EXPIRED = `
select record_id as id, organization_id as "organizationId", expires_at::text as "expiresAt" from leases
where expires_at < now() and ($2::timestamptz is null or (expires_at, record_id) > ($2, $3))
order by expires_at, record_id limit $1`;

/**
 * Removes the records of some expired leases, each in its own transaction. A source that other routes use stays: it holds events.
 * @param after the last lease of the step before
 * @returns null when nothing else has expired
 * @throws a database error that does not come from one of the records: the database is down, for example
 */
export async function removeExpired(pool: Pool, after?: ExpiredLease): Promise<ExpiredLeases | null> {
  const { rows: expired } = await pool.query<ExpiredLease>(EXPIRED, [STEP, after?.expiresAt, after?.id]);
  const last = expired.at(-1);
  if (!last) return null;
  const step: ExpiredLeases = { removed: [], kept: [], failed: [], last };
  for (const lease of expired) {
    try {
      const done = await inTransaction(pool, (db) => removeRecord(db, lease));
      if (done) step[done].push(lease.id);
    } catch (error) {
      if (!isOfRecord(error)) throw error;
      step.failed.push({ id: lease.id, error });
    }
  }
  return step;
}

// Another transaction may lock the record, or wait for a lock of this one.
const isOfRecord = (error: unknown): boolean =>
  isStatementTimeout(error) || isWriteConflict(error) || !isTransientDatabaseError(error);

const TABLES: Record<string, string> = { src: 'sources', dst: 'destinations', rte: 'routes' };

const LASTING_ROUTE = `
select from routes r where organization_id = $1 and source_id = $2
  and not exists (select from leases l where l.record_id = r.id and l.organization_id = $1 and l.expires_at < now())
limit 1`;

/**
 * The lock on the record makes the check of its lease and the removal atomic: a renewal is either before it and counts, or after
 * it and finds nothing. A new route locks its source (api/resources/routes.ts).
 * @returns null when the lease was renewed meanwhile, or the record was gone
 */
async function removeRecord(db: Queryable, { id, organizationId }: ExpiredLease): Promise<'removed' | 'kept' | null> {
  const prefix = id.slice(0, 3);
  const own = [organizationId, id];
  const table = TABLES[prefix];
  if (table) await db.query(`select from ${table} where organization_id = $1 and id = $2 for update`, own);
  const { rowCount } = await db.query(
    'delete from leases where organization_id = $1 and record_id = $2 and expires_at < now()',
    own,
  );
  if (rowCount === 0) return null;
  let wasThere = false;
  if (prefix === 'dst') wasThere = (await removeDestinations(db, organizationId, [id])).length > 0;
  if (prefix === 'rte') {
    wasThere = (await db.query('delete from routes where organization_id = $1 and id = $2', own)).rowCount === 1;
  }
  if (prefix === 'src') {
    // Held against renewals: those whose leases have expired as well go with their source.
    await db.query('select from routes where organization_id = $1 and source_id = $2 order by id for update', own);
    if ((await db.query(LASTING_ROUTE, own)).rowCount !== 0) return 'kept';
    wasThere = await removeSource(db, organizationId, id);
  }
  return wasThere ? 'removed' : null;
}
