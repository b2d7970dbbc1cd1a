// The usage of organizations, day by day, against the rows it counts: each row counts once, whatever happens to it later.
import { expect } from 'chai';
import { deleteEvent, deleteSource } from '../../db/delivery/delivery-commands.ts';
import { settleHistory } from '../../db/history/lists/settle.ts';
import { addAccepted, dailyUse, loadUse } from '../../db/organizations/usage.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { purgeStep } from '../../db/retention/source-purges.ts';
import {
  type HistoryDatabase,
  type HistoryOwner,
  historyDatabase,
  makeOwner,
  recordOutcome,
  storeEvent,
  type StoredEvent,
} from '../support/history.ts';
import { until } from '../support/until.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS = 3;

describe('Usage of organizations', () => {
  let database: HistoryDatabase;
  let pool: Pool;
  let owner: HistoryOwner;
  before(async () => {
    database = await historyDatabase(DAYS + 1);
    pool = database.pool;
  });
  after(() => database.close());
  beforeEach(async () => {
    owner = await makeOwner(pool, 2, 2);
  });

  const noonOf = (daysAgo: number) => new Date(Math.floor(Date.now() / DAY_MS - daysAgo) * DAY_MS + 12 * HOUR_MS);
  const dayOf = (time: Date) => time.toISOString().slice(0, 10);
  const settle = async () => {
    while ((await settleHistory(pool, 5000))?.caughtUp === false);
  };
  const days = (organizationId = owner.organizationId) =>
    dailyUse(pool, organizationId, { from: '2020-01-01', to: '2999-12-31' });
  const store = (receivedAt: Date, body: string, routeAt = 0): Promise<StoredEvent> => {
    const route = owner.routes[routeAt];
    if (!route) throw new Error('no such route');
    return storeEvent(pool, owner, route, { receivedAt, statuses: ['pending', 'pending'], body });
  };
  const end = async (event: StoredEvent, index: number, status: 'delivered' | 'retrying', attempt: number) => {
    const delivery = event.deliveries[index];
    if (delivery) await recordOutcome(pool, event, delivery, { status, attempt });
  };

  it('counts what was settled once: events, bytes, deliveries, and the attempts of those that have ended', async () => {
    const [first, second] = [noonOf(3), noonOf(2)];
    const event = await store(first, '{"n":1}');
    await end(event, 0, 'retrying', 1);
    await end(event, 0, 'delivered', 2);
    await end(event, 1, 'retrying', 1);
    await store(second, '{"n":22}', 1);
    await settle();
    await settle();
    expect(await days()).to.deep.equal([
      { day: dayOf(first), events: 1, payloadBytes: 7, deliveries: 2, attempts: 2 },
      { day: dayOf(second), events: 1, payloadBytes: 8, deliveries: 2, attempts: 0 },
    ]);
    // Days later the other one ends.
    await end(event, 1, 'retrying', 2);
    await end(event, 1, 'delivered', 3);
    await settle();
    await settle();
    expect((await days())[0]).to.include({ events: 1, deliveries: 2, attempts: 5 });
  });

  it('of webhooks that come in is counted while an event is being deleted that something else holds up', async () => {
    const time = noonOf(2);
    const event = await store(time, 'x'.repeat(100));
    await settle();
    const holder = await pool.connect();
    const counter = await pool.connect();
    let deletion: ReturnType<typeof deleteEvent> | undefined;
    try {
      await holder.query('begin');
      await holder.query('select from deliveries where event_id = $1 for update', [event.id]);
      deletion = deleteEvent(pool, owner.organizationId, event.id);
      await until('the deletion to wait', async () => {
        const { rows } = await pool.query<{ waits: boolean }>(
          `select exists (select from pg_locks l join pg_stat_activity a using (pid)
                          where not l.granted and a.datname = current_database()) as waits`,
        );
        return rows[0]?.waits;
      });
      await counter.query(`begin; set local lock_timeout = '5s'`);
      await addAccepted(counter, [{ organizationId: owner.organizationId, day: dayOf(time), events: 1, bytes: 1 }]);
      await counter.query('commit');
    } finally {
      await counter.query('rollback');
      await holder.query('rollback');
      counter.release();
      holder.release();
      await deletion;
    }
    expect(await deletion).to.not.equal(null);
    const { rows } = await pool.query(
      'select removed_bytes::int as removed from organization_usage where organization_id = $1',
      [owner.organizationId],
    );
    expect(rows).to.deep.equal([{ removed: 100 }]);
  });

  it('keeps what was deleted, and forgets its bytes in what is stored', async () => {
    const time = noonOf(2);
    const event = await store(time, 'x'.repeat(100));
    await store(time, 'y'.repeat(10));
    await store(time, 'z'.repeat(1), 1);
    await end(event, 0, 'delivered', 1);
    await settle();
    const before = await days();
    const stored = async () => (await loadUse(pool, [owner.organizationId], 30))[0]?.storedBytes;
    expect(await stored()).to.equal(111);
    expect(await deleteEvent(pool, owner.organizationId, event.id)).to.not.equal(null);
    expect(await stored()).to.equal(11);
    await deleteSource(pool, owner.organizationId, owner.routes[0]?.sourceId ?? '');
    await purgeStep(pool, owner.routes[0]?.sourceId ?? '');
    expect(await stored()).to.equal(1);
    await settle();
    expect(await days()).to.deep.equal(before);
    expect((await loadUse(pool, [owner.organizationId], 1))[0]?.storedBytes, 'payloads have expired').to.equal(0);
  });

  it('takes the larger of two counts of a day, of which none is too large', async () => {
    const time = noonOf(2);
    const { organizationId } = owner;
    await store(time, '{}');
    const accepted = { organizationId, day: dayOf(time), events: 2, bytes: 9 };
    await addAccepted(pool, [accepted]);
    expect((await days())[0], 'before it is settled').to.include({ events: 2, payloadBytes: 9 });
    for (let n = 0; n < 3; n += 1) await store(time, '{}');
    await settle();
    expect((await days())[0], 'a process was killed before it said so').to.include({ events: 4, payloadBytes: 9 });
    await addAccepted(pool, [
      { ...accepted, events: 3 },
      { ...accepted, organizationId: 'org_gone' },
    ]);
    expect((await days())[0]).to.include({ events: 5 });
    expect(await days('org_gone')).to.deep.equal([]);
  });
});
