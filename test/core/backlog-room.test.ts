import { expect } from 'chai';
import { BacklogRoom, type WaitingOf } from '../../core/backlog-room.ts';

const LIMIT = 100;
const NONE = { total: 0, organizations: [], destinations: [], alone: false };

const event = (deliveries: number, destinationId = 'd'): WaitingOf =>
  Array.from({ length: deliveries }, () => ({ destinationId }));
const sender = (waitingDeliveries = Number.POSITIVE_INFINITY) => ({
  organizationId: 'a',
  limits: { waitingDeliveries },
});

async function roomOf(waiting: Partial<typeof NONE> & { of?: number } = {}): Promise<BacklogRoom> {
  const room = new BacklogRoom(LIMIT);
  const { of = 0, ...others } = waiting;
  const organizations = of > 0 ? [{ id: 'a', waiting: of }] : [];
  await room.count(() => Promise.resolve({ ...NONE, total: of, ...others, organizations }));
  return room;
}

describe('the room in the backlog', () => {
  it('is there for a whole event when one more delivery may wait', async () => {
    const room = await roomOf({ of: 9 });
    expect(room.refusal(sender(10), event(5))).to.equal(null);
    room.add('a', 1).keep();
    expect(room.refusal(sender(10), event(1))).to.deep.equal({ full: 'waitingDeliveries', most: 10, waiting: 10 });
    expect(room.refusal(sender(10), []), 'nothing of it would wait').to.equal(null);
  });

  it('ends for several events before the first one that finds none', async () => {
    const room = await roomOf({ of: 4 });
    const events = [event(3), event(0), event(3), event(1)];
    expect(room.fitting(sender(10), events)).to.deep.equal({
      count: 3,
      noRoom: { full: 'waitingDeliveries', most: 10, waiting: 4 },
    });
    expect(room.fitting(sender(), events)).to.deep.equal({ count: 4, noRoom: null });
  });

  it('is what is left for the organization, with what is being stored', async () => {
    const room = await roomOf({ of: 10, total: 20 });
    // (100 - 20 - 10) / 2
    expect(room.fitting(sender(), [event(34), event(1), event(1)])).to.deep.equal({
      count: 2,
      noRoom: { full: 'organization' },
    });
    const place = room.add('a', 35);
    expect(room.refusal(sender(), event(1))).to.deep.equal({ full: 'organization' });
    place.release(false);
    expect(room.refusal(sender(), event(1))).to.equal(null);
  });

  it('is everything for an organization that is alone, until all of it is taken', async () => {
    expect((await roomOf({ of: 99, alone: true })).fitting(sender(), [event(50), event(1)]).count).to.equal(2);
    expect((await roomOf({ of: 100, alone: true })).fitting(sender(), [event(1)]).noRoom).to.deep.equal({
      full: 'service',
    });
  });

  it('is not there while the database is full, until it has shrunk by a fiftieth', async () => {
    const room = await roomOf();
    const sized = (size: number) =>
      room.database.look(() => Promise.resolve({ size, limit: 100, parts: new Map(), alone: true }));
    await sized(100);
    expect(room.fitting(sender(), [event(1)]).noRoom).to.deep.equal({ full: 'database' });
    await sized(98);
    expect(room.fullForAll()).to.deep.equal({ full: 'database' });
    await sized(97);
    expect(room.fullForAll()).to.equal(null);
  });

  it('is not there for an organization that holds its share of the database, also for events without deliveries', async () => {
    const room = await roomOf();
    const parts = new Map([['a', 1]]);
    await room.database.look(() => Promise.resolve({ size: 95, limit: 100, parts, alone: false }));
    for (const each of [event(1), event(0)]) {
      expect(room.fitting(sender(), [each]).noRoom).to.deep.equal({ full: 'share of the database' });
      expect(room.fitting({ ...sender(), organizationId: 'b' }, [each]).noRoom).to.equal(null);
    }
  });

  it('stays as it was when it cannot be counted', async () => {
    const room = await roomOf({ of: 9 });
    room.add('a', 1).keep();
    await room.count(() => Promise.reject(new Error('away'))).catch(() => undefined);
    expect(room.refusal(sender(10), event(1))).to.include({ full: 'waitingDeliveries', waiting: 10 });
  });
});
