// The role of the tenants: what the connections of the management API act as. Row-level security binds it to the rows of the
// organization that the connection is set to. It cannot log in; the role of the services may act as it.
//
// The role is the operator's, so its policies are not made by a migration. What is made for it is found out from the catalogue, so
// that each new table is bound when the database is next brought up to date. Other roles may do what they may do without policies.
import { ConfigError } from '../../core/config/config-error.ts';
import type { Queryable } from '../connections/pool.ts';
import { INHERITANCE_BY_GRANT, serverVersion } from '../connections/server-version.ts';
import { changeSchema } from '../migrate/schema-changes.ts';
import { ORGANIZATION_COLUMN, type TenantTable, tenantTable } from './policies.ts';

/** For every role: what its rights allow. A policy that restricts has an effect only beside one that permits. */
const EVERYONE = 'everyone';

interface Table {
  name: string;
  hasOrganization: boolean;
  isSecured: boolean;
  /** The condition for which the role's policy was made; null: there is none. */
  bound: string | null;
}

// Tables by their parents: a statement that names a partitioned table meets the policies and rights of that table only, and the
// role has no rights on partitions themselves.
const TABLES = `
select c.relname as name, c.relrowsecurity as "isSecured", obj_description(p.oid, 'pg_policy') as bound,
       exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = '${ORGANIZATION_COLUMN}' and not a.attisdropped)
         as "hasOrganization"
from pg_class c left join pg_policy p on p.polrelid = c.oid and p.polname = $1
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
order by c.relname`;

/**
 * Makes a role the one of the tenants: gives it its rights, and takes those that it has no more. Safe to repeat, beside running
 * services, and by several processes at once.
 * @param db of the owner of the tables
 * @param role must exist
 * @throws RangeError when the role could do without its policies, or the policies would bind the services as well
 */
export async function grantTenant(db: Queryable, role: string): Promise<void> {
  await refuseUselessRole(db, role);
  const { rows: tables } = await db.query<Table>(TABLES, [role]);
  const wanted = tables.map((table) => ({ ...table, tenant: tenantTable(table.name, table.hasOrganization) }));
  for (const { tenant, ...table } of wanted) if (tenant?.condition) await bind(db, table, role, tenant.condition);
  const rights = wanted.flatMap(({ name, tenant }) => (tenant ? [grant(name, tenant, role)] : []));
  await changeSchema(db, [
    `revoke all on all tables in schema public from ${quoted(role)}`,
    `grant usage on schema public to ${quoted(role)}`,
    `grant usage on all sequences in schema public to ${quoted(role)}`,
    ...rights,
    // Their own records about something.
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

/** Brings the rights of all roles of tenants up to date; for the owner of the tables. */
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
  const { rows } = await db.query<{ name: string }>(
    `select name from (${TENANTS}) t where pg_has_role(current_user, oid, '${right}') order by name`,
  );
  if (rows.length > 1)
    throw new ConfigError([
      `There are several roles of tenants (${rows.map(({ name }) => name).join(', ')}): revoke all but one of them from the role of DATABASE_URL`,
    ]);
  return rows[0]?.name ?? null;
}

/**
 * For the services, whose work is about all organizations.
 * @throws ConfigError when the policies of a role of tenants bind the role of this connection
 */
export async function requireUnbound(db: Queryable): Promise<void> {
  const { rows } = await db.query<{ name: string; services: string }>(
    `select name, current_user::text as services from (${TENANTS}) t
     where pg_has_role(current_user, oid, 'usage') and row_security_active('public.organizations') limit 1`,
  );
  if (!rows[0]) return;
  const { name, services } = rows[0];
  throw new ConfigError([
    `The role of DATABASE_URL is bound to one organization, because it inherits from ${name}: ${await withoutInheriting(db, name, services)}, see docs/database-roles.md`,
  ]);
}

/** What to do so that a role of services may act as that of the tenants, and is not bound as that is. */
async function withoutInheriting(db: Queryable, tenants: string, services: string): Promise<string> {
  const version = await serverVersion(db);
  if (version >= INHERITANCE_BY_GRANT) return `grant ${tenants} to ${services} with inherit false, set true`;
  return `alter role ${services} noinherit (PostgreSQL ${version} has no "with inherit false")`;
}

// Roles that inherit from a role are bound by its policies (PostgreSQL manual, CREATE POLICY), unless they own the table.
const BOUND_AS_WELL = `
select s.rolname as name from pg_roles s, pg_roles t, pg_class c
where t.rolname = $1 and s.oid <> t.oid and c.oid = 'public.organizations'::regclass
  and pg_has_role(s.oid, t.oid, 'usage') and has_table_privilege(s.oid, c.oid, 'select')
  and not s.rolsuper and not s.rolbypassrls and not pg_has_role(s.oid, c.relowner, 'usage')`;

async function refuseUselessRole(db: Queryable, role: string): Promise<void> {
  const { rows } = await db.query<{ free: boolean }>(
    `select rolsuper or rolbypassrls or pg_has_role(r.oid, c.relowner, 'member') as free
     from pg_roles r, pg_class c where r.rolname = $1 and c.oid = 'public.organizations'::regclass`,
    [role],
  );
  if (!rows[0]) throw new RangeError(`There is no role ${role}`);
  if (rows[0].free)
    throw new RangeError(
      `No policy binds the role ${role}: it is a superuser, has BYPASSRLS, or is a member of the owner of the tables`,
    );
  const { rows: others } = await db.query<{ name: string }>(BOUND_AS_WELL, [role]);
  if (others[0])
    throw new RangeError(
      `The role ${others[0].name} inherits from ${role} and would see no rows: ${await withoutInheriting(db, role, others[0].name)}`,
    );
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
