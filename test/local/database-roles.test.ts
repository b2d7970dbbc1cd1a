import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { migrate } from '../../db/schema/migrate.ts';
import type { Postgres } from '../../local/postgres/server.ts';
import { START_DEADLINE_MS } from '../support/programs/npm-start.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/servers/own-postgres.ts';

describe('the roles of the embedded PostgreSQL', function () {
  this.timeout(3 * START_DEADLINE_MS);
  let own: OwnPostgres;
  let postgres: Postgres;
  const query = async (url: string, statement: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(statement)).rows;
    } finally {
      await client.end();
    }
  };
  before(async () => {
    own = await startOwnPostgres('roles', { other: {} });
    ({ postgres } = own);
    await postgres.setUpRoles();
    await postgres.setUpRoles();
    await migrate(postgres.url('hookyard', 'hookyard_owner'));
    await query(
      postgres.url('temporal_visibility', 'hookyard_temporal'),
      'create extension btree_gin; create table visibility (a int); create index on visibility using gin (a)',
    );
  });
  after(() => own?.remove());

  it('are of a server that keeps what it has acknowledged, also when the machine stops', async () => {
    for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes', 'data_checksums']) {
      expect(await query(postgres.url('hookyard'), `show ${setting}`), setting).to.deep.equal([{ [setting]: 'on' }]);
    }
  });

  it('own what they make, and keep their passwords to themselves', async () => {
    const owners = (database: string) =>
      query(
        postgres.url(database),
        `select distinct relowner::regrole::text as owner from pg_class where relnamespace = 'public'::regnamespace
         union select proowner::regrole::text from pg_proc p where pronamespace = 'public'::regnamespace
           and not exists (select from pg_depend where objid = p.oid and deptype = 'e')`,
      );
    expect(await owners('hookyard')).to.deep.equal([{ owner: 'hookyard_owner' }]);
    expect(await owners('temporal_visibility')).to.deep.equal([{ owner: 'hookyard_temporal' }]);
    expect(statSync(join(own.dataDir, 'postgres-roles.json')).mode & 0o777).to.equal(0o600);
  });
});
