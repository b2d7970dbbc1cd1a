import { expect } from 'chai';
import { finishDeletions } from '../../activities/maintenance/deletions.ts';
import { readSettings } from '../../core/config/config.ts';
import { createLog } from '../../core/process/log.ts';
import { deleteSource } from '../../db/delivery/deletions.ts';
import { nextPurge } from '../../db/operations/source-purges.ts';
import { type HistoryOwner, makeOwner, storeEvent } from '../support/database/history.ts';
import { useHistoryDatabase } from '../support/use-hookyard.ts';

describe('what deletions leave', () => {
  const { pool } = useHistoryDatabase(1);
  const log = createLog({ ...readSettings({}), LOG_LEVEL: 'silent' }, 'worker');
  beforeEach(() => pool.query('delete from source_purges'));

  /** Owners with an event to each of their routes; the first one first. */
  async function owners(...sources: number[]): Promise<[HistoryOwner, HistoryOwner, ...HistoryOwner[]]> {
    const made = [];
    for (const count of sources) made.push(await makeOwner(pool, count, 1));
    for (const owner of made)
      for (const route of owner.routes)
        await storeEvent(pool, owner, route, { receivedAt: new Date(), statuses: ['pending'] });
    return made as [HistoryOwner, HistoryOwner, ...HistoryOwner[]];
  }
  async function deleteSources({ organizationId, routes }: HistoryOwner): Promise<void> {
    for (const { sourceId } of routes) await deleteSource(pool, organizationId, sourceId);
  }
  const left = async (of: HistoryOwner[], table: 'events' | 'outbox') => {
    const { rows } = await pool.query<{ id: string }>(
      `select distinct organization_id as id from ${table} where organization_id = any($1)`,
      [of.map(({ organizationId }) => organizationId)],
    );
    return rows.map(({ id }) => id);
  };
  /** The rows of an organization cannot be changed while `work` is done. */
  async function whileRefused(table: string, change: string, of: HistoryOwner, work: () => Promise<void>) {
    await pool.query(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused by a test'; end $$;
       create trigger refuse before ${change} on ${table} for each row when (old.organization_id = '${of.organizationId}')
       execute function refuse()`,
    );
    try {
      await work();
    } finally {
      await pool.query(`drop trigger refuse on ${table}; drop function refuse()`);
    }
  }
  const round = () => finishDeletions(pool, log).catch((error: Error) => error.message);

  it('of sources goes although that of one cannot be removed, which is told of and goes when it can', async () => {
    const all = await owners(1, 1, 1);
    const [first] = all;
    for (const owner of all) await deleteSources(owner);
    await whileRefused('events', 'delete', first, async () => {
      expect(await round()).to.equal('refused by a test');
      expect(await left(all, 'events')).to.deep.equal([first.organizationId]);
    });
    expect(await round()).to.equal(false);
    expect(await left(all, 'events')).to.deep.equal([]);
  });

  it('of sources goes step by step in turn: organization by organization, and in each source by source', async () => {
    const [many, one] = await owners(3, 1);
    await deleteSources(many);
    await deleteSources(one);
    const turns = [];
    for (let step = 0; step < 6; step += 1) turns.push(await nextPurge(pool));
    const [first, second, third] = many.routes.map(({ sourceId }) => sourceId);
    const other = one.routes[0]?.sourceId;
    expect(turns).to.deep.equal([first, other, second, other, third, other]);
    expect(await nextPurge(pool, [other ?? ''])).to.equal(first);
  });

  it('of destinations is cancelled although that of one cannot be', async () => {
    const all = await owners(1, 1, 1);
    const ids = all.map(({ organizationId }) => organizationId);
    await pool.query('delete from destinations where organization_id = any($1)', [ids]);
    const [first] = all;
    await whileRefused('deliveries', 'update', first, async () => {
      expect(await round()).to.equal('refused by a test');
      expect(await left(all, 'outbox')).to.deep.equal([first.organizationId]);
    });
    expect(await round()).to.equal(false);
    expect(await left(all, 'outbox')).to.deep.equal([]);
  });
});
