// Destinations with fewer places than workers: a process sends only in its turn.
import { expect } from 'chai';
import { DestinationPlaces } from '../../core/destination-places.ts';

const ID = 'dst_1';

describe('turns at a destination', () => {
  let now: number;
  let places: DestinationPlaces;
  beforeEach(() => {
    now = 0;
    places = new DestinationPlaces(500, () => now);
    places.setShare({ workers: 3, rank: 0, alive: 3 });
    places.setMaximum(ID, 2);
  });

  const asked = () => places.turnRequests().requests;
  const tell = (held: number[], isContested = false) =>
    places.turnsTold(
      [{ destinationId: ID, wants: true, places: [] }],
      [{ destinationId: ID, places: held, all: 2, shared: null, isContested }],
      now,
    );
  /** As the relay does: it claims where there is room, and gives back what is too much. */
  function claim(): boolean {
    if (!places.hasRoom(ID)) return false;
    places.enter(ID);
    if (!places.isOver(ID)) return true;
    places.leave(ID);
    return false;
  }

  it('are asked for when something waits, and not before', () => {
    expect(asked()).to.deep.equal([]);
    expect(places.limitOf(ID)).to.equal(0);
    expect(places.hasRoom(ID), 'to find out').to.equal(true);
    expect(claim()).to.equal(false);
    expect(places.hasRoom(ID), 'found out').to.equal(false);
    expect(asked()).to.deep.equal([{ destinationId: ID, wants: true, places: [] }]);
    expect(places.take(ID), 'a retry').to.equal(false);
  });

  it('let as much be under way as there are places, and more are asked for when all are used', () => {
    claim();
    tell([1]);
    expect(claim()).to.equal(true);
    expect(claim()).to.equal(false);
    expect(asked()).to.deep.equal([{ destinationId: ID, wants: true, places: [1] }]);
    tell([0, 1]);
    expect(claim()).to.equal(true);
    expect(claim()).to.equal(false);
    expect(asked()).to.deep.equal([{ destinationId: ID, wants: false, places: [0, 1] }]);
  });

  it('end when others wait: nothing begins, and the place is given up when nothing is under way', () => {
    claim();
    tell([0]);
    expect(claim()).to.equal(true);
    tell([0], true);
    expect(places.limitOf(ID), 'a turn lasts a while').to.equal(1);
    now = 2500;
    tell([0], true);
    expect(places.limitOf(ID)).to.equal(0);
    expect(asked()).to.deep.equal([{ destinationId: ID, wants: false, places: [0] }]);
    places.leave(ID);
    expect(claim()).to.equal(false);
    expect(places.turnRequests()).to.deep.equal({
      isUrgent: true,
      requests: [{ destinationId: ID, wants: true, places: [] }],
    });
  });

  it('end early when nothing is left to send, and then nothing is asked for', () => {
    claim();
    tell([0]);
    now = 300;
    tell([0], true);
    expect(asked()).to.deep.equal([{ destinationId: ID, wants: false, places: [] }]);
    expect(asked()).to.deep.equal([]);
  });

  it('continue as long as nobody waits', () => {
    claim();
    for (; now < 100_000; now += 1000) {
      tell([0]);
      expect(claim()).to.equal(true);
      places.leave(ID);
      expect(asked()[0]).to.deep.equal({ destinationId: ID, wants: false, places: [0] });
    }
  });

  it('end when the database is not heard of, before others may have the place', () => {
    claim();
    tell([0]);
    now = 19_000;
    expect(places.limitOf(ID)).to.equal(1);
    now = 21_000;
    expect(places.limitOf(ID)).to.equal(0);
    tell([]);
    expect(places.limitOf(ID)).to.equal(0);
  });

  it('are no longer wanted or held at a destination that is gone, which is forgotten then', () => {
    claim();
    expect(places.turnRequests().isUrgent).to.equal(true);
    places.turnsTold(asked(), [], now);
    expect(places.turnRequests()).to.deep.equal({ isUrgent: false, requests: [] });
    claim();
    tell([0]);
    places.turnsTold(asked(), [], now);
    expect(places.limitOf(ID)).to.equal(0);
    now = 61_000;
    expect(places.usedSince(now - 1)).to.deep.equal([]);
    expect(places.limits(), 'forgotten').to.deep.equal([]);
  });

  it('are no longer wanted or held where there are as many places as workers, and are not there when they are needed again', () => {
    claim();
    tell([0]);
    claim();
    claim();
    expect(asked()).to.deep.equal([{ destinationId: ID, wants: true, places: [0] }]);
    places.setMaximum(ID, null);
    expect(asked()).to.deep.equal([]);
    places.leave(ID);
    now = 1000;
    places.setMaximum(ID, 2);
    expect(places.limitOf(ID), 'others may have the place').to.equal(0);
    places.setMaximum(ID, null);
    now = 61_000;
    expect(places.usedSince(now - 1)).to.deep.equal([]);
    expect(places.limits(), 'forgotten').to.deep.equal([]);
  });

  it('are needed until it is known who else there is, and then where there are more workers than places', () => {
    places.setShare({ workers: 1, rank: 0, alive: null });
    expect(places.limitOf(ID)).to.equal(0);
    places.setShare({ workers: 1, rank: 0, alive: 1 });
    expect(places.limitOf(ID)).to.equal(2);
    // One of three ends, and may still have something under way.
    places.setShare({ workers: 2, rank: 0, alive: 3 });
    expect(places.limitOf(ID)).to.equal(0);
    places.setMaximum(ID, null);
    expect(places.limitOf(ID)).to.be.at.least(1);
  });
});
