// Vacuums of the outbox, by the relays or by autovacuum.
import type { Queryable } from '../connections/pool.ts';
import { RIGHT_TO_VACUUM, serverVersion } from '../connections/server-version.ts';

// Options: clean small indexes too, which PostgreSQL skips when few pages have dead rows; do not truncate the file, which would
// block claims; skip when another process vacuums (PostgreSQL manual, VACUUM). Migration 0097 says the same to autovacuum.
const VACUUM = 'vacuum (index_cleanup on, truncate off, process_toast off, skip_locked) outbox';

/** Vacuums the dead rows of the outbox and its index. Not inside a transaction. Without the right to, nothing happens. */
export async function vacuumOutbox(db: Queryable): Promise<void> {
  await db.query(VACUUM);
}

/** Who can keep the outbox short. */
export interface OutboxUpkeep {
  /** Whether the role of this connection may vacuum it. */
  mayVacuum: boolean;
  /** Whether this version of PostgreSQL has a right for that; else it takes the owner. */
  hasRight: boolean;
  /** How often autovacuum looks at a database, in seconds; null: it is off. */
  autovacuumSeconds: number | null;
}

const upkeepOf = (may: string): string => `
select pg_has_role(c.relowner, 'usage') or pg_has_role(d.datdba, 'usage') or ${may} as "mayVacuum",
       case when current_setting('autovacuum')::boolean
         then extract(epoch from current_setting('autovacuum_naptime')::interval)::float8 end as "autovacuumSeconds"
from pg_class c, pg_database d where c.oid = 'outbox'::regclass and d.datname = current_database()`;

/** Looks who can. */
export async function outboxUpkeep(db: Queryable): Promise<OutboxUpkeep> {
  const hasRight = (await serverVersion(db)) >= RIGHT_TO_VACUUM;
  // Versions that have no such right refuse its name.
  const may = hasRight ? `has_table_privilege(c.oid, 'maintain')` : 'false';
  const { rows } = await db.query<Omit<OutboxUpkeep, 'hasRight'>>(upkeepOf(may));
  const { mayVacuum = false, autovacuumSeconds = null } = rows[0] ?? {};
  return { mayVacuum, hasRight, autovacuumSeconds };
}
