// Connections that PostgreSQL ends at any moment.
import { expect } from 'chai';
import { useDatabase, usePool } from '../support/use-hookyard.ts';

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
