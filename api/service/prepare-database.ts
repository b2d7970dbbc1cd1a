// The database of an API process at its start: waits until it is reachable, prepares it, and says what the settings asked for in vain.
import type { Settings } from '../../core/config/config.ts';
import type { Log } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { throttled } from '../../core/process/throttled-log.ts';
import type { DatabaseUrl } from '../../db/connections/client.ts';
import { type Database, findDatabase } from '../../db/connections/database.ts';
import { isPasswordRefused, isTransientDatabaseError } from '../../db/connections/database-errors.ts';
import { type PreparedDatabase, prepareDatabase } from '../../db/migrate/prepare.ts';

const DATABASE_DEADLINE_MS = 120_000;
const DATABASE_RETRY_MS = 2000;

/**
 * Finds and prepares the database, waiting until it is reachable.
 * @throws ConfigError for a setting that cannot be used; an Error when PostgreSQL stays unreachable
 */
export async function prepareWhenReachable(settings: Settings, url: DatabaseUrl, log: Log): Promise<Database> {
  const giveUpAt = performance.now() + DATABASE_DEADLINE_MS;
  for (;;) {
    try {
      const database = await findDatabase(settings, url);
      const { createdKey, organization } = await prepareDatabase(settings, database.directUrl);
      if (createdKey?.file) log.info(`the first API key was made; it is kept in ${createdKey.file}`);
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

/** HOOKYARD_PLAN is the plan of an organization that is made, not of one that is there: operators change that without a restart. */
function tellOfPlan({ HOOKYARD_PLAN }: Settings, { slug, plan }: PreparedDatabase['organization'], log: Log): void {
  if (HOOKYARD_PLAN === undefined || HOOKYARD_PLAN === plan) return;
  log.warn(
    `HOOKYARD_PLAN=${HOOKYARD_PLAN} is ignored: the organization ${slug} has the plan ${plan} already; change it with hookyard orgs set-plan ${slug} ${HOOKYARD_PLAN}, or remove the variable`,
  );
}
