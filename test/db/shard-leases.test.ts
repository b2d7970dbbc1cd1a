// The leases of relays on positions: each position has one relay, whichever relays start, stop or die, and however the clock is set.
import { expect } from 'chai';
import { newId } from '../../core/ids.ts';
import { POSITIONS, sizeOf } from '../../core/positions.ts';
import {
  endLease,
  givePositionsUp,
  type Lease,
  registerRelay,
  renewLease,
  takePositions,
} from '../../db/hot-path/relay-leases.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { type OwnDatabase, ownDatabase } from '../support/own-database.ts';
import { addRelay, renewRelay } from '../support/relays.ts';
import { until } from '../support/until.ts';

const HALF = POSITIONS / 2;
const SHOWN = { lane: 'workflow', version: '0.1.0' } as const;

describe('leases on positions', () => {
  let database: OwnDatabase;
  let pool: Pool;
  let [first, second] = ['', ''];
  before(async () => {
    // Of its own: no worker renews leases there.
    database = await ownDatabase('leases', { connections: 3 });
    ({ pool } = database);
  });
  after(() => database.close());
  beforeEach(async () => {
    [first, second] = [newId('req'), newId('req')].toSorted() as [string, string];
    await pool.query('delete from relay_leases');
    await addRelay(pool, first);
    expect(await renew(first)).to.equal(POSITIONS);
  });

  const size = (lease: Lease | null): number | null => lease && sizeOf(lease.positions);
  const renew = async (owner: string) => size(await renewRelay(pool, owner));

  /** What stands in the database after its clock was set back by an hour. */
  const setBack = () => pool.query(`update relay_leases set expires_at = expires_at + interval '1 hour'`);
  const expire = () => pool.query(`update relay_leases set expires_at = now() - interval '1 minute'`);
  /** As if a relay had not renewed for a second. */
  const silence = (owner: string) =>
    pool.query(`update relay_leases set expires_at = expires_at - interval '1 second' where owner = $1`, [owner]);

  it('are shared, and taken over when their relay gives them up', async () => {
    await addRelay(pool, second);
    expect(await renew(second), 'nothing is free yet').to.equal(0);
    expect([await renew(first), await renew(second)]).to.deep.equal([HALF, HALF]);
    await endLease(pool, first);
    expect(await renew(second)).to.equal(POSITIONS);
  });

  it('are shared by fifty relays so that the shares differ by one position', async () => {
    const others = Array.from({ length: 49 }, () => newId('req'));
    for (const owner of others) await addRelay(pool, owner);
    const sizes = [];
    for (const owner of [first, ...others]) sizes.push((await renew(owner)) ?? 0);
    expect(sizes.reduce((a, b) => a + b)).to.equal(POSITIONS);
    expect([Math.min(...sizes), Math.max(...sizes)]).to.deep.equal([40, 41]);
  });

  it('are shared by relays that come and go at the same time, each position by one of them', async () => {
    const owners = Array.from({ length: 12 }, () => newId('req'));
    await Promise.all(owners.map((owner) => addRelay(pool, owner)));
    await endLease(pool, first);
    await until('all to have their share', async () => {
      const leases = await Promise.all(owners.map((owner) => renewRelay(pool, owner)));
      await expectApart();
      expect(leases.every((lease) => lease?.isSettled)).to.equal(true);
      expect(leases.reduce((sum, lease) => sum + (size(lease) ?? 0), 0)).to.equal(POSITIONS);
      return true;
    });
  });

  it('are refused to a second relay by the database, whatever that one believes', async () => {
    await registerRelay(pool, second);
    const take = pool.query(`update relay_leases set positions = '{[5,6)}' where owner = $1`, [second]);
    expect(await take.catch(({ code }) => code)).to.equal('23P01');
  });

  it('are not taken from a relay that could not renew them in an outage, by one that could not either', async () => {
    await addRelay(pool, second);
    for (const owner of [first, second]) await renew(owner);
    await expire();
    expect(size(await renewRelay(pool, second, { takeOver: 'none' }))).to.equal(HALF);
    expect(await renew(first)).to.equal(HALF);
  });

  it('are lost by a relay that was found gone, which must register again', async () => {
    await addRelay(pool, second);
    await expire();
    expect(await renew(second)).to.equal(POSITIONS);
    expect(await renew(first)).to.equal(null);
  });

  describe('of a relay with a session lock', () => {
    const name = 'a process';
    const holdLock = async () => {
      const client = await pool.connect();
      await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [name]);
      return client;
    };
    beforeEach(async () => {
      await addRelay(pool, second);
      await renewLease(pool, { ...SHOWN, owner: first, session: name, takeOver: 'expired' });
    });

    it('are taken over as soon as it is silent without its lock', async () => {
      expect(await renew(second), 'it has renewed a moment ago').to.equal(0);
      await silence(first);
      expect(await renew(second)).to.equal(POSITIONS);
    });

    it('stay while the lock is held, until they expire', async () => {
      const client = await holdLock();
      try {
        await silence(first);
        expect(await renew(second)).to.equal(0);
        await expire();
        expect(await renew(second)).to.equal(POSITIONS);
      } finally {
        client.release(true);
      }
    });

    it('stay after an outage while the lock is held, although they have expired', async () => {
      const client = await holdLock();
      try {
        await expire();
        expect(size(await renewRelay(pool, second, { takeOver: 'ended' }))).to.equal(0);
      } finally {
        client.release(true);
      }
      await until('the lock to be free, and they to be taken over', async () => {
        return size(await renewRelay(pool, second, { takeOver: 'ended' })) === POSITIONS;
      });
    });

    it('stay when it has lost its lock and says so', async () => {
      await renewLease(pool, { ...SHOWN, owner: first, session: null, takeOver: 'expired' });
      await silence(first);
      expect(await renew(second)).to.equal(0);
    });

    it('are taken over after an outage when they have expired, and it had no lock', async () => {
      await renewLease(pool, { ...SHOWN, owner: first, session: null, takeOver: 'expired' });
      await expire();
      expect(size(await renewRelay(pool, second, { takeOver: 'ended' }))).to.equal(POSITIONS);
    });

    it('are not taken over in an outage', async () => {
      await silence(first);
      expect(size(await renewRelay(pool, second, { takeOver: 'none' }))).to.equal(0);
    });
  });

  it('do not outlive a dead relay by what the clock was set back', async () => {
    await setBack();
    await addRelay(pool, second);
    expect(await renew(second), 'not at once').to.equal(0);
    await until('the leases to end', async () => (await renew(second)) === POSITIONS);
  });

  it('stay with a relay that lives when the clock is set back', async () => {
    await setBack();
    await addRelay(pool, second);
    expect(await renew(second)).to.equal(0);
    expect(await renew(first)).to.equal(HALF);
    expect(await renew(second)).to.equal(HALF);
  });

  it('are not given up while something outside of the share is held: the relay must tell first what is in flight', async () => {
    await addRelay(pool, second);
    expect(await takePositions(pool, first, 'expired'), 'it holds all').to.equal(null);
    await givePositionsUp(pool, first, [{ from: 0, to: HALF }], ['dlv_in_flight']);
    expect(sizeOf((await takePositions(pool, second, 'expired'))?.positions ?? [])).to.equal(HALF);
    expect(await leftovers()).to.deep.equal(['dlv_in_flight']);
    await endLease(pool, first);
    expect(await leftovers(), 'they go with the relay').to.deep.equal([]);
  });

  async function leftovers(): Promise<string[]> {
    const { rows } = await pool.query<{ id: string }>('select delivery_id as id from relay_leftovers');
    return rows.map(({ id }) => id);
  }

  async function expectApart(): Promise<void> {
    const { rows } = await pool.query(
      'select a.owner, b.owner from relay_leases a join relay_leases b on a.owner < b.owner and a.positions && b.positions',
    );
    expect(rows).to.deep.equal([]);
  }
});
