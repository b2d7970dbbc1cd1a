// MikroORM for the configuration records, and the one way to get an EntityManager: bound to an organization.
import { type EventSubscriber, type TransactionEventArgs, UnderscoreNamingStrategy } from '@mikro-orm/core';
import { type EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type pg from 'pg';
import { shareConnections } from '../connections/by-organization.ts';
import { clientOf, currentUrl, type DatabaseUrl } from '../connections/client.ts';
import { commitHook, preparePool } from '../connections/pool.ts';
import { entities } from './entities.ts';

export type { EntityManager, MikroORM };

const STATEMENT_TIMEOUT_MS = 10_000;

type Transaction = NonNullable<TransactionEventArgs['transaction']>;
const isSavepoint = (transaction: Transaction): boolean => 'savepointName' in transaction;

const commitHookSubscriber: EventSubscriber = {
  async beforeTransactionCommit({ em, transaction }) {
    const hook = commitHook();
    if (!hook || !transaction || isSavepoint(transaction)) return;
    await hook.run(async (statement, value) => {
      const { affectedRows } = await em
        .getConnection()
        .execute<{ affectedRows: number }>(statement('?'), [value], 'run', transaction);
      return affectedRows;
    });
  },
  afterTransactionCommit({ transaction }) {
    if (transaction && !isSavepoint(transaction)) commitHook()?.committed();
  },
};

/**
 * Failure policy: nothing is connected here: the API starts while PostgreSQL is away, and answers 503 until it is back.
 * @param poolSize most connections it may hold
 * @param options.tenantRole the role its connections act as, each for the organization it is taken for
 * @param options.transactionPooler whether a pooler in transaction mode stands between (connections/settings.ts)
 */
export function createOrm(
  databaseUrl: DatabaseUrl,
  poolSize: number,
  { tenantRole = null, transactionPooler = false }: { tenantRole?: string | null; transactionPooler?: boolean } = {},
): MikroORM {
  const settings = { statement_timeout: String(STATEMENT_TIMEOUT_MS) };
  const url = currentUrl(databaseUrl);
  return new MikroORM({
    clientUrl: url,
    entities,
    subscribers: [commitHookSubscriber],
    namingStrategy: UnderscoreNamingStrategy,
    pool: { min: 0, max: poolSize },
    driverOptions: {
      application_name: 'hookyard-api',
      connectionTimeoutMillis: 3000,
      // The object mapper takes only host, user, password and database from the URL; the driver takes TLS and `options`
      // too.
      connectionString: url,
      Client: clientOf(databaseUrl),
      onPoolCreated: (pool: pg.Pool) => {
        preparePool(pool, settings, { tenantRole, transactionPooler });
        shareConnections(pool, poolSize);
      },
    },
    forceUtcTimezone: true,
  });
}

export function tenantEntityManager(orm: MikroORM, organizationId: string): EntityManager {
  const em = orm.em.fork();
  em.setFilterParams('tenant', { organizationId });
  return em;
}

/**
 * Locks records in the order of ids until the end of the transaction; rows that refer to them may be stored meanwhile.
 */
export async function lockRecords(
  em: EntityManager,
  table: 'routes' | 'sources',
  organizationId: string,
  ids: readonly string[],
): Promise<void> {
  await em.execute(
    `select from ${table} where organization_id = ? and id in (select json_array_elements_text(?::json))
      order by id for no key update`,
    [organizationId, JSON.stringify(ids)],
  );
}

/** Waits for others that look for a route of this name; they wait until the transaction of this one has ended. */
export async function lockRouteName(em: EntityManager, organizationId: string, name: string): Promise<void> {
  await em.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`route:${organizationId}:${name}`]);
}

/** Waits for other imports into the organization; they wait until the transaction of this one has ended. */
export async function lockImports(em: EntityManager, organizationId: string): Promise<void> {
  await em.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`import:${organizationId}`]);
}
