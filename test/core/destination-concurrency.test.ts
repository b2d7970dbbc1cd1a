import { expect } from 'chai';
import { DestinationConcurrency } from '../../core/delivery/destination-concurrency.ts';

const MINUTE_MS = 60_000;

describe('slots at destinations', () => {
  let now: number;
  let concurrency: DestinationConcurrency;
  beforeEach(() => {
    now = 1000;
    concurrency = new DestinationConcurrency(500, () => now);
  });

  /** Takes as many as there are. @returns how many */
  function fill(destinationId: string): number {
    let taken = 0;
    while (concurrency.tryAcquire(destinationId)) taken += 1;
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
      concurrency.workers = workers;
      concurrency.setMaximum('dst_1', maximum);
      expect(fill('dst_1')).to.equal(expected);
      expect(concurrency.limitOf('dst_1')).to.equal(expected);
      expect(concurrency.full()).to.deep.equal(['dst_1']);
    });
  }

  it('are divided anew when workers come or go, and when the maximum changes', () => {
    concurrency.setMaximum('dst_1', 8);
    expect(fill('dst_1')).to.equal(8);
    concurrency.workers = 2;
    expect(concurrency.isOver('dst_1'), 'nothing ends because of that').to.equal(true);
    expect(concurrency.limitOf('dst_1')).to.equal(4);
    concurrency.setMaximum('dst_1', 20);
    expect(concurrency.hasRoom('dst_1')).to.equal(true);
    concurrency.workers = 1;
    expect(fill('dst_1')).to.equal(12);
  });

  it('are as many as before when a lower maximum is raised', () => {
    concurrency.setMaximum('dst_1', 2);
    for (let number = 0; number < 5; number += 1) concurrency.sending('dst_1')('answered');
    expect(fill('dst_1')).to.equal(2);
    concurrency.setMaximum('dst_1', 40);
    expect(fill('dst_1')).to.equal(38);
  });

  it('count until they are left', () => {
    concurrency.setMaximum('dst_1', 2);
    concurrency.acquire('dst_1');
    concurrency.acquire('dst_1');
    concurrency.acquire('dst_1');
    expect([concurrency.isOver('dst_1'), concurrency.hasRoom('dst_1')]).to.deep.equal([true, false]);
    concurrency.release('dst_1');
    concurrency.release('dst_1');
    expect([concurrency.isOver('dst_1'), concurrency.hasRoom('dst_1')]).to.deep.equal([false, true]);
    concurrency.release('dst_1');
    expect(concurrency.full()).to.deep.equal([]);
  });

  it('begin anew after a minute without attempts; the latency is remembered', () => {
    now = 10 * MINUTE_MS;
    const refuse = () => concurrency.sending('dst_1')('refused');
    for (let number = 0; number < 3; number += 1) refuse();
    expect(concurrency.limitOf('dst_1')).to.equal(35);
    for (const [other, maximum] of Object.entries({ dst_2: 9, dst_3: 100 })) {
      concurrency.setMaximum(other, maximum);
      concurrency.sending(other)('answered');
    }
    expect(concurrency.limits(), 'in ascending order').to.deep.equal([9, 35, 50]);
    now += MINUTE_MS + 1;
    expect(concurrency.limits()).to.deep.equal([]);
    expect(fill('dst_1')).to.equal(50);
    expect(concurrency.isQuick('dst_1')).to.equal(true);
  });

  it('know which destinations are slow', () => {
    const answered = concurrency.sending('dst_1');
    const known = () => [concurrency.isQuick('dst_1'), concurrency.isSlow('dst_1')];
    expect(known(), 'nothing is known').to.deep.equal([false, false]);
    now += 1001;
    expect(concurrency.isSlow('dst_1'), 'it is waited for').to.equal(true);
    answered('answered');
    expect(known()).to.deep.equal([false, true]);
    for (let number = 0; number < 5; number += 1) concurrency.sending('dst_1')('answered');
    expect(known()).to.deep.equal([true, false]);
  });

  it('are remembered of at most 10,000 destinations: of those that are used', () => {
    concurrency.sending('dst_busy')('answered');
    concurrency.acquire('dst_held');
    for (let number = 0; number < 12_000; number += 1) {
      concurrency.sending(`dst_${number}`)('answered');
      concurrency.sending('dst_busy')('answered');
    }
    expect(concurrency.limits()).to.have.length(10_000);
    expect(concurrency.isQuick('dst_busy')).to.equal(true);
    expect(concurrency.isQuick('dst_0')).to.equal(false);
    concurrency.release('dst_held');
    expect(concurrency.full()).to.deep.equal([]);
  });

  describe('by a slot', () => {
    let asked: number;
    beforeEach(() => {
      asked = 0;
      concurrency.onUse = () => {
        asked += 1;
      };
      concurrency.workers = 2;
      concurrency.setMaximum('dst_1', 1);
    });

    /** It has a slot, and as many attempts under way as that allows. */
    function holdSlot(): void {
      concurrency.tryAcquire('dst_1');
      concurrency.slotTaken('dst_1', now);
      fill('dst_1');
    }

    it('is asked for when something was claimed, and is one', () => {
      expect(concurrency.hasRoom('dst_1'), 'one is claimed to know whether something waits').to.equal(true);
      concurrency.acquire('dst_1');
      expect(concurrency.isOver('dst_1')).to.equal(true);
      expect(asked).to.be.greaterThan(0);
      concurrency.release('dst_1');
      expect(concurrency.full(), 'it waits for the slot').to.deep.equal(['dst_1']);
      expect(concurrency.slotsWanted()).to.deep.equal([{ destinationId: 'dst_1', maximum: 1 }]);
      concurrency.slotTaken('dst_1', now);
      expect(concurrency.full()).to.deep.equal([]);
      expect(fill('dst_1')).to.equal(1);
    });

    it('is given back when there is nothing left, and asked for again', () => {
      holdSlot();
      now += 600;
      expect(concurrency.leaveSlots(now), 'one is under way').to.deep.equal([]);
      concurrency.release('dst_1');
      expect(concurrency.leaveSlots(now)).to.deep.equal([]);
      now += 600;
      expect(concurrency.leaveSlots(now)).to.deep.equal(['dst_1']);
      expect([concurrency.hasSlots, concurrency.hasRoom('dst_1')]).to.deep.equal([false, true]);
    });

    it('is left to others after two seconds, for a while', () => {
      holdSlot();
      now += 2001;
      expect(concurrency.leaveSlots(now), 'one is under way').to.deep.equal([]);
      concurrency.release('dst_1');
      expect(concurrency.hasRoom('dst_1'), 'nothing more begins').to.equal(false);
      expect(concurrency.leaveSlots(now)).to.deep.equal(['dst_1']);
      expect([concurrency.slotsWanted().length, concurrency.hasRoom('dst_1')]).to.deep.equal([0, false]);
      now += 500;
      expect(concurrency.slotsWanted()).to.have.length(1);
    });

    it('is kept while there is no other worker, as long as it is known to be held', () => {
      concurrency.workers = 1;
      holdSlot();
      now += 2001;
      expect(concurrency.limitOf('dst_1')).to.equal(0);
      expect(concurrency.leaveSlots(now - 250)).to.deep.equal([]);
      expect(concurrency.limitOf('dst_1')).to.equal(1);
    });

    it('is asked for again when all are lost, first for what is under way', () => {
      concurrency.setMaximum('dst_2', 1);
      for (const id of ['dst_1', 'dst_2']) {
        concurrency.tryAcquire(id);
        concurrency.slotTaken(id, now);
      }
      fill('dst_2');
      concurrency.slotsLost();
      expect([concurrency.limitOf('dst_1'), concurrency.limitOf('dst_2')]).to.deep.equal([0, 0]);
      const wanted = () => concurrency.slotsWanted().map(({ destinationId }) => destinationId);
      expect(wanted()).to.deep.equal(['dst_2']);
      now += MINUTE_MS;
      expect(wanted()).to.deep.equal(['dst_1', 'dst_2']);
    });

    it('is asked for what is under way when there are more workers than slots now', () => {
      concurrency.setMaximum('dst_3', 2);
      expect(fill('dst_3')).to.equal(1);
      expect(concurrency.slotsWanted()).to.deep.equal([]);
      concurrency.workers = 3;
      expect(concurrency.slotsWanted()).to.deep.equal([{ destinationId: 'dst_3', maximum: 2 }]);
      concurrency.slotTaken('dst_3', now);
      concurrency.workers = 2;
      expect(concurrency.leaveSlots(now), 'nor is it needed with fewer').to.deep.equal(['dst_3']);
    });
  });
});
