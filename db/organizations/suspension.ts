// Suspended organizations: their webhooks are refused, and their deliveries wait. One that is being deleted is suspended too.
import type { Pool, Queryable } from '../connections/pool.ts';
import { inTransaction } from '../connections/pool.ts';
import { WAKE_CIRCUITS, WAKE_RELAYS } from '../sql-rules.ts';

/** Whether an organization is suspended, and when its last suspension ended, by the clock of the database. */
export interface Suspension {
  suspended: boolean;
  resumedAt: Date | null;
}

/** Read from the database each time, so that a suspension that has ended is not seen any more. */
export async function loadSuspension(db: Queryable, organizationId: string): Promise<Suspension> {
  const { rows } = await db.query<Suspension>(
    'select suspended_at is not null as suspended, resumed_at as "resumedAt" from organizations where id = $1',
    [organizationId],
  );
  return rows[0] ?? { suspended: false, resumedAt: null };
}

/** A higher version of the configuration makes every API process read the organization again. @returns false: it was suspended */
export async function suspendOrganization(db: Queryable, organizationId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update organizations set suspended_at = now(), config_version = config_version + 1, updated_at = now()
     where id = $1 and suspended_at is null`,
    [organizationId],
  );
  return rowCount === 1;
}

/** Ends a suspension, and wakes what has waited for that. @returns false: it was not suspended, or is being deleted */
export function resumeOrganization(pool: Pool, organizationId: string): Promise<boolean> {
  return inTransaction(pool, async (db) => {
    const { rowCount } = await db.query(
      `update organizations
       set suspended_at = null, resumed_at = now(), config_version = config_version + 1, updated_at = now()
       where id = $1 and suspended_at is not null and deleted_at is null`,
      [organizationId],
    );
    if (rowCount === 0) return false;
    await db.query(
      // A closed one without a time to be woken holds nothing (activities/circuit.ts).
      `with due as (
         select route_id from circuits where organization_id = $1 and (state <> 'closed' or wake_at is not null)
         order by route_id for update
       )
       update circuits c set version = c.version + 1, wake_at = now() from due d where c.route_id = d.route_id`,
      [organizationId],
    );
    // A flush whose version is not the one its workflow has seen is signalled (db/warehouse/flushes.ts).
    await db.query('update warehouse_flushes set seen_version = null, due_at = now() where organization_id = $1', [
      organizationId,
    ]);
    await db.query(`select ${WAKE_RELAYS}, ${WAKE_CIRCUITS}`);
    return true;
  });
}
