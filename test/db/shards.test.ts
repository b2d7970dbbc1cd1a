import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import {
  type Beat,
  beat,
  endWorker,
  giveUp,
  liveWorkers,
  registerWorker,
  removeDead,
  SHARDS,
  takeShards,
} from '../../db/hot-path/shards.ts';
import { until } from '../support/until.ts';
import { useDatabase } from '../support/use-hookyard.ts';
import { forgetWorkers } from '../support/rows.ts';
import { selectColumn } from '../support/database/sql.ts';

describe('shards', () => {
  const { pool } = useDatabase('shards', { connections: 4 });
  let first: string;
  let second: string;
  beforeEach(async () => {
    [first, second] = [newId('req'), newId('req')].toSorted() as [string, string];
    await forgetWorkers(pool);
    await registerWorker(pool, first);
    expect(await round(first)).to.equal(SHARDS);
  });

  const beatOf = (name: string, handedOver: string[] = []): Promise<Beat | null> =>
    beat(pool, { name, isLeaving: false, lane: 'workflow', version: '0.1.0', handedOver });

  /** What a worker with nothing in flight does. @returns how many shards it owns then; null when its row is gone */
  async function round(name: string): Promise<number | null> {
    const found = await beatOf(name);
    if (!found) return null;
    const { shards, share } = found;
    if (shards.length > share) await giveUp(pool, name, shards.slice(share), []);
    if (shards.length < share) await takeShards(pool, name, share - shards.length);
    return owned(name);
  }

  async function owned(name: string): Promise<number> {
    const { rowCount } = await pool.query('select from shards where owner = $1', [name]);
    return rowCount ?? 0;
  }

  /** The beat of one worker, as another one sees it. */
  const seen = async (by: string, name: string) => new Map([[name, (await beatOf(by))?.beats[name] ?? '']]);

  it('are shared, and free when their worker ends', async () => {
    await registerWorker(pool, second);
    expect(await round(second), 'nothing is free yet').to.equal(0);
    expect([await round(first), await round(second)]).to.deep.equal([SHARDS / 2, SHARDS / 2]);
    await endWorker(pool, first);
    expect(await round(second)).to.equal(SHARDS);
  });

  for (const [count, least, most] of [
    [3, 21, 22],
    [50, 1, 2],
    [70, 0, 1],
  ] as const)
    it(`are shared by ${count} workers so that the shares differ by one`, async () => {
      const others = Array.from({ length: count - 1 }, () => newId('req'));
      for (const name of others) await registerWorker(pool, name);
      const shares = [];
      for (const name of [first, ...others]) shares.push((await round(name)) ?? Number.NaN);
      expect(shares.reduce((a, b) => a + b)).to.equal(SHARDS);
      expect([Math.min(...shares), Math.max(...shares)]).to.deep.equal([least, most]);
    });

  it('are shared by workers that come, go and die at the same time, each by one of them', async () => {
    const names = Array.from({ length: 12 }, () => newId('req'));
    await Promise.all(names.map((name) => registerWorker(pool, name)));
    const leaving = names.splice(0, 3);
    const dead = await seen(names[0] ?? '', first);
    await until('all to have their share', async () => {
      const shares = await Promise.all([
        ...names.map((name) => round(name)),
        ...names.map((_, index) => (index < 3 ? removeDead(pool, dead).then(() => 0) : 0)),
        ...leaving.splice(0, 1).map((name) => endWorker(pool, name).then(() => 0)),
      ]);
      const own = shares.slice(0, names.length).map(Number);
      expect(own.reduce((a, b) => a + b)).to.equal(SHARDS);
      expect(Math.max(...own) - Math.min(...own)).to.be.at.most(1);
      return leaving.length === 0;
    });
  });

  it('are taken from a dead worker, which must register again should it live', async () => {
    await registerWorker(pool, second);
    expect(await removeDead(pool, await seen(second, first))).to.equal(1);
    expect(await round(second)).to.equal(SHARDS);
    expect(await round(first)).to.equal(null);
    await registerWorker(pool, first);
    expect(await round(first)).to.equal(0);
  });

  it('stay with a worker that shows in the last moment that it lives', async () => {
    await registerWorker(pool, second);
    const dead = await seen(second, first);
    await beatOf(first);
    expect(await removeDead(pool, dead)).to.equal(0);
    expect(await round(first)).to.equal(SHARDS / 2);
    expect(await liveWorkers(pool, first)).to.equal(2);
  });

  it('are handed over with what is in flight there, which goes with its worker', async () => {
    const handedOver = () => selectColumn<string>(pool)`select unnest(handed_over) as id from workers`;
    await giveUp(pool, first, [0, 1], ['dlv_1', 'dlv_2']);
    expect(await owned(first)).to.equal(SHARDS - 2);
    expect(await handedOver()).to.deep.equal(['dlv_1', 'dlv_2']);
    await beatOf(first, ['dlv_2']);
    expect(await handedOver(), 'the other one is done').to.deep.equal(['dlv_2']);
    await endWorker(pool, first);
    expect(await handedOver()).to.deep.equal([]);
  });
});
