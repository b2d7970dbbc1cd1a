// Places at destinations with fewer of them than there are workers, straight on PostgreSQL.
import { expect } from 'chai';
import { pino } from 'pino';
import { DestinationPlaces } from '../../core/destination-places.ts';
import type { SharedReport, TurnRequest } from '../../core/destination-turn.ts';
import { newId } from '../../core/ids.ts';
import { NOTHING_SEEN } from '../../core/shared-limit.ts';
import { inTransaction } from '../../db/connections/pool.ts';
import { concurrencyLimit, noteConcurrency } from '../../db/delivery/concurrency.ts';
import { forgetTurns, takeTurns } from '../../db/delivery/destination-turns.ts';
import { exchangeConcurrency } from '../../worker/concurrency-exchange.ts';
import { type OwnDatabase, ownDatabase } from '../support/own-database.ts';
import { until } from '../support/until.ts';

const OVERLOADED = { isHanging: false, busy: 1 };
const WORKERS = ['a', 'b', 'c', 'd', 'e', 'f'];

describe('turns at destinations, in PostgreSQL', () => {
  let database: OwnDatabase;
  let destinationId: string;
  before(async () => {
    database = await ownDatabase('turns', { connections: WORKERS.length });
    await database.pool.query(`insert into organizations (id, slug, name, plan) values ('org_1', 'o', 'o', 'free')`);
  });
  after(() => database?.close());
  beforeEach(async () => {
    destinationId = newId('dst');
    await database.pool.query(
      `insert into destinations (id, organization_id, name, slug, type, url, method, headers, auth_type, timeout_ms, retry_policy,
         enabled, version, max_concurrency, created_at, updated_at)
       values ($1, 'org_1', $1, $1, 'http', 'http://d.example/', 'POST', '{}', 'none', 1000, '{}', true, 1, 2, now(), now())`,
      [destinationId],
    );
  });

  const request = (asked: { wants: boolean; places: number[] } & Partial<TurnRequest>): TurnRequest => ({
    destinationId,
    ...asked,
  });
  const ask = async (worker: string, wants: boolean, places: number[] = [], mayTake = true) => {
    const [answer] = await takeTurns(database.pool, worker, [request({ wants, places })], mayTake);
    return answer && [answer.places, answer.isContested];
  };

  /** @returns its places, how many there are, and the version of the limit */
  const tell = async (worker: string, report: Partial<SharedReport>, places: number[] = []) => {
    const shared = { version: null, seen: NOTHING_SEEN, excess: null, ...report };
    const [answer] = await inTransaction(database.pool, (db) =>
      takeTurns(db, worker, [request({ wants: places.length === 0, places, shared })], true),
    );
    return answer && [answer.places, answer.all, answer.shared?.version];
  };
  /** So many workers say that they use it, with a place each. */
  const useIt = async (count: number) => {
    for (let number = 0; number < count; number += 1)
      await noteConcurrency(database.pool, `worker-${number}`, [{ destinationId, places: 1 }]);
  };

  it('are taken as far as there are some, and the one that waits longest has the next', async () => {
    expect(await ask('a', true)).to.deep.equal([[0], false]);
    expect(await ask('b', true)).to.deep.equal([[1], false]);
    expect(await ask('c', true)).to.deep.equal([[], false]);
    expect(await ask('d', true)).to.deep.equal([[], true]);
    expect(await ask('b', false, [1])).to.deep.equal([[1], true]);
    expect(await ask('a', true, [])).to.deep.equal([[], true]);
    expect(await ask('d', true), 'who came later').to.deep.equal([[], true]);
    expect(await ask('c', true)).to.deep.equal([[0], true]);
  });

  it('are not left free for one that may not take yet', async () => {
    expect(await ask('b', true, [], false)).to.deep.equal([[], false]);
    expect(await ask('a', true)).to.deep.equal([[0], false]);
    expect(await ask('a', false, [0])).to.deep.equal([[0], false]);
    expect(await ask('b', true)).to.deep.equal([[1], false]);
  });

  it('that have run out are renewed for the one that still keeps them and wants more', async () => {
    expect(await ask('a', true)).to.deep.equal([[0], false]);
    const runOut = () =>
      database.pool.query(
        `update destination_turns set held_until = now() - interval '1 second' where destination_id = $1`,
        [destinationId],
      );
    await runOut();
    expect(await ask('a', true, [0])).to.deep.equal([[0, 1], false]);
    await runOut();
    expect(await ask('a', true, []), 'given up').to.deep.equal([[0], false]);
  });

  it('are held by one at a time, however many want them at once', async () => {
    for (let round = 0; round < 20; round += 1) {
      const answers = await Promise.all(WORKERS.map((worker) => ask(worker, true)));
      const held = answers.flatMap((answer) => (answer?.[0] as number[]) ?? []);
      expect(new Set(held).size).to.equal(held.length);
      expect(held.length).to.be.within(1, 2);
      const { rows } = await database.pool.query(
        'select place from destination_turns where destination_id = $1 and held_until > now()',
        [destinationId],
      );
      expect(rows.length).to.be.at.most(2);
      await Promise.all(WORKERS.map((worker) => ask(worker, false)));
    }
  });

  it('are free when they are not renewed, and the one that held them is told', async () => {
    expect(await ask('a', true)).to.deep.equal([[0], false]);
    await database.pool.query(`update destination_turns set held_until = now() - interval '1 second'`);
    expect(await ask('b', true)).to.deep.equal([[0], false]);
    expect(await ask('a', false, [0]), 'somebody else has it').to.deep.equal([[], false]);
  });

  it('are not taken by a worker that the others may not have seen yet', async () => {
    expect(await ask('a', true, [], false)).to.deep.equal([[], false]);
    expect(await ask('a', true)).to.deep.equal([[0], false]);
  });

  it('are given up when they are not named, and forgotten when nobody has said anything for long', async () => {
    for (const worker of ['a', 'b', 'c']) await ask(worker, true);
    for (const worker of ['a', 'b']) await takeTurns(database.pool, worker, [], true);
    const left = async (table: string) =>
      (await database.pool.query(`select from ${table} where destination_id = $1`, [destinationId])).rowCount;
    expect(await left('destination_turns')).to.equal(0);
    expect(await left('destination_turn_waits')).to.equal(1);
    for (const worker of ['c', 'b', 'd']) await ask(worker, true);
    await database.pool.query(
      `update destination_turns set held_until = now() - interval '1 hour';
       update destination_turn_waits set seen_at = now() - interval '1 hour'`,
    );
    await forgetTurns(database.pool);
    expect([await left('destination_turns'), await left('destination_turn_waits')]).to.deep.equal([0, 0]);
  });

  it('are taken side by side by as many as there are places, the longest waits first', async () => {
    await database.pool.query('update destinations set max_concurrency = 4 where id = $1', [destinationId]);
    for (const worker of ['a', 'b', 'c', 'd']) await ask(worker, true);
    for (const worker of ['e', 'f']) await ask(worker, true);
    for (const worker of ['a', 'b', 'c']) await ask(worker, false);
    expect(await ask('g', true), 'two wait longer').to.deep.equal([[2], true]);
    expect(await ask('f', true), 'one does').to.deep.equal([[1], true]);
    expect(await ask('e', true)).to.deep.equal([[0], false]);
  });

  it('are those of destinations that exist, and have a maximum or a shared limit', async () => {
    await database.pool.query('update destinations set max_concurrency = null where id = $1', [destinationId]);
    expect(await ask('a', true)).to.equal(undefined);
    expect(await tell('a', { excess: OVERLOADED }), 'alone it needs none').to.equal(undefined);
    await useIt(WORKERS.length);
    expect(await tell('a', { excess: OVERLOADED })).to.deep.equal([[0], 4, 0]);
    expect(await ask('b', true), 'who does not know of it yet').to.equal(undefined);
  });

  it('are as many as a shared limit has, which follows what all workers see', async () => {
    await database.pool.query('update destinations set max_concurrency = null where id = $1', [destinationId]);
    await useIt(50);
    expect((await tell('a', { excess: OVERLOADED }))?.slice(1), 'seven of ten').to.deep.equal([35, 0]);
    expect((await tell('b', { excess: { isHanging: true, busy: 1 } }))?.slice(1), 'it has begun').to.deep.equal([
      35, 0,
    ]);
    const refused = { answered: 5, refused: 1, hung: 0 };
    for (const worker of ['c', 'd', 'e']) await tell(worker, {});
    await tell('a', { version: 0, seen: refused }, [0]);
    expect((await tell('b', { version: 7, seen: refused }, [1]))?.slice(1), 'of another limit').to.deep.equal([35, 0]);
    await tell('c', { version: 0, seen: refused }, [2]);
    expect((await tell('d', { version: 0, seen: refused }, [3]))?.slice(1), 'of five that are used').to.deep.equal([
      4, 1,
    ]);
    expect(await concurrencyLimit(database.pool, destinationId), 'one that does not know of it, besides').to.equal(
      50 + 4,
    );
    await database.pool.query('update destinations set max_concurrency = 2 where id = $1', [destinationId]);
    expect((await tell('b', { version: 1 }, [1]))?.slice(1), 'no more than the maximum').to.deep.equal([2, 1]);
    expect(await concurrencyLimit(database.pool, destinationId)).to.equal(2);
    const [known] = await noteConcurrency(database.pool, 'a', [{ destinationId, places: 0 }]);
    expect(known).to.deep.equal({ destinationId, maximum: 2, isShared: true });
  });

  it('are used as they are while another worker judges them, which nobody waits for', async () => {
    await database.pool.query('update destinations set max_concurrency = null where id = $1', [destinationId]);
    await useIt(50);
    await tell('a', { excess: OVERLOADED });
    const shared = { version: 0, seen: { answered: 0, refused: 5, hung: 0 }, excess: null };
    const asked = [request({ wants: false, places: [0], shared })];
    await inTransaction(database.pool, async (other) => {
      await other.query('select from destination_shared_limits where destination_id = $1 for update', [destinationId]);
      const [answer] = await inTransaction(database.pool, (db) => takeTurns(db, 'a', asked, true));
      expect(answer).to.deep.include({ all: 35, shared: { version: 0, isHeard: false } });
    });
    const [answer] = await inTransaction(database.pool, (db) => takeTurns(db, 'a', asked, true));
    expect(answer).to.deep.include({ all: 4, shared: { version: 1, isHeard: true } });
  });

  it('are shared no more when there is one for each worker that uses the destination, or nobody has for a minute', async () => {
    await database.pool.query('update destinations set max_concurrency = null where id = $1', [destinationId]);
    const isShared = async () =>
      (await noteConcurrency(database.pool, 'worker-0', [{ destinationId, places: 0 }]))[0]?.isShared;
    const later = (seconds: number) =>
      database.pool.query(
        `update destination_shared_limits set window_at = window_at - $2 * interval '1 second',
           changed_at = changed_at - $2 * interval '1 second', seen_at = seen_at - $2 * interval '1 second'
         where destination_id = $1`,
        [destinationId, seconds],
      );
    await useIt(5);
    for (const worker of ['a', 'b', 'c', 'd']) await tell(worker, { excess: OVERLOADED });
    const seen = { answered: 200, refused: 0, hung: 0 };
    await later(30);
    expect((await tell('a', { version: 0, seen }, [0]))?.slice(1), 'a single step').to.deep.equal([5, 0]);
    await later(30);
    expect(await isShared()).to.equal(true);
    expect(await tell('a', { version: 0, seen }, [0])).to.equal(undefined);
    expect(await isShared()).to.equal(false);
    await tell('a', { excess: OVERLOADED });
    expect(await isShared()).to.equal(true);
    await later(61);
    expect(await isShared()).to.equal(false);
    expect((await tell('a', { excess: { isHanging: true, busy: 1 } }))?.slice(1), 'it begins again').to.deep.equal([
      4, 0,
    ]);
    await later(150);
    await forgetTurns(database.pool);
    const left = await database.pool.query('select from destination_shared_limits where destination_id = $1', [
      destinationId,
    ]);
    expect(left.rowCount).to.equal(0);
  });

  it('are heard of when they begin', async () => {
    const places = new DestinationPlaces(500);
    places.setShare({ workers: 2, rank: 0, alive: 2 });
    places.setMaximum(destinationId, 1);
    await database.pool.query(
      `insert into relay_leases (owner, expires_at) select name || ':0', now() + interval '1 hour' from unnest('{a,b,c}'::text[]) as name`,
    );
    expect(places.take(destinationId)).to.equal(false);
    let isHeard = false;
    const onRoom = () => {
      isHeard = places.hasRoom(destinationId);
    };
    const exchange = exchangeConcurrency({ pool: database.pool, log: pino({ level: 'silent' }) }, 'a', places, onRoom);
    try {
      await until('its turn', () => isHeard, 20_000);
    } finally {
      await exchange.stop();
      await database.pool.query('delete from relay_leases');
    }
  });

  it('are not asked for any more when the destination was deleted', async () => {
    const places = new DestinationPlaces(500);
    places.setShare({ workers: 1, rank: 0, alive: null });
    places.setMaximum(destinationId, 1);
    expect(places.take(destinationId)).to.equal(false);
    expect(places.turnRequests().isUrgent, 'it waits for its turn').to.equal(true);
    const exchange = exchangeConcurrency({ pool: database.pool, log: pino({ level: 'silent' }) }, 'a', places);
    try {
      await database.pool.query('delete from destinations where id = $1', [destinationId]);
      await until('the end of the wait', () => !places.turnRequests().isUrgent);
    } finally {
      await exchange.stop();
    }
  });
});
