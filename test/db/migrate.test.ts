import { expect } from 'chai';
import pg from 'pg';
import { applyMigrations, missingMigrations, type Migration, SCHEMA } from '../../db/schema/migrate.ts';
import { newId } from '../../core/text/ids.ts';
import { createPool, inTransaction, type Pool } from '../../db/connections/pool.ts';
import { createDatabase, type CreatedDatabase } from '../support/database/own-database.ts';
import { waitingFor } from '../support/database/row-lock.ts';
import { until } from '../support/until.ts';

const MADE = `create table parcels (id text primary key);
  create table schema_migrations (name text primary key, executed_at timestamptz not null default now());`;
const schema: Migration = { name: SCHEMA, sql: MADE };
const weights: Migration = { name: '0001-weights', sql: 'alter table parcels add column weight integer' };
const broken: Migration = { name: '0002-broken', sql: 'alter table parcels add column size integer; select 1 / 0' };
/** The schema after `weights`, as a version that has it ships it. */
const later: Migration = { name: SCHEMA, sql: MADE.replace('key);', 'key, weight integer);') };

describe('Migrations', () => {
  let database: CreatedDatabase;
  let pool: Pool;
  let client: pg.Client;
  beforeEach(async () => {
    database = await createDatabase(`migrate_${newId('req').slice(-10)}`);
    pool = createPool(database.databaseUrl, { max: 3, statementTimeoutMs: 20_000, onError: () => {} });
    client = new pg.Client({ connectionString: database.databaseUrl });
    await client.connect();
  });
  afterEach(async () => {
    await Promise.all([pool.end(), client.end()]);
    await database.drop();
  });

  const columns = async () => (await pool.query('select * from parcels')).fields.map(({ name }) => name);

  it('make an empty database from the schema alone, which has all of them in it', async () => {
    const all = [later, weights];
    expect(await missingMigrations(pool, all)).to.deep.equal([later]);
    expect(await applyMigrations(client, all)).to.deep.equal([SCHEMA]);
    expect(await missingMigrations(pool, all)).to.deep.equal([]);
    expect(await columns()).to.deep.equal(['id', 'weight']);
  });

  it('give a database what it lacks, once', async () => {
    await applyMigrations(client, [schema]);
    expect(await applyMigrations(client, [later, weights])).to.deep.equal([weights.name]);
    expect(await applyMigrations(client, [later, weights])).to.deep.equal([]);
    expect(await columns()).to.deep.equal(['id', 'weight']);
  });

  it('leave nothing of one that fails, and keep those before it', async () => {
    await applyMigrations(client, [schema]);
    const error = await applyMigrations(client, [later, weights, broken]).catch((cause: unknown) => cause);
    expect(error).to.have.property('message', 'division by zero');
    expect(await columns()).to.deep.equal(['id', 'weight']);
    expect(await missingMigrations(pool, [later, weights, broken])).to.deep.equal([broken]);
  });

  it('give up on a lock that is held, so that others get theirs, and are applied when it is free', async () => {
    await applyMigrations(client, [schema]);
    const waits = async (pid: number | undefined) => (await waitingFor(pool, pid)).length > 0;
    let applied: Promise<string[]> | undefined;
    await inTransaction(pool, async (db) => {
      await db.query('select from parcels');
      const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid');
      applied = applyMigrations(client, [later, weights]);
      await until('the migration to wait for the lock', () => waits(rows[0]?.pid));
      await until('the migration to give up', async () => !(await waits(rows[0]?.pid)));
      await pool.query('select from parcels');
    });
    expect(await applied).to.deep.equal([weights.name]);
    expect(await columns()).to.deep.equal(['id', 'weight']);
  });
});
