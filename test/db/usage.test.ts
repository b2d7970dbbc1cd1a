// The usage of organizations, day by day, against the rows it counts: each row counts once, whatever happens to it
// later.
import { expect } from 'chai';
import { deleteEvent, deleteSource } from '../../db/delivery/deletions.ts';
import { dailyUse, loadUse } from '../../db/organizations/usage.ts';
import { purgeStep } from '../../db/operations/source-purges.ts';
import {
  type HistoryOwner,
  makeOwner,
  recordOutcome,
  storeEvent,
  type StoredEvent,
} from '../support/database/history.ts';
import { mergeAll, rollUpAll } from '../support/database/roll-up.ts';
import { useHistoryDatabase } from '../support/use-hookyard.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS = 3;

describe('Usage of organizations', () => {
  const { pool } = useHistoryDatabase(DAYS + 1);
  let owner: HistoryOwner;
  beforeEach(async () => {
    owner = await makeOwner(pool, 2, 2);
  });

  const noonOf = (daysAgo: number) => new Date(Math.floor(Date.now() / DAY_MS - daysAgo) * DAY_MS + 12 * HOUR_MS);
  const dayOf = (time: Date) => time.toISOString().slice(0, 10);
  const days = (organizationId = owner.organizationId) =>
    dailyUse(pool, organizationId, { from: '2020-01-01', to: '2999-12-31' });
  const store = (receivedAt: Date, body: string, routeAt = 0): Promise<StoredEvent> => {
    const route = owner.routes[routeAt];
    if (!route) throw new Error('no such route');
    return storeEvent(pool, owner, route, { receivedAt, statuses: ['pending', 'pending'], body });
  };
  const end = async (
    event: StoredEvent,
    index: number,
    status: 'delivered' | 'retrying',
    attempt: number,
    completedAt = new Date(),
  ) => {
    const delivery = event.deliveries[index];
    if (delivery) await recordOutcome(pool, event, delivery, { status, attempt, completedAt });
  };

  it('counts events, bytes and deliveries by when they came, and attempts by when they were made', async () => {
    const [first, second] = [noonOf(3), noonOf(2)];
    const event = await store(first, '{"n":1}');
    await end(event, 0, 'retrying', 1, first);
    await end(event, 0, 'delivered', 2, first);
    await end(event, 1, 'retrying', 1, second);
    await store(second, '{"n":22}', 1);
    const expected = [
      { day: dayOf(first), events: 1, payloadBytes: 7, deliveries: 2, attempts: 2 },
      { day: dayOf(second), events: 1, payloadBytes: 8, deliveries: 2, attempts: 1 },
    ];
    expect(await days()).to.deep.equal(expected);
    await rollUpAll(pool);
    expect(await days()).to.deep.equal(expected);
    await end(event, 1, 'delivered', 2, second);
    await end(event, 1, 'delivered', 2, second);
    expect((await days())[1]).to.include({ deliveries: 2, attempts: 2 });
    await mergeAll(pool);
    await rollUpAll(pool);
    expect((await days())[1]).to.include({ deliveries: 2, attempts: 2 });
  });

  it('keeps what was deleted, and forgets its bytes in what is stored', async () => {
    const time = noonOf(2);
    const event = await store(time, 'x'.repeat(100));
    await store(time, 'y'.repeat(10));
    await store(time, 'z'.repeat(1), 1);
    await end(event, 0, 'delivered', 1);
    await rollUpAll(pool);
    const before = await days();
    const stored = async () => (await loadUse(pool, [owner.organizationId], 30))[0]?.storedBytes;
    expect(await stored()).to.equal(111);
    expect(await deleteEvent(pool, owner.organizationId, event.id)).to.not.equal(null);
    expect(await stored()).to.equal(11);
    await deleteSource(pool, owner.organizationId, owner.routes[0]?.sourceId ?? '');
    await purgeStep(pool, owner.routes[0]?.sourceId ?? '');
    expect(await stored()).to.equal(1);
    await rollUpAll(pool);
    expect(await days()).to.deep.equal(before);
    expect((await loadUse(pool, [owner.organizationId], 1))[0]?.storedBytes, 'payloads have expired').to.equal(0);
  });
});
