// The second lock between organizations: a statement of the management API that forgot its condition sees and changes
// the rows of the organization of its request, and nothing else; in every table of the catalogue.
import { expect } from 'chai';
import pg from 'pg';
import { readSettings } from '../../core/config/config.ts';
import { ConfigError } from '../../core/config/secret-files.ts';
import { createOrm, type MikroORM } from '../../db/records/orm.ts';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import { actingFor, bindToOrganizations } from '../../db/connections/by-organization.ts';
import { prepareDatabase } from '../../db/schema/prepare.ts';
import { findTenantRole, grantTenant, renewTenants } from '../../db/schema/roles.ts';
import { TENANT_ROLE } from '../../local/postgres/roles.ts';
import { makeSource } from '../support/api-records.ts';
import { createOrganization } from '../support/service.ts';
import { asServices } from '../support/stack.ts';
import {
  allTables,
  insertOf,
  isOfTenants,
  makeTenantRows,
  type Table,
  tenantIds,
  tried,
} from '../support/organizations/tenant-rows.ts';
import { useDatabase, useHookyard } from '../support/use-hookyard.ts';

const REFUSED = '42501';
const options = { max: 1, statementTimeoutMs: 20_000, onError: () => {} };

describe('row-level security', () => {
  const { database } = useDatabase('row_level');
  let services: Pool;
  let management: Pool;
  let orm: MikroORM;
  let tables: Table[];
  const [mine, theirs] = [tenantIds(), tenantIds()];
  const theirIds = Object.values(theirs);

  before(async () => {
    const url = asServices(database.databaseUrl);
    services = createPool(url, options);
    const tenantRole = await findTenantRole(services);
    expect(tenantRole).to.equal(TENANT_ROLE);
    // As api/service/service-database.ts makes them; one connection each, so that every request gets the one of the
    // request before.
    management = createPool(url, { ...options, tenantRole });
    orm = createOrm(url, 1, { tenantRole });
    tables = (await allTables(database.pool)).filter(isOfTenants);
    for (const ids of [mine, theirs]) await makeTenantRows(database.pool, tables, ids);
  });
  after(() => Promise.all([services?.end(), management?.end(), orm?.close()]));

  /** The connection that a request of an organization gets. */
  async function onConnectionOf<T>(organization: string | null, work: (db: pg.PoolClient) => Promise<T>): Promise<T> {
    const take = async () => {
      const client = await management.connect();
      return work(client).finally(() => client.release());
    };
    return organization === null ? take() : actingFor(organization, take);
  }
  const rightsOn = async (table: string) => {
    const { rows } = await database.pool.query<{ rights: string[] }>(
      `select array(select r from unnest(array['select', 'insert', 'update', 'delete']) r where has_table_privilege($1, $2, r)) as rights`,
      [TENANT_ROLE, table],
    );
    return rows[0]?.rights ?? [];
  };

  it('is on for every table with rows of organizations; the role of tenants has no rights on others, or on partitions', async () => {
    const { rows } = await database.pool.query<{ name: string; policies: number }>(
      `select c.relname as name, (select count(*)::int from pg_policy p where p.polrelid = c.oid and not p.polpermissive
         and p.polroles = array[$1::regrole::oid] and c.relrowsecurity) as policies
       from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
         and has_table_privilege($1, c.oid, 'select, insert, update, delete') order by 1`,
      [TENANT_ROLE],
    );
    expect(rows.filter(({ policies }) => policies === 0).map(({ name }) => name)).to.deep.equal([]);
    expect(rows.filter(({ policies }) => policies > 0).map(({ name }) => name)).to.deep.equal(
      tables.map(({ name }) => name),
    );
  });

  it('shows a statement without a condition the rows of its organization only, in every table', async () => {
    for (const { name } of tables) {
      const own = await onConnectionOf(mine.organization, (db) => tried(db, `select * from ${name}`));
      expect(own, name).to.have.property('count', 1);
      const text = JSON.stringify(own.rows);
      for (const id of theirIds) expect(text, name).to.not.include(id);
      const other = await onConnectionOf(theirs.organization, (db) => tried(db, `select * from ${name}`));
      expect(other, name).to.have.property('count', 1);
      expect(other.rows, name).to.not.deep.equal(own.rows);
      expect((await database.pool.query(`select from ${name}`)).rowCount, name).to.equal(2);
    }
  });

  it('lets it change and delete no row of another organization', async () => {
    for (const { name, columns } of tables) {
      const rights = await rightsOn(name);
      const column = columns[0]?.name;
      for (const [right, statement] of [
        ['update', `update ${name} set "${column}" = "${column}"`],
        ['delete', `delete from ${name}`],
      ] as const) {
        const done = await onConnectionOf(mine.organization, (db) => tried(db, statement));
        expect(done, `${statement}: ${done.code}`).to.include(
          rights.includes(right) ? { count: 1 } : { count: 0, code: REFUSED },
        );
      }
    }
  });

  it('lets it make no row of another organization, and give none away', async () => {
    for (const table of tables) {
      const made = await onConnectionOf(mine.organization, (db) => tried(db, ...insertOf(table, theirs)));
      expect(made.code, `insert into ${table.name}`).to.equal(REFUSED);
      if (!table.hasOrganization) continue;
      const given = await onConnectionOf(mine.organization, (db) =>
        tried(db, `update ${table.name} set organization_id = $1`, [theirs.organization]),
      );
      expect(given.code, `update of ${table.name}`).to.equal(REFUSED);
    }
  });

  it('shows nothing on a connection that is set to no organization', async () => {
    for (const { name } of tables) {
      const never = createPool(asServices(database.databaseUrl), { ...options, tenantRole: TENANT_ROLE });
      expect((await never.query(`select from ${name}`)).rowCount, name).to.equal(0);
      await never.end();
      // One that was set before.
      const own = await onConnectionOf(mine.organization, (db) => tried(db, `select from ${name}`));
      const after = await onConnectionOf(null, (db) => tried(db, `select from ${name}`));
      expect([own.count, after.count], name).to.deep.equal([1, 0]);
    }
  });

  it('a connection never keeps the organization of the request before', async () => {
    const seen = (from: Pool) => async () => (await from.query('select id from sources')).rows.map(({ id }) => id);
    const byOrm = async () =>
      (await orm.em.fork().execute<{ id: string }[]>('select id from sources')).map(({ id }) => id);
    for (const look of [seen(management), byOrm]) {
      const requests = Array.from({ length: 30 }, (_, n) => [mine, theirs, null][n % 3] ?? null);
      const answers = await Promise.all(
        requests.map((ids) => (ids === null ? look() : actingFor(ids.organization, look))),
      );
      expect(answers).to.deep.equal(requests.map((ids) => (ids === null ? [] : [ids.source])));
    }
    // Also after one that failed, or was rolled back, or broke.
    await onConnectionOf(mine.organization, (db) => tried(db, 'select 1/0'));
    expect(await actingFor(theirs.organization, seen(management))).to.deep.equal([theirs.source]);
    const broken = await actingFor(mine.organization, () =>
      management.query('select pg_terminate_backend(pg_backend_pid())').catch(() => 'broken'),
    );
    expect(broken).to.equal('broken');
    expect(await actingFor(theirs.organization, seen(management))).to.deep.equal([theirs.source]);
  });

  it('binds connections of a URL with start options of its own', async () => {
    const url = new URL(asServices(database.databaseUrl));
    url.searchParams.set('options', '-c work_mem=5MB');
    const own = createPool(url.href, { ...options, tenantRole: TENANT_ROLE });
    const ownOrm = createOrm(url.href, 1, { tenantRole: TENANT_ROLE });
    const look = `select current_user::text as role, current_setting('work_mem') as memory, array(select id from sources) as sources`;
    const seen = { role: TENANT_ROLE, memory: '5MB', sources: [mine.source] };
    try {
      expect((await actingFor(mine.organization, () => own.query(look))).rows).to.deep.equal([seen]);
      expect(await actingFor(mine.organization, () => ownOrm.em.fork().execute(look))).to.deep.equal([seen]);
    } finally {
      await Promise.all([own.end(), ownOrm.close()]);
    }
  });

  it('hands out no connection that does not act as the role', async () => {
    // One whose settings are lost.
    const pool = new pg.Pool({ connectionString: asServices(database.databaseUrl), max: 1 });
    bindToOrganizations(pool, TENANT_ROLE);
    try {
      const refused = await actingFor(mine.organization, () => pool.query('select from sources').catch(String));
      expect(refused).to.match(/acts as \S+ instead of/);
      expect(pool.totalCount).to.equal(0);
    } finally {
      await pool.end();
    }
  });

  it('does not bind the services, whose statements are about all organizations', async () => {
    for (const { name } of tables) expect((await services.query(`select from ${name}`)).rowCount, name).to.equal(2);
  });

  it('a new table is closed to tenants, and bound when the database is next brought up to date', async () => {
    const { pool } = database;
    await pool.query(`create table made_later (organization_id text collate "C" not null)`);
    await pool.query('insert into made_later values ($1), ($2)', [mine.organization, theirs.organization]);
    const look = () => onConnectionOf(mine.organization, (db) => tried(db, 'select from made_later'));
    expect(await look()).to.include({ count: 0, code: REFUSED });
    const client = await pool.connect();
    await renewTenants(client).finally(() => client.release());
    expect(await look()).to.include({ count: 1 });
    await pool.query('drop table made_later');
  });

  it('is not set up where the services would be bound too, and they do not start then', async () => {
    const client = await database.pool.connect();
    const { username } = new URL(asServices(database.databaseUrl));
    try {
      await client.query(`grant ${TENANT_ROLE} to ${username} with inherit true`);
      const refused = await grantTenant(client, TENANT_ROLE).catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(RangeError);
      const start = await prepareDatabase(readSettings({}), asServices(database.databaseUrl)).catch((error) => error);
      expect(start).to.be.instanceOf(ConfigError);
      expect(String(start)).to.include('with inherit false');
      for (const role of ['hookyard', 'no_such_role']) {
        expect(await grantTenant(client, role).catch((error: unknown) => error), role).to.be.instanceOf(RangeError);
      }
    } finally {
      await client.query(`grant ${TENANT_ROLE} to ${username} with inherit false, set true`);
      client.release();
    }
  });

  it('forgets what belongs to a route with the route, also when its destination is gone', async () => {
    const gone = tenantIds();
    await makeTenantRows(database.pool, tables, gone);
    const left = async () =>
      (await database.pool.query('select from messages where route_id = $1', [gone.route])).rowCount;
    expect(await left()).to.equal(1);
    await actingFor(gone.organization, async () => {
      await management.query('delete from destinations');
      await management.query('delete from routes');
    });
    expect(await left()).to.equal(0);
  });

  describe('in the API', () => {
    const { testInstance } = useHookyard({});

    it('binds what requests read and change, whichever way they reach the database', async () => {
      const { api: service, pool } = testInstance;
      const own = await createOrganization({ service, pool });
      const source = await makeSource(own);
      const paths = [`${own.base}/sources`, '/api/api-keys', '/api/audit', '/api/auth/me'];
      const before = await Promise.all(paths.map((path) => own.api.request('GET', path)));
      expect(before.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
      expect(JSON.stringify(before[0]?.body)).to.include(source.id);
      // What only the policies can hide.
      for (const table of ['sources', 'audit_records', 'api_keys'])
        await pool.query(`alter policy ${TENANT_ROLE} on ${table} using (false)`);
      const [sources, keys, audit] = await Promise.all(paths.map((path) => own.api.request('GET', path)));
      expect([sources?.body.data, keys?.body.data, audit?.body.data]).to.deep.equal([[], [], []]);
      expect((await own.api.request('GET', `${own.base}/sources/${source.id}`)).status).to.equal(404);
    });
  });
});
