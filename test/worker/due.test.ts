import { expect } from 'chai';
import { pino } from 'pino';
import { type DueWork, lookAtDue, sharedRest } from '../../worker/loops/due.ts';
import { until } from '../support/until.ts';
import { useDatabase, usePool } from '../support/use-hookyard.ts';
import { execute } from '../support/database/sql.ts';

describe('the work that is due', () => {
  const { database } = useDatabase('due_work');
  const hotPool = usePool(database, { hotPath: true });
  let due: DueWork;
  const warnings: unknown[] = [];
  const changes: boolean[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(JSON.parse(line).msg) });
  beforeEach(async () => {
    due = await lookAtDue({
      pool: hotPool,
      recoverySeconds: 60,
      onChange: (before, now) => changes.push(before.suspended.size < now.suspended.size),
      log,
    });
  });
  afterEach(() => due.stop());

  const setWake = (at: string) =>
    database.pool.query(
      `insert into circuits (route_id, organization_id, version, wake_at) values ('r', 'o', 1, ${at})
       on conflict (route_id) do update set wake_at = excluded.wake_at`,
    );
  const part = { what: 'circuit breakers', kinds: ['circuits'] as const, everyMs: () => 0 };

  it('runs at its time, and not again when it has been claimed', async () => {
    await setWake(`now() + interval '300 milliseconds'`);
    let rounds = 0;
    due.add({
      ...part,
      async round() {
        rounds += 1;
        const { rowCount } = await database.pool.query('update circuits set wake_at = null where wake_at <= now()');
        expect(rowCount).to.equal(1);
        return null;
      },
    });
    await until('the round', () => rounds === 1);
    due.wake();
    await setWake('now()');
    due.wake();
    await until('the next round', () => rounds === 2);
    expect(warnings).to.deep.equal([]);
  });

  it('runs again as a round says, and after an error, but not while it runs or is off', async () => {
    await setWake('now()');
    const gate = Promise.withResolvers<void>();
    let [running, rounds, isOn] = [0, 0, true];
    due.add({
      ...part,
      isOn: () => isOn,
      async round() {
        running += 1;
        expect(running).to.equal(1);
        rounds += 1;
        if (rounds === 1) await gate.promise;
        running -= 1;
        if (rounds === 2) throw new Error('Temporal is away');
        if (rounds === 3) isOn = false;
        return 0;
      },
    });
    let others = 0;
    due.add({
      ...part,
      async round() {
        others += 1;
        return null;
      },
    });
    await until('another part to run meanwhile', () => others >= 3);
    expect(rounds).to.equal(1);
    gate.resolve();
    await until('three rounds', () => rounds === 3);
    expect(warnings).to.deep.equal(['failed to process due work (circuit breakers); trying again']);
    const seen = others;
    await until('further looks', () => others > seen + 1);
    expect(rounds).to.equal(3);
  });

  it('tells what has changed in the installation', async () => {
    await execute(database.pool)`insert into organizations (id, slug, name, plan, suspended_at)
      values ('org_1', 'one', 'One', 'pro', now())`;
    due.wake();
    await until('the suspension', () => changes.includes(true));
    expect([...due.now.suspended]).to.deep.equal(['org_1']);
  });

  it('is shared: a few workers look each at its own pace, and more of them as often together', () => {
    expect([1, 2, 4].map((workers) => sharedRest(1000, workers))).to.deep.equal([1000, 1000, 1000]);
    expect(sharedRest(1000, 8)).to.equal(2000);
    expect(sharedRest(1000, 50), 'not much later, should most of them die').to.equal(5000);
  });
});
