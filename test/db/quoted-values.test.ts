import { inspect } from 'node:util';
import { expect } from 'chai';
import pg, { type PoolClient } from 'pg';
import { causeOf } from '../../core/process/log-cause.ts';
import { createOrm } from '../../db/records/orm.ts';
import { createPool, type Pool } from '../../db/connections/pool.ts';
import { stackAddresses } from '../support/stack.ts';

const SECRET = '4711-of-a-webhook';

describe('errors of PostgreSQL', () => {
  let pool: Pool;
  // A pool ends a connection after an error, and the table with it.
  let connection: PoolClient;
  before(async () => {
    const { databaseUrl } = stackAddresses();
    pool = createPool(databaseUrl, { max: 1, statementTimeoutMs: 5000, onError: () => {} });
    connection = await pool.connect();
    await connection.query('create temp table quoted (id int primary key, name text unique, size int not null)');
  });
  after(async () => {
    connection.release(true);
    await pool.end();
  });

  async function failureOf(statement: () => Promise<unknown>): Promise<Error> {
    const failure = await statement().catch((error: unknown) => error);
    if (!(failure instanceof Error)) throw new Error('The statement did not fail');
    return failure;
  }
  const shownOf = (error: Error) => inspect(error, { depth: 5, showHidden: true });

  for (const [what, code, text, values] of [
    ['a value of the wrong type', '22P02', 'select $1::text::int', [SECRET]],
    ['JSON', '22P02', 'select $1::text::json', [`{"name": "a", ${SECRET}}`]],
    [
      'a member of JSON',
      '22P02',
      'select * from json_to_recordset($1::text::json) as i(size int)',
      [JSON.stringify([{ size: SECRET }])],
    ],
    ['a row', '23502', 'insert into quoted values (1, $1, null)', [SECRET]],
    ['a key', '23505', 'insert into quoted values (1, $1, 1), (2, $1, 1)', [SECRET]],
  ] as const) {
    it(`quote nothing of ${what}`, async () => {
      const failure = await failureOf(() => connection.query(text, [...values]));
      expect(failure).to.have.property('code', code);
      expect(shownOf(failure)).to.not.contain(SECRET);
      expect(failure.stack).to.contain('quoted-values.test.ts');
    });
  }

  it('quote nothing in the log, of a connection that does not remove the quotes either', async () => {
    const client = new pg.Client({ connectionString: stackAddresses().databaseUrl });
    await client.connect();
    try {
      await client.query('create temp table quoted (name text unique, size int check (size < 10))');
      for (const [text, values] of [
        ['select $1::text::int', [SECRET]],
        ['select $1::text::json', [`{"name": "${SECRET}`]],
        ['insert into quoted values ($1, 11)', [SECRET]],
        ['insert into quoted values ($1, 1), ($1, 2)', [SECRET]],
      ] as const) {
        const failure = await failureOf(() => client.query(text, [...values]));
        expect(shownOf(failure), 'PostgreSQL quotes').to.contain(SECRET);
        const cause = causeOf(failure);
        expect(cause).to.include({ system: 'postgresql', details: 'a value was rejected' });
        expect(JSON.stringify(cause)).to.not.contain(SECRET);
      }
      const twice = await failureOf(() => client.query("insert into quoted values ('a', 1), ('a', 1)"));
      expect(causeOf(twice)).to.include({ code: '23505', table: 'quoted', constraint: 'quoted_name_key' });
    } finally {
      await client.end();
    }
  });

  it('say all else', async () => {
    const missing = await failureOf(() => connection.query('select nothing from nowhere'));
    expect(missing.message).to.equal('relation "nowhere" does not exist');
    const twice = await failureOf(() => connection.query("insert into quoted values (1, 'a', 1), (1, 'b', 1)"));
    expect(twice.message).to.contain('violates unique constraint "quoted_pkey"');
    expect(twice).to.include({ constraint: 'quoted_pkey', table: 'quoted' });
  });

  it('quote nothing where records of the API are read and written', async () => {
    const orm = createOrm(stackAddresses().databaseUrl, 1);
    try {
      const failure = await failureOf(() => orm.em.getConnection().execute(`select ('${SECRET}' || '')::int`));
      expect(failure).to.have.property('code', '22P02');
      expect(failure.message).to.contain('PostgreSQL rejected a value (SQLSTATE 22P02)');
    } finally {
      await orm.close();
    }
  });
});
