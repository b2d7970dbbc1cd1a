// Places at destinations with fewer of them than there are workers, straight on PostgreSQL.
import { expect } from 'chai';
import { pino } from 'pino';
import { DestinationPlaces } from '../../core/destination-places.ts';
import { newId } from '../../core/ids.ts';
import { forgetTurns, takeTurns } from '../../db/delivery/destination-turns.ts';
import { exchangeConcurrency } from '../../worker/concurrency-exchange.ts';
import { type OwnDatabase, ownDatabase } from '../support/own-database.ts';
import { until } from '../support/until.ts';

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

  const ask = async (worker: string, wants: boolean, places: number[] = [], mayTake = true) => {
    const [answer] = await takeTurns(database.pool, worker, [{ destinationId, wants, places }], mayTake);
    return answer && [answer.places, answer.isContested];
  };

  it('are taken as far as there are some, and the one that waits longest has the next', async () => {
    expect(await ask('a', true)).to.deep.equal([[0], false]);
    expect(await ask('b', true)).to.deep.equal([[], true]);
    expect(await ask('a', false, [0])).to.deep.equal([[0], true]);
    expect(await ask('b', true)).to.deep.equal([[1], false]);
    expect(await ask('c', true)).to.deep.equal([[], true]);
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
    expect(await ask('b', true)).to.deep.equal([[], true]);
    expect(await ask('a', false)).to.deep.equal([[], true]);
    expect(await ask('b', true)).to.deep.equal([[0], false]);
    expect(await ask('a', false, [0]), 'somebody else has it').to.deep.equal([[], true]);
  });

  it('are not taken by a worker that the others may not have seen yet', async () => {
    expect(await ask('a', true, [], false)).to.deep.equal([[], false]);
    expect(await ask('a', true)).to.deep.equal([[0], false]);
  });

  it('are given up when they are not named, and forgotten when nobody has said anything for long', async () => {
    await ask('a', true);
    await ask('b', true);
    await takeTurns(database.pool, 'a', [], true);
    const left = async (table: string) =>
      (await database.pool.query(`select from ${table} where destination_id = $1`, [destinationId])).rowCount;
    expect(await left('destination_turns')).to.equal(0);
    expect(await left('destination_turn_waits')).to.equal(1);
    await ask('b', true);
    await ask('c', true);
    await database.pool.query(
      `update destination_turns set held_until = now() - interval '1 hour';
       update destination_turn_waits set seen_at = now() - interval '1 hour'`,
    );
    await forgetTurns(database.pool);
    expect([await left('destination_turns'), await left('destination_turn_waits')]).to.deep.equal([0, 0]);
  });

  it('are those of destinations that exist and have a maximum', async () => {
    await database.pool.query('update destinations set max_concurrency = null where id = $1', [destinationId]);
    expect(await ask('a', true)).to.equal(undefined);
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
