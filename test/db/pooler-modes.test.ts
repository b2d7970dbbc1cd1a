// Where Hookyard connects with a pooler before PostgreSQL: a real PgBouncer in both modes that work.
import { expect } from 'chai';
import { readSettings } from '../../core/config/config.ts';
import { ConfigError } from '../../core/config/secret-files.ts';
import { findDatabase } from '../../db/connections/client.ts';
import { commandLine } from '../support/programs/cli.ts';
import { type OwnDatabase, ownDatabase } from '../support/database/own-database.ts';
import { type PgBouncer, requirePgBouncer, startPgBouncer } from '../support/servers/pgbouncer.ts';
import { createOrganization } from '../support/service.ts';

describe('a pooler before PostgreSQL', () => {
  let database: OwnDatabase;
  let session: PgBouncer;
  let transaction: PgBouncer;
  before(async function () {
    requirePgBouncer(this);
    database = await ownDatabase('pooler_modes');
    [session, transaction] = await Promise.all([
      startPgBouncer(database.databaseUrl, {}),
      startPgBouncer(database.databaseUrl, { pool_mode: 'transaction' }),
    ]);
  });
  after(async () => {
    await Promise.all([session?.stop(), transaction?.stop()]);
    await database?.close();
  });

  const find = (url: string, directUrl?: string) =>
    findDatabase(
      readSettings({ DATABASE_URL: url, ...(directUrl !== undefined && { DATABASE_DIRECT_URL: directUrl }) }),
      url,
    );

  it('is in transaction mode where there is a direct URL, and there only', async () => {
    const [url, directUrl] = [transaction.databaseUrl, database.databaseUrl];
    expect(await find(url, directUrl)).to.deep.equal({ url, directUrl, transactionPooler: true });
    for (const only of [session.databaseUrl, directUrl])
      expect(await find(only)).to.deep.equal({ url: only, directUrl: only, transactionPooler: false });
  });

  it('names the start parameter that a pooler refuses', async () => {
    const url = new URL(session.databaseUrl);
    url.searchParams.set('options', '-c work_mem=5MB');
    const error = await find(url.href).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(ConfigError);
    expect(String(error)).to.match(/rejected a startup parameter in DATABASE_URL.*options/);
  });

  it('does not stand before the commands of an operator, which use the direct URL', async () => {
    const cli = commandLine(await createOrganization());
    await transaction.kill();
    const env = { DATABASE_URL: transaction.databaseUrl, DATABASE_DIRECT_URL: database.databaseUrl };
    expect((await cli.run(['migrate'], { env })).code).to.equal(0);
  });
});
