// What the role of the services may do in the database: read and write rows, and make and drop partitions by the functions for that
// (db/schema/03-events.sql). It cannot change the schema.
import type { Queryable } from '../connections/pool.ts';
import { RIGHT_TO_VACUUM, serverVersion } from '../connections/server-version.ts';
import { changeSchema } from './schema-changes.ts';

/** Whether the role of this connection may migrate: it owns the tables, or may create them. */
export async function mayMigrate(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ may: boolean }>(
    `select has_schema_privilege('public', 'create') and coalesce(
       (select pg_has_role(c.relowner, 'usage') from pg_class c where c.oid = to_regclass('public.organizations')), true) as may`,
  );
  return rows[0]?.may === true;
}

/**
 * Gives a role the rights of the services, on what there is and on what this role makes later. Safe to repeat, and by several
 * processes at once.
 * @param role must exist
 */
export async function grantRuntime(db: Queryable, role: string): Promise<void> {
  const name = quoted(role);
  const { rows } = await db.query<{ name: string }>('select current_database() as name');
  // The relay vacuums the outbox. Where there is no right for that, autovacuum does (hot-path/claim.ts).
  const toVacuum = (await serverVersion(db)) >= RIGHT_TO_VACUUM ? [`grant maintain on outbox to ${name}`] : [];
  await changeSchema(db, [
    // Names of temporary objects come before others. The owner of the database keeps the right.
    `revoke temporary on database ${quoted(rows[0]?.name ?? '')} from public`,
    `grant usage on schema public to ${name}`,
    `grant select, insert, update, delete on all tables in schema public to ${name}`,
    `revoke insert, update, delete on schema_migrations from ${name}`,
    // Who did what is written once; retention deletes it (forget_audit_records).
    `revoke update, delete on audit_records from ${name}`,
    `grant execute on function forget_audit_records(integer, integer), forget_audit_of(text, integer) to ${name}`,
    `grant usage on all sequences in schema public to ${name}`,
    `grant execute on function make_partition(text, date), drop_partition(text, date) to ${name}`,
    ...toVacuum,
    `alter default privileges in schema public grant select, insert, update, delete on tables to ${name}`,
    `alter default privileges in schema public grant usage on sequences to ${name}`,
  ]);
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
