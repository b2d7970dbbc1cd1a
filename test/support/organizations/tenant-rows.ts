// A row of each organization in every table that belongs to one, made of the catalogue, so that a new table has its
// rows too.
import type pg from 'pg';
import { newId } from '../../../core/text/ids.ts';
import { type Pool, inTransaction } from '../../../db/connections/pool.ts';

/** Ids of the records of one organization. */
export type TenantIds = ReturnType<typeof tenantIds>;

export function tenantIds() {
  return {
    organization: newId('org'),
    source: newId('src'),
    destination: newId('dst'),
    route: newId('rte'),
    event: newId('evt'),
    delivery: newId('dlv'),
  };
}

/** Tables with a column that says to which organization a row belongs, and those whose rows belong to such a row. */
const OF_OTHER_ROWS: Record<string, Record<string, keyof TenantIds>> = {
  organizations: { id: 'organization' },
  event_payloads: { event_id: 'event' },
  attempts: { delivery_id: 'delivery' },
  rate_limits: { destination_id: 'destination' },
};
const OWN_ID: Record<string, keyof TenantIds> = {
  sources: 'source',
  destinations: 'destination',
  routes: 'route',
  events: 'event',
  deliveries: 'delivery',
};

export interface Table {
  name: string;
  hasOrganization: boolean;
  columns: { name: string; type: string; needed: boolean }[];
}

/** All tables, each partitioned one once. */
export async function allTables(pool: Pool): Promise<Table[]> {
  const { rows } = await pool.query<Table>(
    `select c.relname as name, bool_or(a.attname = 'organization_id') as "hasOrganization",
            json_agg(json_build_object('name', a.attname, 'type', t.typname,
              'needed', a.attnotnull and not a.atthasdef and a.attidentity = '' and a.attgenerated = '') order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped join pg_type t on t.oid = a.atttypid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
     group by c.relname order by c.relname`,
  );
  return rows;
}

/** Whether rows of this table belong to an organization. */
export const isOfTenants = ({ name, hasOrganization }: Table): boolean => hasOrganization || name in OF_OTHER_ROWS;

/**
 * Writes a row into each of the tables, which need not make sense: keys between tables and checks are not looked at.
 * @param pool of a superuser, on a database of the test's own
 */
export async function makeTenantRows(pool: Pool, tables: Table[], ids: TenantIds): Promise<void> {
  await inTransaction(pool, async (db) => {
    await db.query(`set local session_replication_role = replica`);
    await db.query(DROP_CHECKS);
    for (const table of tables) await db.query(...insertOf(table, ids));
  });
}

const DROP_CHECKS = `
do $$
declare
  c record;
begin
  for c in select conrelid::regclass as tab, conname from pg_constraint
    where contype = 'c' and connamespace = 'public'::regnamespace and coninhcount = 0
  loop
    execute format('alter table %s drop constraint %I', c.tab, c.conname);
  end loop;
end $$`;

/** An insert of a row of the organization; its other values are the first that come to mind. */
export function insertOf(table: Table, ids: TenantIds): [text: string, values: unknown[]] {
  const columns = table.columns.filter(({ name, needed }) => needed || refersTo(table, name) !== undefined);
  const values = columns.map(({ name, type }) => {
    const kind = refersTo(table, name);
    return kind === undefined ? firstOf(type) : ids[kind];
  });
  const parameters = columns.map(({ type }, index) => `$${index + 1}::${type}`);
  const names = columns.map(({ name }) => `"${name}"`);
  return [`insert into ${table.name} (${names.join(', ')}) values (${parameters.join(', ')})`, values];
}

function refersTo({ name: table }: Table, column: string): keyof TenantIds | undefined {
  const special = OF_OTHER_ROWS[table]?.[column];
  if (special !== undefined) return special;
  if (column === 'organization_id') return 'organization';
  if (column === 'id') return OWN_ID[table];
  const kind = /^(source|destination|route|event|delivery)_id$/.exec(column)?.[1];
  return kind as keyof TenantIds | undefined;
}

function firstOf(type: string): unknown {
  if (/^_/.test(type)) return [];
  if (/^(?:int|float|numeric)/.test(type)) return 1;
  if (/^(?:timestamp|date)/.test(type)) return new Date();
  if (/^json/.test(type)) return '{}';
  if (type === 'bool') return true;
  if (type === 'bytea') return Buffer.from(newId('key'));
  return newId('key');
}

/** Runs a statement whose effect is undone. @returns its rows and their number, or the code of its error */
export async function tried(
  db: pg.PoolClient,
  ...statement: [text: string, values?: unknown[]]
): Promise<{ rows: unknown[]; count: number; code?: string }> {
  await db.query('begin');
  try {
    const { rows, rowCount } = await db.query(...statement);
    return { rows, count: rowCount ?? 0 };
  } catch (error) {
    return { rows: [], count: 0, code: String((error as { code?: string }).code) };
  } finally {
    await db.query('rollback');
  }
}
