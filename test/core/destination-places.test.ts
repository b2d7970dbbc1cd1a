// How many attempts a worker may have under way at destinations: its share, and slots where there are fewer places than workers.
import { expect } from 'chai';
import { DestinationPlaces } from '../../core/delivery/destination-places.ts';

const MINUTE_MS = 60_000;

describe('places at destinations', () => {
  let now: number;
  let places: DestinationPlaces;
  beforeEach(() => {
    now = 1000;
    places = new DestinationPlaces(500, () => now);
  });

  /** Takes as many as there are. @returns how many */
  function fill(destinationId: string): number {
    let taken = 0;
    while (places.take(destinationId)) taken += 1;
    return taken;
  }

  // The maximum of the destination, and the number of workers.
  for (const [maximum, workers, expected] of [
    [null, 1, 50],
    [null, 4, 12],
    [null, 80, 1],
    [10, 1, 10],
    [10, 4, 2],
    [4, 4, 1],
    [2, 2, 1],
    [3, 4, 0],
    [1, 1, 0],
  ] as const) {
    it(`are ${expected} without a slot, of ${maximum ?? 'any number'} for ${workers} workers`, () => {
      places.workers = workers;
      places.setMaximum('dst_1', maximum);
      expect(fill('dst_1')).to.equal(expected);
      expect(places.limitOf('dst_1')).to.equal(expected);
      expect(places.full()).to.deep.equal(['dst_1']);
    });
  }

  it('are divided anew when workers come or go, and when the maximum changes', () => {
    places.setMaximum('dst_1', 8);
    expect(fill('dst_1')).to.equal(8);
    places.workers = 2;
    expect(places.isOver('dst_1'), 'nothing ends because of that').to.equal(true);
    expect(places.limitOf('dst_1')).to.equal(4);
    places.setMaximum('dst_1', 20);
    expect(places.hasRoom('dst_1')).to.equal(true);
    places.workers = 1;
    expect(fill('dst_1')).to.equal(12);
  });

  it('are as many as before when a lower maximum is raised', () => {
    places.setMaximum('dst_1', 2);
    for (let number = 0; number < 5; number += 1) places.sending('dst_1')('answered');
    expect(fill('dst_1')).to.equal(2);
    places.setMaximum('dst_1', 40);
    expect(fill('dst_1')).to.equal(38);
  });

  it('count until they are left', () => {
    places.setMaximum('dst_1', 2);
    places.enter('dst_1');
    places.enter('dst_1');
    places.enter('dst_1');
    expect([places.isOver('dst_1'), places.hasRoom('dst_1')]).to.deep.equal([true, false]);
    places.leave('dst_1');
    places.leave('dst_1');
    expect([places.isOver('dst_1'), places.hasRoom('dst_1')]).to.deep.equal([false, true]);
    places.leave('dst_1');
    expect(places.full()).to.deep.equal([]);
  });

  it('begin anew after a minute without attempts; the latency is remembered', () => {
    const refuse = () => places.sending('dst_1')('refused');
    for (let number = 0; number < 3; number += 1) refuse();
    expect(places.limitOf('dst_1')).to.equal(35);
    expect(places.limits()).to.deep.equal([35]);
    now += MINUTE_MS + 1;
    expect(places.limits()).to.deep.equal([]);
    expect(fill('dst_1')).to.equal(50);
    expect(places.isQuick('dst_1')).to.equal(true);
  });

  it('know which destinations are slow', () => {
    const answered = places.sending('dst_1');
    expect([places.isQuick('dst_1'), places.isSlow('dst_1')], 'nothing is known').to.deep.equal([false, false]);
    now += 1001;
    expect(places.isSlow('dst_1'), 'it is waited for').to.equal(true);
    answered('answered');
    expect([places.isQuick('dst_1'), places.isSlow('dst_1')]).to.deep.equal([false, true]);
    for (let number = 0; number < 5; number += 1) places.sending('dst_1')('answered');
    expect([places.isQuick('dst_1'), places.isSlow('dst_1')]).to.deep.equal([true, false]);
  });

  it('are remembered of at most 10,000 destinations: of those that are used', () => {
    places.sending('dst_busy')('answered');
    places.enter('dst_held');
    for (let number = 0; number < 12_000; number += 1) {
      places.sending(`dst_${number}`)('answered');
      places.sending('dst_busy')('answered');
    }
    expect(places.limits()).to.have.length(10_000);
    expect(places.isQuick('dst_busy')).to.equal(true);
    expect(places.isQuick('dst_0')).to.equal(false);
    places.leave('dst_held');
    expect(places.full()).to.deep.equal([]);
  });

  describe('by a slot', () => {
    let asked: number;
    beforeEach(() => {
      asked = 0;
      places.onUse = () => {
        asked += 1;
      };
      places.workers = 2;
      places.setMaximum('dst_1', 1);
    });

    it('is asked for when something was claimed, and is one', () => {
      expect(places.hasRoom('dst_1'), 'one is claimed to know whether something waits').to.equal(true);
      places.enter('dst_1');
      expect(places.isOver('dst_1')).to.equal(true);
      expect(asked).to.be.greaterThan(0);
      places.leave('dst_1');
      expect(places.full(), 'it waits for the slot').to.deep.equal(['dst_1']);
      expect(places.slotsWanted()).to.deep.equal([{ destinationId: 'dst_1', maximum: 1 }]);
      places.slotTaken('dst_1', now);
      expect(places.full()).to.deep.equal([]);
      expect(fill('dst_1')).to.equal(1);
    });

    it('is given back when there is nothing left, and asked for again', () => {
      places.take('dst_1');
      places.slotTaken('dst_1', now);
      fill('dst_1');
      now += 600;
      expect(places.leaveSlots(now), 'one is under way').to.deep.equal([]);
      places.leave('dst_1');
      expect(places.leaveSlots(now)).to.deep.equal([]);
      now += 600;
      expect(places.leaveSlots(now)).to.deep.equal(['dst_1']);
      expect([places.hasSlots, places.hasRoom('dst_1')]).to.deep.equal([false, true]);
    });

    it('is left to others after two seconds, for a while', () => {
      places.take('dst_1');
      places.slotTaken('dst_1', now);
      fill('dst_1');
      now += 2001;
      expect(places.leaveSlots(now), 'one is under way').to.deep.equal([]);
      places.leave('dst_1');
      expect(places.hasRoom('dst_1'), 'nothing more begins').to.equal(false);
      expect(places.leaveSlots(now)).to.deep.equal(['dst_1']);
      expect([places.slotsWanted().length, places.hasRoom('dst_1')]).to.deep.equal([0, false]);
      now += 500;
      expect(places.slotsWanted()).to.have.length(1);
    });

    it('is kept while there is no other worker, as long as it is known to be held', () => {
      places.workers = 1;
      places.take('dst_1');
      places.slotTaken('dst_1', now);
      fill('dst_1');
      now += 2001;
      expect(places.limitOf('dst_1')).to.equal(0);
      expect(places.leaveSlots(now - 250)).to.deep.equal([]);
      expect(places.limitOf('dst_1')).to.equal(1);
    });

    it('is asked for again when all are lost, first for what is under way', () => {
      places.setMaximum('dst_2', 1);
      for (const id of ['dst_1', 'dst_2']) {
        places.take(id);
        places.slotTaken(id, now);
      }
      fill('dst_2');
      places.slotsLost();
      expect([places.limitOf('dst_1'), places.limitOf('dst_2')]).to.deep.equal([0, 0]);
      const wanted = () => places.slotsWanted().map(({ destinationId }) => destinationId);
      expect(wanted()).to.deep.equal(['dst_2']);
      now += MINUTE_MS;
      expect(wanted()).to.deep.equal(['dst_1', 'dst_2']);
    });

    it('is asked for what is under way when there are more workers than places now', () => {
      places.setMaximum('dst_3', 2);
      expect(fill('dst_3')).to.equal(1);
      expect(places.slotsWanted()).to.deep.equal([]);
      places.workers = 3;
      expect(places.slotsWanted()).to.deep.equal([{ destinationId: 'dst_3', maximum: 2 }]);
      places.slotTaken('dst_3', now);
      places.workers = 2;
      expect(places.leaveSlots(now), 'nor is it needed with fewer').to.deep.equal(['dst_3']);
    });
  });
});
