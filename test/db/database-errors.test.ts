// What errors of the database mean, as they really arrive: from PostgreSQL itself, and in the forms of Node and
// node-postgres.
import { expect } from 'chai';
import {
  isConnectionLost,
  isReadOnlyServer,
  isStatementTimeout,
  isTransientDatabaseError,
  isUniqueViolation,
  isWriteConflict,
} from '../../db/connections/database-errors.ts';
import { createPool } from '../../db/connections/pool.ts';
import { stackAddresses } from '../support/stack.ts';
import { useDatabase, usePool } from '../support/use-hookyard.ts';

const withCode = (code: string, message = 'failed') => Object.assign(new Error(message), { code });

describe('errors of the database', () => {
  // 28P01: a password that is being replaced.
  const sqlStates = '08000 08006 08P01 25006 28P01 40001 40P01 53100 53200 53300 55P03 57014 57P01 57P03 58030';
  const ofNode = 'ECONNREFUSED ECONNRESET EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN';
  for (const code of `${sqlStates} ${ofNode}`.split(' ')) {
    it(`${code} may pass`, () => {
      expect(isTransientDatabaseError(withCode(code))).to.equal(true);
      expect(isTransientDatabaseError(new Error('wrapped', { cause: withCode(code) }))).to.equal(true);
      expect(isTransientDatabaseError(new AggregateError([withCode(code)]))).to.equal(true);
    });
  }

  for (const code of ['22021', '22P02', '22P05', '23502', '23505', '42601', '42P01', '54000']) {
    it(`${code} is about the statement or its values`, () => {
      expect(isTransientDatabaseError(withCode(code, 'a timeout in the text changes nothing'))).to.equal(false);
    });
  }

  it('what node-postgres says without a code may pass', () => {
    const messages = [
      'Connection terminated unexpectedly',
      'timeout exceeded when trying to connect',
      'Query read timeout',
      'Client has encountered a connection error and is not queryable',
    ];
    for (const message of messages) expect(isTransientDatabaseError(new Error(message)), message).to.equal(true);
  });

  it('after a lost connection nobody knows of the commit, after an answer one does', () => {
    const lost = [
      withCode('ECONNRESET'),
      withCode('57P01'),
      withCode('08P01', 'server conn crashed?'),
      new Error('Connection terminated unexpectedly'),
    ];
    for (const error of lost) expect(isConnectionLost(error), error.message).to.equal(true);
    for (const code of ['ECONNREFUSED', '57014', '40P01'])
      expect(isConnectionLost(withCode(code)), code).to.equal(false);
  });

  it('names what PostgreSQL answers', async () => {
    const { databaseUrl } = stackAddresses();
    const pool = createPool(databaseUrl, { max: 1, statementTimeoutMs: 5000, onError: () => {} });
    const failureOf = (statement: string) => pool.query(statement).catch((error: unknown) => error);
    try {
      const table = 'errors_test_table';
      expect(isReadOnlyServer(await failureOf(`begin read only; create table ${table} (id int)`))).to.equal(true);
      await pool.query('rollback');
      expect(isStatementTimeout(await failureOf('set statement_timeout = 1; select pg_sleep(1)'))).to.equal(true);
      await pool.query('reset statement_timeout');
      await pool.query(`create temp table ${table} (id int primary key)`);
      expect(isUniqueViolation(await failureOf(`insert into ${table} values (1), (1)`))).to.equal(true);
      expect(isWriteConflict(await failureOf("do $$ begin raise sqlstate '40P01'; end $$"))).to.equal(true);
    } finally {
      await pool.end();
    }
  });
});

describe('a connection that breaks', () => {
  const { database } = useDatabase('broken_connections');
  const pool = usePool(database, { max: 1 });

  it('after it was handed out, and before it is used, ends nothing but itself', async () => {
    const client = await pool.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const ended = new Promise((resolve) => client.once('end', () => resolve(undefined)));
    await database.pool.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
    // An error event without a listener would end this process, too.
    await ended;
    const failure: unknown = await client.query('select 1').catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error);
    client.release(true);
    expect((await pool.query('select 1 as one')).rows).to.deep.equal([{ one: 1 }]);
  });
});
