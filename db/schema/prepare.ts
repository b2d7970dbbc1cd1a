// Prepares the database at every start, before requests are served: migrate, check the keys, make the first
// organization.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plan } from '../../core/config/plans-and-scopes.ts';
import { newToken } from '../../core/config/api-token.ts';
import type { Settings } from '../../core/config/config.ts';
import { ConfigError } from '../../core/config/secret-files.ts';
import { newId } from '../../core/text/ids.ts';
import { recordEntry, operatorEntry } from '../organizations/audit.ts';
import { createKey, FIRST_KEY } from '../organizations/keys.ts';
import { checkKeysOpenData, loadEncryptionKeys } from '../encryption/keys.ts';
import { SecretBox } from '../encryption/secret-box.ts';
import { missingMigrations, migrate } from './migrate.ts';
import { type DatabaseUrl, requireServer } from '../connections/client.ts';
import { createPool, inTransaction, type Pool } from '../connections/pool.ts';
import { ensurePartitions } from '../sql/partitions.ts';
import { mayMigrate, requireUnbound } from './roles.ts';
import { LOCKS } from '../sql/rules.ts';
import { sql } from '../connections/statements.ts';

const FIRST_PLAN = 'business' satisfies Plan;

export interface PreparedDatabase {
  organization: { id: string; slug: string; plan: string };
  /**
   * The first key, if this start created it: the only time its token is known. `file` is null when it came from
   * HOOKYARD_API_KEY.
   */
  createdKey: { token: string; file: string | null } | null;
}

/** The file that keeps the generated first API key, readable by its owner only. */
export function apiKeyFile(settings: Settings): string {
  return join(settings.HOOKYARD_DATA_DIR, 'keys', 'api-key');
}

/**
 * Makes the database ready to serve; safe to run by several processes at once and at every start. With
 * HOOKYARD_MIGRATE=off, or as a role that may not change the schema, it only checks that somebody has migrated
 * (docs/operate/postgresql.md).
 * @throws ConfigError when Hookyard does not run on this server, the encryption keys do not open the stored
 * credentials, migrations are missing that this process does not apply, or it is bound as the role of tenants is; a
 * database error when it is unreachable
 */
export async function prepareDatabase(settings: Settings, databaseUrl: DatabaseUrl): Promise<PreparedDatabase> {
  const box = new SecretBox(loadEncryptionKeys(settings));
  const options = { name: 'hookyard-migrate', max: 1, statementTimeoutMs: 30_000, onError: () => {} };
  const pool = createPool(databaseUrl, options);
  try {
    await requireServer(pool);
    if (!settings.HOOKYARD_MIGRATE) await requireMigrated(pool, 'HOOKYARD_MIGRATE is off');
    else if (await mayMigrate(pool)) await migrate(databaseUrl);
    else await requireMigrated(pool, 'the DATABASE_URL role is not allowed to apply them');
    // It would find no organization, and refuse every webhook.
    await requireUnbound(pool);
    await checkKeysOpenData(pool, box);
    return await firstOrganization(pool, settings);
  } finally {
    await pool.end();
  }
}

/** @param reason why this process does not apply them */
async function requireMigrated(pool: Pool, reason: string): Promise<void> {
  const [first, ...others] = await missingMigrations(pool);
  if (first !== undefined)
    throw new ConfigError([
      `The database is missing migrations (${others.length + 1}, starting with ${first.name}), and ${reason}; run hookyard migrate as the owner of the tables (docs/operate/postgresql.md)`,
    ]);
  await ensurePartitions(pool);
}

async function firstOrganization(pool: Pool, settings: Settings): Promise<PreparedDatabase> {
  return inTransaction(pool, async (db) => {
    await sql(db).run`select pg_advisory_xact_lock(${LOCKS.firstOrganization})`;
    const slug = settings.HOOKYARD_ORG_SLUG;
    await sql(db).run`
      insert into organizations (id, slug, name, plan)
      values (${newId('org')}, ${slug}, ${slug === 'default' ? 'Default' : slug},
              ${settings.HOOKYARD_PLAN ?? FIRST_PLAN})
      on conflict (slug) do nothing`;
    type Found = { id: string; slug: string; plan: string; deleting: boolean; keys: number };
    const organization = await sql(db).first<Found>`
      select id, slug, plan, deleted_at is not null as deleting,
        (select count(*) from api_keys k where k.organization_id = o.id)::int as keys
      from organizations o where slug = ${slug}`;
    if (!organization) throw new Error(`organization ${slug} disappeared while it was being created`);
    let createdKey: PreparedDatabase['createdKey'] = null;
    // An operator wants it gone: when it is, the next start makes a new one.
    if (organization.deleting) return { organization, createdKey };
    const token = settings.HOOKYARD_API_KEY ?? (organization.keys === 0 ? newToken() : null);
    if (token !== null) {
      const key = await createKey(db, organization.id, FIRST_KEY, token);
      if (key !== null) {
        const members = settings.HOOKYARD_API_KEY ? ['HOOKYARD_API_KEY'] : [];
        const entry = { action: 'createApiKey', resource: 'keys', recordIds: [key.id], members };
        await recordEntry(db, operatorEntry({ organizationId: organization.id, command: 'first start', ...entry }));
      }
      const file = settings.HOOKYARD_API_KEY ? null : apiKeyFile(settings);
      if (file) keepToken(file, token);
      if (key !== null) createdKey = { token, file };
    }
    return { organization: { id: organization.id, slug, plan: organization.plan }, createdKey };
  });
}

// Written before the commit: a crash in between leaves a key file without a key, and the next start makes a new pair.
function keepToken(file: string, token: string): void {
  mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${token}\n`, { mode: 0o600, flush: true });
}
