// The indexes of a Temporal of one's own that the command drops, and those that it leaves.
import pg from 'pg';
import { expect } from 'chai';
import { commandLine } from '../support/programs/cli.ts';
import { stackAddresses } from '../support/stack.ts';
import { late, useOrganization } from '../support/use-hookyard.ts';

interface Pruned {
  indexes: string[];
  dropped: boolean;
}

describe('hookyard prune-visibility', () => {
  const url = Object.assign(new URL(stackAddresses().databaseUrl), { pathname: '/temporal_visibility' }).href;
  const organization = useOrganization();
  const cli = late(() => commandLine({ api: organization.api, token: '' }));

  async function query(sql: string): Promise<string[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<{ name: string }>(sql)).rows.map(({ name }) => name);
    } finally {
      await client.end();
    }
  }
  const indexes = () =>
    query(`select indexname as name from pg_indexes where tablename = 'executions_visibility' order by 1`);

  it('drops what nobody searches by, and keeps the columns of search attributes of every namespace', async () => {
    const before = await indexes();
    await query('create index by_int_01 on executions_visibility (namespace_id, int01)');
    const wouldBe = await cli.json<Pruned>('prune-visibility', '--database', url, '--dry-run');
    expect(wouldBe).to.deep.equal({ indexes: ['by_int_01'], dropped: false });
    expect(await indexes()).to.have.length(before.length + 1);
    const pruned = await cli.json<Pruned>('prune-visibility', '--database', url);
    expect(pruned).to.deep.equal({ indexes: ['by_int_01'], dropped: true });
    expect(await indexes()).to.deep.equal(before);
  });

  it('says what is wrong with another database, and while Temporal is away', async () => {
    const { databaseUrl } = stackAddresses();
    const other = await cli.run(['prune-visibility', '--database', databaseUrl]);
    expect([other.code, other.stdout]).to.deep.equal([5, '']);
    expect(other.stderr).to.include('no executions_visibility table');
    const away = await cli.run(['prune-visibility', '--database', url], { env: { TEMPORAL_ADDRESS: '127.0.0.1:1' } });
    expect([away.code, away.stdout]).to.deep.equal([5, '']);
    expect(away.stderr).to.include('Temporal at 127.0.0.1:1');
  });
});
