// The leases of relays on shards: each shard has one relay, whichever relays start, stop or die, and however the clock is set.
import { expect } from 'chai';
import { newId } from '../../core/ids.ts';
import { releaseShards, renewShards } from '../../db/hot-path/claim.ts';
import type { Pool } from '../../db/pool.ts';
import { type OwnDatabase, ownDatabase } from '../support/own-database.ts';
import { until } from '../support/until.ts';

const SHARDS = 64;

describe('leases on shards', () => {
  let database: OwnDatabase;
  let pool: Pool;
  let [first, second] = ['', ''];
  before(async () => {
    // Of its own: no worker renews leases there.
    database = await ownDatabase('leases', { connections: 2 });
    ({ pool } = database);
  });
  after(() => database.close());
  beforeEach(async () => {
    [first, second] = [newId('req'), newId('req')];
    await pool.query(`delete from relays`);
    await pool.query(`update relay_shards set owner = null, expires_at = '-infinity'`);
    expect(await renewShards(pool, first)).to.have.length(SHARDS);
  });

  const renew = async (owner: string) => (await renewShards(pool, owner)).length;

  /** What stands in the database after its clock was set back by an hour. */
  const setBack = () =>
    pool.query(
      `with seen as (update relays set seen_at = seen_at + interval '1 hour')
       update relay_shards set expires_at = expires_at + interval '1 hour' where owner is not null`,
    );

  it('are shared, and taken over when their relay gives them up', async () => {
    expect(await renew(second)).to.equal(0);
    expect([await renew(first), await renew(second)]).to.deep.equal([SHARDS / 2, SHARDS / 2]);
    await releaseShards(pool, first);
    expect(await renew(second)).to.equal(SHARDS);
  });

  it('are not taken from a relay that could not renew them in an outage, by one that could not either', async () => {
    await renew(second);
    await renew(first);
    await renew(second);
    await pool.query(`update relay_shards set expires_at = now() - interval '1 minute'`);
    await pool.query(`update relays set seen_at = now() - interval '1 minute'`);
    expect(await renewShards(pool, second, false)).to.have.length(SHARDS / 2);
    expect(await renew(first)).to.equal(SHARDS / 2);
  });

  it('do not outlive a dead relay by what the clock was set back', async () => {
    await setBack();
    expect(await renew(second), 'not at once').to.equal(0);
    await until('the leases to end', async () => (await renew(second)) === SHARDS);
  });

  it('stay with a relay that lives when the clock is set back', async () => {
    await setBack();
    expect(await renew(second)).to.equal(0);
    expect(await renew(first)).to.equal(SHARDS / 2);
    expect(await renew(second)).to.equal(SHARDS / 2);
  });
});
