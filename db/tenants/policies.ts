// Which rows of which tables an organization may see and change: the second lock behind the conditions of the statements. The role
// of the tenants has rights on these tables only, and on each of them it is bound by a policy (tenant-rights.ts).

/** The setting of a connection that names the organization it works for; without it, or when it is empty, there are no rows. */
export const ORGANIZATION_SETTING = 'hookyard.organization_id';

const OWN = `current_setting('${ORGANIZATION_SETTING}', true)`;

type Right = 'select' | 'insert' | 'update' | 'delete';

/** What the role of the tenants may do with the rows of a table. */
export interface TenantTable {
  rights: readonly Right[];
  /** Which rows; null: all, because nothing in them is of an organization. */
  condition: string | null;
}

const ALL: readonly Right[] = ['select', 'insert', 'update', 'delete'];

/** Every table with this column has this condition. */
export const ORGANIZATION_COLUMN = 'organization_id';
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

/** Of tables with the column: what was done is written once (refuse_audit_change), what is counted too, and the roll-up adds it up. */
const FEWER: Record<string, readonly Right[]> = {
  audit_records: ['select', 'insert'],
  ledger_entries: ['select', 'insert'],
  rollups: ['select'],
};

/**
 * What the role of the tenants may do with a table; null: nothing.
 * @param hasOrganization whether it has the column ORGANIZATION_COLUMN
 */
export function tenantTable(name: string, hasOrganization: boolean): TenantTable | null {
  if (!hasOrganization) return OTHERS[name] ?? null;
  return { rights: FEWER[name] ?? ALL, condition: OF_ORGANIZATION };
}
