// Organizations as an operator sees and changes them (cli/commands/orgs.ts). What tenants do is limited to their own organization;
// these statements are for operators only.
import type { Plan } from '../../core/config/access.ts';
import { newId } from '../../core/text/ids.ts';
import type { LimitOverrides } from '../../core/fairness/limits.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';
import { hashToken, newToken } from '../../core/config/api-token.ts';
import { forgetPlans } from '../replay/replay-pace.ts';

export interface OrganizationView {
  id: string;
  slug: string;
  name: string;
  plan: Plan;
  limits: LimitOverrides;
  status: 'active' | 'suspended' | 'deleting';
  suspendedAt: Date | null;
  deletedAt: Date | null;
  /** While it is being deleted. */
  eventsRemoved: number;
  createdAt: Date;
}

const VIEW = `
select id, slug, name, plan, limits,
       case when deleted_at is not null then 'deleting' when suspended_at is not null then 'suspended' else 'active' end as status,
       suspended_at as "suspendedAt", deleted_at as "deletedAt", events_removed as "eventsRemoved", created_at as "createdAt"
from organizations`;

/** All of them, oldest first. */
export async function listOrganizations(db: Queryable): Promise<OrganizationView[]> {
  const { rows } = await db.query<OrganizationView>(`${VIEW} order by id`);
  return rows;
}

/** @param idOrSlug no slug has the form of an id */
export async function findOrganization(db: Queryable, idOrSlug: string): Promise<OrganizationView | null> {
  const { rows } = await db.query<OrganizationView>(`${VIEW} where id = $1 or slug = $1`, [idOrSlug]);
  return rows[0] ?? null;
}

/** Sets the plan; its limits are in force within seconds. */
export async function setPlan(db: Queryable, organizationId: string, plan: Plan): Promise<void> {
  await db.query(
    'update organizations set plan = $2, config_version = config_version + 1, updated_at = now() where id = $1',
    [organizationId, plan],
  );
  await forgetPlans(db, organizationId);
}

/**
 * Requests the deletion of an organization: its keys end at once, its sources answer 404, and nothing more is delivered. The rest
 * is removed in the background. Repeating it changes nothing.
 */
export function requestDeletion(pool: Pool, organizationId: string): Promise<void> {
  return inTransaction(pool, async (db) => {
    await db.query(
      `update organizations
       set deleted_at = now(), suspended_at = coalesce(suspended_at, now()), config_version = config_version + 1, updated_at = now()
       where id = $1 and deleted_at is null`,
      [organizationId],
    );
    await db.query('delete from api_keys where organization_id = $1', [organizationId]);
  });
}

export interface NewKey {
  name: string;
  scopes: string[];
  /** Ranges in CIDR notation; null: every address. */
  allowedAddresses: string[] | null;
  /** Null: it does not expire. */
  expiresAt: Date | null;
}

export interface CreatedKey extends NewKey {
  id: string;
  /** The only time it is known. */
  token: string;
}

/** Makes an API key. @returns null when the organization is gone, or is being deleted */
export async function createKey(
  db: Queryable,
  organizationId: string,
  { id = newId('key'), ...key }: NewKey & { id?: string },
): Promise<CreatedKey | null> {
  const token = newToken();
  // The row lock orders this against a deletion that is requested at the same moment, which removes all keys.
  const { rowCount } = await db.query(
    `with organization as (select id from organizations where id = $2 and deleted_at is null for share)
     insert into api_keys (id, organization_id, name, token_hash, token_hint, scopes, expires_at, allowed_addresses)
     select $1, id, $3, $4, $5, $6::text[], $7, $8::text[] from organization`,
    [id, organizationId, key.name, hashToken(token), token.slice(-4), key.scopes, key.expiresAt, key.allowedAddresses],
  );
  return rowCount === 1 ? { ...key, id, token } : null;
}
