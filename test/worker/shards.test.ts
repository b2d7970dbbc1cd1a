// Workers that come and go, or live and renew late after an outage of the database or a pause of everything: what they
// have in flight stays theirs, because others would make the same attempts again.
import { expect } from 'chai';
import { pino } from 'pino';
import { newId, shardOf } from '../../core/text/ids.ts';
import type { Queryable } from '../../db/connections/pool.ts';
import { SHARDS } from '../../db/hot-path/shards.ts';
import { Shards } from '../../worker/relay/shards.ts';
import { until } from '../support/until.ts';
import { useDatabase } from '../support/use-hookyard.ts';
import { selectColumn } from '../support/database/sql.ts';

const log = pino({ level: 'silent' });
const PATIENCE_MS = 120_000;

/** The way of a relay to the database. */
class Line {
  /** Null: it is open. */
  #away: Promise<void> | null = null;
  #back: () => void = () => {};

  /** Statements fail, or hang and continue when it is open again. */
  cut(how: 'fail' | 'hang'): void {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => undefined);
    this.#away = promise;
    if (how === 'fail') reject(new Error('the database is away'));
    this.#back = resolve;
  }

  open(): void {
    this.#away = null;
    this.#back();
  }

  to(pool: Queryable): Queryable {
    const query = async (...args: unknown[]) => {
      await this.#away;
      return (pool.query as (...all: unknown[]) => Promise<unknown>)(...args);
    };
    return { query } as Queryable;
  }
}

interface Relay {
  name: string;
  line: Line;
  shards: Shards;
}

describe('the shards of a worker', () => {
  const { database } = useDatabase('shards');
  let relays: Relay[];
  beforeEach(() => {
    relays = [];
  });
  afterEach(async () => {
    for (const { line } of relays) line.open();
    for (const { shards } of relays) await shards.release();
  });

  function start(): Relay {
    const name = newId('req');
    const line = new Line();
    const shards = new Shards({
      ...{ db: line.to(database.pool), name, lane: () => 'workflow', version: '0.1.0', log, onChange: () => {} },
    });
    relays.push({ name, line, shards });
    return { name, line, shards };
  }

  const owned = ({ shards }: Relay) => shards.held()?.shards.length ?? 0;
  const untilTheyHave = (count: number, ...all: Relay[]) =>
    until(`${count} shards for each`, () => all.every((each) => owned(each) === count), PATIENCE_MS);

  const workers = () => selectColumn<string>(database.pool)`select name from workers`;

  it('is shared by both while they live, and ends with one of them', async () => {
    const [first, second] = [start(), start()];
    await untilTheyHave(SHARDS / 2, first, second);
    expect([first.shards.workers, second.shards.workers]).to.deep.equal([2, 2]);
    await second.shards.release();
    await untilTheyHave(SHARDS, first);
    expect(first.shards.workers).to.equal(1);
  });

  it('gives up shards only after a claim that may have found something there, and says what is in flight', async () => {
    const first = start();
    await untilTheyHave(SHARDS, first);
    const inFlight = Array.from({ length: 200 }, () => newId('dlv'));
    first.shards.reportInFlight(() => inFlight.map((id) => ({ id, shard: shardOf(id) })));
    const claim = Promise.withResolvers<void>();
    const claiming = first.shards.duringClaim(() => claim.promise);
    const second = start();
    await untilTheyHave(SHARDS / 2, first);
    expect(owned(second)).to.equal(0);
    claim.resolve();
    await claiming;
    await untilTheyHave(SHARDS / 2, second);
    const others = inFlight.filter((id) => second.shards.held()?.shards.includes(shardOf(id)));
    expect(await handedOver()).to.have.members(others);
    inFlight.length = 0;
    await until('nothing to be handed over', async () => (await handedOver()).length === 0, PATIENCE_MS);
  });

  function handedOver(): Promise<string[]> {
    return selectColumn<string>(database.pool)`select unnest(handed_over) as id from workers`;
  }

  for (const how of ['fail', 'hang'] as const) {
    it(`stays its own when statements ${how} for all, and another one is back first`, async () => {
      const [early, late] = [start(), start()];
      await untilTheyHave(SHARDS / 2, early, late);
      const before = late.shards.held();
      for (const { line } of [early, late]) line.cut(how);
      await until(
        'both to know that others may have taken their shards',
        () => !early.shards.held() && !late.shards.held(),
        PATIENCE_MS,
      );
      // Of a process that is gone. It shows when the first one takes over again.
      await database.pool.query(`insert into workers (name, is_leaving) values ('dead', true)`);
      early.line.open();
      await until('the early one to go on', () => early.shards.held(), PATIENCE_MS);
      expect(await workers(), 'the late one, too').to.include(late.name);
      late.line.open();
      await until('the late one to go on with what it had', () => late.shards.held(), PATIENCE_MS);
      expect(late.shards.held()).to.deep.equal(before);
      await until('the dead one to be found', async () => !(await workers()).includes('dead'), PATIENCE_MS);
      expect(late.shards.held()).to.deep.equal(before);
    });
  }
});
