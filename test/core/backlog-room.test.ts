import { expect } from 'chai';
import { BacklogRoom, sharedFrom, type WaitingOf } from '../../core/fairness/backlog-room.ts';

const LIMIT = 100;

const event = (deliveries: number, destinationId = 'd'): WaitingOf =>
  Array.from({ length: deliveries }, () => ({ destinationId }));
const sender = (waitingDeliveries = Number.POSITIVE_INFINITY) => ({
  organizationId: 'a',
  limits: { waitingDeliveries },
});

/** @param of what waits of the organization @param total of all */
async function roomOf(waiting: { of?: number; total?: number; destination?: number } = {}): Promise<BacklogRoom> {
  const { of = 0, destination = 0 } = waiting;
  const { total = of } = waiting;
  const room = new BacklogRoom(LIMIT);
  const destinations = [{ id: 'd', organizationId: 'a', waiting: destination }];
  await room.count(() => Promise.resolve({ total, own: new Map([['a', of]]), destinations }));
  return room;
}

async function setDatabase(room: BacklogRoom, total: number, own = 0): Promise<void> {
  room.database.limit = 100;
  await room.database.count(() => Promise.resolve({ total, own: new Map([['a', own]]) }));
}

describe('the room in the backlog', () => {
  it('is there for a whole event when one more delivery may wait', async () => {
    const room = await roomOf({ of: 9 });
    expect(room.refusal(sender(10), event(5))).to.equal(null);
    room.add('a', event(1, 'other'));
    expect(room.refusal(sender(10), event(1))).to.deep.equal({ full: 'waitingDeliveries', most: 10, waiting: 10 });
    expect(room.refusal(sender(10), []), 'nothing of it would wait').to.equal(null);
  });

  it('ends for several events before the first one that finds none', async () => {
    const room = await roomOf({ of: 4 });
    const events = [event(3), event(0), event(3), event(1)];
    const noRoom = { full: 'waitingDeliveries', most: 10, waiting: 4 };
    expect(room.fitting(sender(10), events)).to.deep.equal({ count: 3, noRoom });
    expect(room.fitting(sender(), events)).to.deep.equal({ count: 4, noRoom: null });
  });

  it('is for an organization three times what it leaves, with what is being stored', async () => {
    const room = await roomOf({ of: 10, total: 20 });
    // 10 + 57 <= 3 * (80 - 57)
    const part = { count: 1, noRoom: { full: 'organization' } };
    expect(room.fitting(sender(), [event(57), event(1), event(1)])).to.deep.equal(part);
    const settle = room.add('a', event(57, 'other'));
    expect(room.refusal(sender(), event(1))).to.deep.equal({ full: 'organization' });
    expect(room.refusal({ ...sender(), organizationId: 'b' }, event(1))).to.equal(null);
    settle(false);
    expect(room.refusal(sender(), event(1))).to.equal(null);
  });

  it('ends for all when everything is taken', async () => {
    const { noRoom } = (await roomOf({ of: 1, total: 100 })).fitting(sender(), [event(1)]);
    expect(noRoom).to.deep.equal({ full: 'service' });
  });

  it('ends for a destination that has what its organization may still take', async () => {
    expect((await roomOf({ of: 37, destination: 37 })).refusal(sender(), event(1))).to.equal(null);
    const room = await roomOf({ of: 38, destination: 38 });
    expect(room.refusal(sender(), event(1))).to.deep.equal({ full: 'destination', destinationId: 'd' });
    expect(room.refusal(sender(), event(1, 'other'))).to.equal(null);
    expect(room.full).to.deep.equal({ all: false, organizations: [], destinations: ['d'] });
  });

  it('ends for a destination with what is being stored', async () => {
    const room = await roomOf();
    while (room.refusal(sender(), event(1)) === null) room.add('a', event(1));
    expect(room.backlog.of('a')).to.equal(38);
    expect(room.refusal(sender(), event(1, 'other'))).to.equal(null);
  });

  it('is not there while the database is full', async () => {
    const room = await roomOf();
    await setDatabase(room, 100);
    expect(room.fitting(sender(), [event(1)]).noRoom).to.deep.equal({ full: 'database' });
    await setDatabase(room, 99);
    expect(room.fullForAll()).to.equal(null);
  });

  it('is not there for an organization that holds its share of the database, also for events without deliveries', async () => {
    const room = await roomOf();
    await setDatabase(room, 95, 95);
    for (const each of [event(1), event(0)]) {
      expect(room.fitting(sender(), [each]).noRoom).to.deep.equal({ full: 'share of the database' });
      expect(room.fitting({ ...sender(), organizationId: 'b' }, [each]).noRoom).to.equal(null);
    }
  });

  it('counts what is stored until a count has it that began after it was committed', async () => {
    const room = await roomOf();
    room.add('a', event(4))(true);
    const late = room.add('a', event(8));
    const { promise, resolve } = Promise.withResolvers<void>();
    const counting = room.count(async () => {
      await promise;
      return { total: 4, own: new Map([['a', 4]]), destinations: [] };
    });
    room.add('a', event(2))(true);
    expect(room.backlog.of('a')).to.equal(14);
    resolve();
    await counting;
    expect([room.backlog.of('a'), room.backlog.left], 'the 8 are not committed').to.deep.equal([14, LIMIT - 14]);
    late(true);
    expect([room.backlog.of('a'), room.backlog.left]).to.deep.equal([14, LIMIT - 14]);
    await room.count(() => Promise.resolve({ total: 14, own: new Map([['a', 14]]), destinations: [] }));
    expect([room.backlog.of('a'), room.backlog.left]).to.deep.equal([14, LIMIT - 14]);
  });

  it('shrinks in the database by what an event takes, and 1,500 bytes for each of its deliveries', async () => {
    const room = await roomOf();
    room.database.limit = 10_000;
    const settle = room.add('a', event(2), 10);
    expect([room.database.left, room.database.of('a')]).to.deep.equal([10_000 - 3010, 3010]);
    settle(false);
    expect(room.database.left).to.equal(10_000);
    // Without a limit there is always room.
    expect(new BacklogRoom(0).fitting(sender(), [event(1_000_000), event(1)]).noRoom).to.equal(null);
    // No organization has nine times what is free before nine tenths are taken.
    expect(sharedFrom(1000)).to.equal(900);
  });

  it('stays as it was when it cannot be counted', async () => {
    const room = await roomOf({ of: 9 });
    room.add('a', event(1, 'other'));
    await room.count(() => Promise.reject(new Error('away'))).catch(() => undefined);
    expect(room.refusal(sender(10), event(1))).to.include({ full: 'waitingDeliveries', waiting: 10 });
    expect(room.backlog.left).to.equal(LIMIT - 10);
  });
});
