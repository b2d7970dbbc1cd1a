// The rights of the roles of the services and of the tenants. The connections of the management API act as the role of
// the tenants. It has rights on the tables below only, and row-level security binds it to the rows of the organization
// that the connection is set to: the second lock behind the conditions of the statements. It cannot log in; the role of
// the services may act as it.
//
// The role is the operator's, so its policies are not made by a migration. What is made for it is found out from the
// catalogue, so that each new table is bound when the database is next brought up to date. Other roles may do what they
// may do without policies.
import { ORGANIZATION_SETTING } from '../connections/by-organization.ts';
import { ConfigError } from '../../core/config/secret-files.ts';
import type { Queryable } from '../connections/pool.ts';
import { INHERITANCE_BY_GRANT, serverVersion, RIGHT_TO_VACUUM } from '../connections/client.ts';
import { changeSchema } from './schema-changes.ts';
import { raw, sql } from '../connections/statements.ts';

const OWN = `current_setting('${ORGANIZATION_SETTING}', true)`;

type Right = 'select' | 'insert' | 'update' | 'delete';

interface TenantTable {
  rights: readonly Right[];
  /** Which rows; null: all, because nothing in them is of an organization. */
  condition: string | null;
}

const ALL: readonly Right[] = ['select', 'insert', 'update', 'delete'];

const ORGANIZATION_COLUMN = 'organization_id';
const OF_ORGANIZATION = `${ORGANIZATION_COLUMN} = ${OWN}`;

// `offset 0` keeps PostgreSQL from reading all events of the organization into a hash table, to look up a few of them.
const ofRow = (table: string, alias: string, id: string): string =>
  `exists (select from ${table} ${alias} where ${alias}.id = ${id} and ${alias}.organization_id = ${OWN} offset 0)`;
const ofRecord = (table: string, id: string): string =>
  `${id} in (select id from ${table} where organization_id = ${OWN})`;

// Rows without the column belong to another row.
const OTHERS: Record<string, TenantTable> = {
  organizations: { rights: ['select', 'update'], condition: `id = ${OWN}` },
  event_payloads: { rights: ['select', 'delete'], condition: ofRow('events', 'e', 'event_payloads.event_id') },
  attempts: { rights: ['select', 'delete'], condition: ofRow('deliveries', 'd', 'attempts.delivery_id') },
  rate_limits: { rights: ALL, condition: ofRecord('destinations', 'destination_id') },
};

/**
 * Of tables with the column: what was done is written once (refuse_audit_change), what is counted too, and the roll-up
 * adds it up.
 */
const FEWER: Record<string, readonly Right[]> = {
  audit_records: ['select', 'insert'],
  ledger_entries: ['select', 'insert'],
  rollups: ['select'],
};

/**
 * What the role of the tenants may do with a table; null: nothing.
 * @param hasOrganization whether it has the column ORGANIZATION_COLUMN
 */
function tenantTable(name: string, hasOrganization: boolean): TenantTable | null {
  if (!hasOrganization) return OTHERS[name] ?? null;
  return { rights: FEWER[name] ?? ALL, condition: OF_ORGANIZATION };
}

/** For every role: what its rights allow. A policy that restricts has an effect only beside one that permits. */
const EVERYONE = 'everyone';

interface Table {
  name: string;
  hasOrganization: boolean;
  isSecured: boolean;
  /** The condition for which the role's policy was made; null: there is none. */
  bound: string | null;
}

/**
 * Makes a role the one of the tenants: gives it its rights, and takes those that it has no more. Safe to repeat, beside
 * running services, and by several processes at once.
 * @param db of the owner of the tables
 * @param role must exist
 * @throws RangeError when the role could do without its policies, or the policies would bind the services as well
 */
export async function grantTenant(db: Queryable, role: string): Promise<void> {
  await refuseUselessRole(db, role);
  // Tables by their parents: a statement that names a partitioned table meets the policies and rights of that table
  // only, and the role has no rights on partitions themselves.
  const tables = await sql(db).rows<Table>`
    select c.relname as name, c.relrowsecurity as is_secured, obj_description(p.oid, 'pg_policy') as bound,
           exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = '${raw(ORGANIZATION_COLUMN)}'
             and not a.attisdropped)
             as has_organization
    from pg_class c left join pg_policy p on p.polrelid = c.oid and p.polname = ${role}
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname`;
  const wanted = tables.map((table) => ({ ...table, tenant: tenantTable(table.name, table.hasOrganization) }));
  for (const { tenant, ...table } of wanted) if (tenant?.condition) await bind(db, table, role, tenant.condition);
  const rights = wanted.flatMap(({ name, tenant }) => (tenant ? [grant(name, tenant, role)] : []));
  await changeSchema(db, [
    `revoke all on all tables in schema public from ${quoted(role)}`,
    `grant usage on schema public to ${quoted(role)}`,
    `grant usage on all sequences in schema public to ${quoted(role)}`,
    ...rights,
    `grant execute on function audit_records_about(text) to ${quoted(role)}`,
  ]);
}

const grant = (table: string, { rights }: TenantTable, role: string): string =>
  `grant ${rights.join(', ')} on ${quoted(table)} to ${quoted(role)}`;

