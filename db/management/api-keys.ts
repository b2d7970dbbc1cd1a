// Looks up API keys for authentication.
// Rules: AUTH-09, EVT-37.
import type { Scope } from '../../core/config/access.ts';
import type { LimitOverrides } from '../../core/fairness/limits.ts';
import type { Organization } from '../entities.ts';
import type { Queryable } from '../connections/pool.ts';

/** A key that is valid now, with its organization. */
export interface ValidKey {
  id: string;
  name: string;
  scopes: Scope[];
  /** Ranges in CIDR notation; null: every address. */
  allowedAddresses: string[] | null;
  expiresAt: Date | null;
  tokenHash: Buffer;
  organizationId: string;
  organizationName: string;
  slug: string;
  plan: Organization['plan'];
  limits: LimitOverrides;
  /** Its organization may read only. */
  suspended: boolean;
  /** Whether its last use should be recorded. */
  useIsDue: boolean;
}

// To the minute, so that a busy key costs one write a minute.
const USE_IS_DUE = `coalesce(last_used_at < now() - interval '1 minute', true)`;

// The only lookup without an organization: it determines the organization of the request.
const FIND = `
select k.id, k.name, k.scopes, k.allowed_addresses as "allowedAddresses", k.expires_at as "expiresAt", k.token_hash as "tokenHash",
       o.id as "organizationId", o.name as "organizationName", o.slug, o.plan, o.limits,
       o.suspended_at is not null as suspended, ${USE_IS_DUE} as "useIsDue"
from api_keys k join organizations o on o.id = k.organization_id and o.deleted_at is null
where k.token_hash = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`;

/** Read for every request, without a cache: revoking a key takes effect at once, in every process. */
export async function findKey(db: Queryable, tokenHash: Buffer): Promise<ValidKey | null> {
  const { rows } = await db.query<ValidKey>({ name: 'find-key', text: FIND, values: [tokenHash] });
  return rows[0] ?? null;
}

const IS_VALID = `
select exists (
  select from api_keys k join organizations o on o.id = k.organization_id and o.deleted_at is null
  where k.organization_id = $1 and k.id = $2 and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
) as valid`;

/** Whether a key that was found before is still valid: for an answer that continues for long. */
export async function isStillValid(db: Queryable, organizationId: string, keyId: string): Promise<boolean> {
  const values = [organizationId, keyId];
  const { rows } = await db.query<{ valid: boolean }>({ name: 'is-key-valid', text: IS_VALID, values });
  return rows[0]?.valid === true;
}

// One of several concurrent requests writes.
const NOTE_USE = `update api_keys set last_used_at = now() where organization_id = $1 and id = $2 and ${USE_IS_DUE}`;

/** Notes that a key is used. */
export async function noteUse(db: Queryable, organizationId: string, keyId: string): Promise<void> {
  await db.query(NOTE_USE, [organizationId, keyId]);
}
