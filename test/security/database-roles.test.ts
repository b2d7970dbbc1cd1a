// The role of the services reads and writes rows. It cannot change the schema, whatever statement an attacker brings it
// to run; and all that Hookyard does works with it.
import { expect } from 'chai';
import pg from 'pg';
import { migrate } from '../../db/schema/migrate.ts';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import { grantRuntime, findTenantRole, grantTenant } from '../../db/schema/roles.ts';
import { dropPartitionsBefore, ensurePartitions } from '../../db/sql/partitions.ts';
import { vacuumOutbox } from '../../db/hot-path/claim.ts';
import { createDatabase, type CreatedDatabase } from '../support/database/own-database.ts';

const DAY_MS = 86_400_000;
const PASSWORD = 'for-tests-only';
const OWNER = `owner_${process.pid}`;
const RUNTIME = `runtime_${process.pid}`;

describe('the role of the services', () => {
  let database: CreatedDatabase;
  let owner: Pool;
  let runtime: Pool;
  const urlOf = (role: string) => {
    const url = new URL(database.databaseUrl);
    Object.assign(url, { username: role, password: PASSWORD });
    return url.href;
  };
  const options = { max: 2, statementTimeoutMs: 20_000, onError: () => {} };
  const asAdmin = async (...statements: string[]) => {
    const client = new pg.Client({ connectionString: database.databaseUrl });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  };
  before(async () => {
    database = await createDatabase(`roles_${process.pid}`);
    const name = new URL(database.databaseUrl).pathname.slice(1);
    await asAdmin(
      `create role ${OWNER} login password '${PASSWORD}'`,
      `create role ${RUNTIME} login password '${PASSWORD}'`,
      `alter database ${name} owner to ${OWNER}`,
    );
    await migrate(urlOf(OWNER));
    owner = createPool(urlOf(OWNER), options);
    runtime = createPool(urlOf(RUNTIME), options);
    await grantRuntime(owner, RUNTIME);
  });
  after(async () => {
    await Promise.all([owner?.end(), runtime?.end()]);
    await asAdmin(`drop owned by ${OWNER} cascade`, `drop owned by ${RUNTIME} cascade`).catch(() => undefined);
    await database?.drop();
  });

  const refused = async (statement: string, code = '42501') => {
    const error: unknown = await runtime.query(statement).catch((reason: unknown) => reason);
    expect(error, statement).to.have.property('code', code);
  };

  it('cannot change the schema', async () => {
    for (const statement of [
      'create table mine (id int)',
      'create schema mine',
      'create function mine() returns int language sql as $$ select 1 $$',
      'create temporary table mine (id int)',
      'create role mine',
      'create extension pg_trgm',
      'drop table organizations',
      'drop table events cascade',
      'truncate outbox',
      'alter table organizations add column mine int',
      'alter table events disable trigger all',
      'alter function note_retrying() rename to mine',
      `create or replace function raise_config_version() returns trigger language plpgsql as $$ begin return null; end $$`,
      'create index mine on events (status)',
      'create trigger mine before insert on events for each row execute function note_retrying()',
      'drop trigger sources_config_version on sources',
      'drop index outbox_order',
      `alter role ${RUNTIME} superuser`,
      `set role ${OWNER}`,
      `insert into schema_migrations (name) values ('0099-mine')`,
      'delete from schema_migrations',
      `copy organizations to program 'true'`,
      `select pg_read_file('/etc/passwd')`,
    ])
      await refused(statement);
  });

  it('is that of no tenant where there is none, and the owner cannot be: no policy binds it', async () => {
    const client = await owner.connect();
    try {
      expect(await grantTenant(client, OWNER).catch((error: unknown) => error)).to.be.instanceOf(RangeError);
    } finally {
      client.release();
    }
    expect(await findTenantRole(runtime)).to.equal(null);
  });

  it('makes and drops partitions of days, and nothing else', async () => {
    const partitions = async () => {
      const { rows } = await runtime.query<{ name: string }>(
        `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'events'::regclass order by 1`,
      );
      return rows.map(({ name }) => name);
    };
    const before = await partitions();
    const old = Date.now() - 40 * DAY_MS;
    await ensurePartitions(runtime, old);
    const made = (await partitions()).filter((name) => !before.includes(name));
    expect(made).to.have.length(5);
    await runtime.query(`select from ${made[0]} limit 1`);
    const { dropped } = await dropPartitionsBefore(runtime, 'events', Math.floor(Date.now() / DAY_MS) - 20);
    expect(dropped).to.deep.equal(made);
    const today = new Date().toISOString().slice(0, 10);
    await refused(`select drop_partition('events', '${today}')`);
    await refused(`select drop_partition('organizations', '2020-01-01')`);
    await refused(`select make_partition('organizations', '2020-01-01')`);
    await refused(`select make_partition('events; drop table events', '2020-01-01')`);
    await refused(`select make_partition(null, '2020-01-01')`);
    expect(await partitions()).to.deep.equal(before);
  });

  it('is not fooled by objects of the same names', async () => {
    // What an attacker could make at most: temporary ones, where they are allowed.
    await asAdmin(`grant temporary on database ${new URL(database.databaseUrl).pathname.slice(1)} to ${RUNTIME}`);
    const client = new pg.Client({ connectionString: urlOf(RUNTIME) });
    await client.connect();
    try {
      await client.query(
        `create function pg_temp.partitioned_prefix(text) returns text language sql as $$ select 'evt_' $$`,
      );
      await client.query(
        `create function pg_temp.format(text, variadic text[]) returns text language sql as $$ select 'drop table events' $$`,
      );
      await client.query('set search_path = pg_temp, public');
      await client.query(`select make_partition('events', current_date + 7)`);
      const { rows } = await client.query(
        `select count(*)::int as events from pg_inherits where inhparent = 'public.events'::regclass`,
      );
      expect(rows[0].events).to.be.above(5);
      const tried = client.query(`select drop_partition('organizations', '2020-01-01')`);
      expect(await tried.catch((error: unknown) => error)).to.have.property('code', '42501');
    } finally {
      await client.end();
    }
  });

  it('vacuums the outbox', async () => {
    const vacuums = async (): Promise<number> => {
      const { rows } = await runtime.query(
        `select vacuum_count::int as count from pg_stat_user_tables where relname = 'outbox'`,
      );
      return rows[0].count;
    };
    const before = await vacuums();
    await vacuumOutbox(runtime);
    expect(await vacuums()).to.equal(before + 1);
  });
});