async function bind(db: Queryable, { name, isSecured, bound }: Table, role: string, condition: string): Promise<void> {
  if (isSecured && bound === condition) return;
  const [table, policy] = [quoted(name), quoted(role)];
  // Every statement on the table waits meanwhile, so each table has a transaction of its own.
  await changeSchema(db, [
    `drop policy if exists ${EVERYONE} on ${table}`,
    `create policy ${EVERYONE} on ${table} using (true)`,
    `drop policy if exists ${policy} on ${table}`,
    `create policy ${policy} on ${table} as restrictive to ${policy} using (${condition})`,
    `comment on policy ${policy} on ${table} is '${condition.replaceAll("'", "''")}'`,
    `alter table ${table} enable row level security`,
  ]);
}

/** Roles of tenants that were made in this database: each has a policy of its own name. */
const TENANTS = `
select r.oid, r.rolname as name from pg_policy p join pg_roles r on p.polroles = array[r.oid] and p.polname = r.rolname
where p.polrelid = to_regclass('public.organizations')`;

export async function renewTenants(db: Queryable): Promise<void> {
  const { rows } = await db.query<{ name: string }>(TENANTS);
  for (const { name } of rows) await grantTenant(db, name);
}

/**
 * The role that connections for tenants can act as; null: there is none, and only the statements separate tenants.
 * @throws ConfigError when there are several, because the policies of one may be older
 */
export async function findTenantRole(db: Queryable): Promise<string | null> {
  // Before, no matter who was a member could act as the role.
  const right = (await serverVersion(db)) >= INHERITANCE_BY_GRANT ? 'set' : 'member';
  const rows = await sql(db).rows<{ name: string }>`
    select name from (${raw(TENANTS)}) t where pg_has_role(current_user, oid, '${raw(right)}') order by name`;
  if (rows.length > 1)
    throw new ConfigError([
      `There are several tenant roles (${rows.map(({ name }) => name).join(', ')}): revoke all but one of them from the DATABASE_URL role`,
    ]);
  return rows[0]?.name ?? null;
}

/**
 * For the services, whose work is about all organizations.
 * @throws ConfigError when the policies of a role of tenants bind the role of this connection
 */
export async function requireUnbound(db: Queryable): Promise<void> {
  const rows = await sql(db).rows<{ name: string; services: string }>`
    select name, current_user::text as services from (${raw(TENANTS)}) t
    where pg_has_role(current_user, oid, 'usage') and row_security_active('public.organizations') limit 1`;
  if (!rows[0]) return;
  const { name, services } = rows[0];
  throw new ConfigError([
    `The DATABASE_URL role is restricted to one organization, because it inherits from ${name}; to fix this: ${await withoutInheriting(db, name, services)}; see docs/operate/postgresql.md`,
  ]);
}

/** What to do so that a role of services may act as that of the tenants, and is not bound as that is. */
async function withoutInheriting(db: Queryable, tenants: string, services: string): Promise<string> {
  const version = await serverVersion(db);
  if (version >= INHERITANCE_BY_GRANT) return `grant ${tenants} to ${services} with inherit false, set true`;
  return `alter role ${services} noinherit (PostgreSQL ${version} has no "with inherit false")`;
}

async function refuseUselessRole(db: Queryable, role: string): Promise<void> {
  const rows = await sql(db).rows<{ free: boolean }>`
    select rolsuper or rolbypassrls or pg_has_role(r.oid, c.relowner, 'member') as free
    from pg_roles r, pg_class c where r.rolname = ${role} and c.oid = 'public.organizations'::regclass`;
  if (!rows[0]) throw new RangeError(`Role ${role} does not exist`);
  if (rows[0].free)
    throw new RangeError(
      `No policy applies to the role ${role}: it is a superuser, has BYPASSRLS, is the table owner, or is a member of the table owner's role`,
    );
  // Roles that inherit from a role are bound by its policies (PostgreSQL manual, CREATE POLICY), unless they own the
  // table.
  const others = await sql(db).rows<{ name: string }>`
    select s.rolname as name from pg_roles s, pg_roles t, pg_class c
    where t.rolname = ${role} and s.oid <> t.oid and c.oid = 'public.organizations'::regclass
      and pg_has_role(s.oid, t.oid, 'usage') and has_table_privilege(s.oid, c.oid, 'select')
      and not s.rolsuper and not s.rolbypassrls and not pg_has_role(s.oid, c.relowner, 'usage')`;
  if (others[0])
    throw new RangeError(
      `The role ${others[0].name} inherits from ${role} and would see no rows: ${await withoutInheriting(db, role, others[0].name)}`,
    );
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

export async function mayMigrate(db: Queryable): Promise<boolean> {
  return sql(db).value<boolean>`
    select has_schema_privilege('public', 'create') and coalesce(
      (select pg_has_role(c.relowner, 'usage') from pg_class c where c.oid = to_regclass('public.organizations')),
      true)`;
}

/**
 * Gives a role the rights of the services, on what there is and on what this role makes later: to read and write rows,
 * and to make and drop partitions by the functions for that (03-events.sql), but not to change the schema. Safe to
 * repeat, and by several processes at once.
 * @param role must exist
 */
export async function grantRuntime(db: Queryable, role: string): Promise<void> {
  const name = quoted(role);
  const database = await sql(db).value<string>`select current_database()`;
  // The relay vacuums the outbox. Where there is no right for that, autovacuum does (hot-path/claim.ts).
  const toVacuum = (await serverVersion(db)) >= RIGHT_TO_VACUUM ? [`grant maintain on outbox to ${name}`] : [];
  await changeSchema(db, [
    // Names of temporary objects come before others. The owner of the database keeps the right.
    `revoke temporary on database ${quoted(database)} from public`,
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
