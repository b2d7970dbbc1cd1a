import { ConfigError } from '../../core/config/secret-files.ts';
import type { Settings } from '../../core/config/config.ts';
import { apiConnections } from '../../core/config/database-connections.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { type Log, throttled } from '../../core/process/log.ts';
import { type DatabaseUrl, databaseUrl, type Database, findDatabase } from '../../db/connections/client.ts';
import { isPasswordRefused, isTransientDatabaseError } from '../../db/connections/database-errors.ts';
import { shareConnections, slowSide } from '../../db/connections/by-organization.ts';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import { prepareDatabase, type PreparedDatabase } from '../../db/schema/prepare.ts';
import { mayMigrate, findTenantRole } from '../../db/schema/roles.ts';
import { watchOrganizations } from '../../db/organizations/organizations.ts';
import { createOrm } from '../../db/records/orm.ts';

const DATABASE_DEADLINE_MS = 120_000;
const DATABASE_RETRY_MS = 2000;

/**
 * Finds and prepares the database, waiting until it is reachable.
 * @throws ConfigError for a setting that cannot be used; an Error when PostgreSQL stays unreachable
 */
async function prepareWhenReachable(settings: Settings, url: DatabaseUrl, log: Log): Promise<Database> {
  const giveUpAt = performance.now() + DATABASE_DEADLINE_MS;
  for (;;) {
    try {
      const database = await findDatabase(settings, url);
      const { createdKey, organization } = await prepareDatabase(settings, database.directUrl);
      if (createdKey?.file) log.info(`the first API key was created and stored in ${createdKey.file}`);
      tellOfPlan(settings, organization, log);
      return database;
    } catch (error) {
      if (!isTransientDatabaseError(error) || isPasswordRefused(error)) throw error;
      const cause = causeOf(error);
      const giveUpInSeconds = Math.round((giveUpAt - performance.now()) / 1000);
      if (giveUpInSeconds <= 0)
        throw new Error(`PostgreSQL could not be reached (${cause.details}); check DATABASE_URL`);
      throttled(log).warn({ cause, giveUpInSeconds }, 'waiting for PostgreSQL (DATABASE_URL)');
      await new Promise((resolve) => setTimeout(resolve, DATABASE_RETRY_MS));
    }
  }
}

/**
 * HOOKYARD_PLAN is the plan of an organization that is made, not of one that is there: operators change that without a
 * restart.
 */
function tellOfPlan({ HOOKYARD_PLAN }: Settings, { slug, plan }: PreparedDatabase['organization'], log: Log): void {
  if (HOOKYARD_PLAN === undefined || HOOKYARD_PLAN === plan) return;
  log.warn(
    `HOOKYARD_PLAN=${HOOKYARD_PLAN} is ignored because the organization ${slug} already exists, on the ${plan} plan; change the plan with hookyard orgs set-plan ${slug} ${HOOKYARD_PLAN}, or remove the variable`,
  );
}

const STATEMENT_TIMEOUT_MS = 10_000;

/** @throws ConfigError without a URL */
export function requireDatabaseUrl(settings: Settings): DatabaseUrl {
  const url = databaseUrl(settings, 'DATABASE_URL');
  if (url === undefined)
    throw new ConfigError(['DATABASE_URL must be set to start only the API; npm start includes PostgreSQL']);
  return url;
}

/** @throws an Error when PostgreSQL stays unreachable */
export async function openDatabase(settings: Settings, givenUrl: DatabaseUrl, log: Log) {
  const { url, transactionPooler } = await prepareWhenReachable(settings, givenUrl, log);
  const onError = (error: Error) =>
    throttled(log).warn({ cause: causeOf(error) }, 'an idle database connection failed');
  // Reads of lists and histories may be slow; they have their own connections, so that ingest never waits for them.
  const connectionsFor = apiConnections(settings);
  const common = { name: 'hookyard-api', statementTimeoutMs: STATEMENT_TIMEOUT_MS, onError, transactionPooler };
  const ingestPool = createPool(url, { ...common, max: connectionsFor.ingest, hotPath: true });
  const servicePool = createPool(url, { ...common, max: connectionsFor.service });
  // Every request looks a key up on that pool: what counts all that waits, or needs locks, must not hold all of it.
  const slowPool = slowSide(servicePool, connectionsFor.service);
  const organizations = await watchOrganizations(servicePool, settings, log);
  const tenantRole = await tenantRoleOf(servicePool, log);
  const pool = createPool(url, { ...common, max: connectionsFor.management, tenantRole });
  shareConnections(pool, connectionsFor.management);
  const orm = createOrm(url, connectionsFor.records, { tenantRole, transactionPooler });
  if (organizations.areSeveral() && settings.HOOKYARD_MAX_DATABASE_BYTES === undefined)
    log.warn(
      'several organizations share a database without a size limit, so any of them can fill the disk; set HOOKYARD_MAX_DATABASE_BYTES',
    );
  return { ingestPool, servicePool, slowPool, pool, orm, organizations };
}

/**
 * Failure policy: without a role of tenants the API starts all the same, and only its statements separate
 * organizations. Where the operator has separated the other roles, that is likely an omission, and a warning.
 */
async function tenantRoleOf(pool: Pool, log: Log): Promise<string | null> {
  const role = await findTenantRole(pool);
  if (role === null && (await mayMigrate(pool)))
    log.info(
      'row-level security is off: only conditions in the SQL statements separate organizations (docs/operate/postgresql.md)',
    );
  else if (role === null)
    log.warn(
      'row-level security is off: only conditions in the SQL statements separate organizations; run hookyard migrate --tenant-role <role> as the owner of the tables, grant <role> to the DATABASE_URL role as described in docs/operate/postgresql.md, then restart',
    );
  else
    log.info({ databaseRole: role }, "the management API sees one organization's rows at a time (row-level security)");
  return role;
}
