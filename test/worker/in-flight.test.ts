import { expect } from 'chai';
import fc from 'fast-check';
import { DestinationConcurrency } from '../../core/delivery/destination-concurrency.ts';
import type { OutboxRow } from '../../db/hot-path/claim.ts';
import { InFlight } from '../../worker/relay/in-flight.ts';

let count = 0;
function row(destinationId: string, organizationId = 'org_1'): OutboxRow {
  count += 1;
  return {
    deliveryId: `dlv_${count}`,
    destinationId,
    organizationId,
    eventId: 'evt_1',
    sourceId: 'src_1',
    routeId: null,
    priority: 0,
    failoverOf: null,
    orderHash: null,
    blockedBy: null,
    resume: null,
  };
}

/** @param perDestination the most, however well it copes */
const limits = (total: number, perDestination: number) => ({
  total,
  concurrency: new DestinationConcurrency(perDestination),
});

/** Takes as many of a destination as there is room for. @returns how many */
function fill(inFlight: InFlight, destinationId: string, organizationId?: string): number {
  for (let taken = 0; ; taken += 1) {
    const next = row(destinationId, organizationId);
    if (!inFlight.hasRoom(next)) return taken;
    inFlight.add(next);
  }
}

const hasRoom = (inFlight: InFlight, destinationId: string, organizationId?: string) =>
  inFlight.hasRoom(row(destinationId, organizationId));

describe('what the relay has in flight', () => {
  const upTo40 = fc.integer({ min: 1, max: 40 });
  const given = fc.record({ total: upTo40, perDestination: upTo40 });

  /** Starts as many as workflows as there is room for. @returns their ids */
  function startWorkflows(inFlight: InFlight, organizationId: string): string[] {
    const ids: string[] = [];
    while (inFlight.hasRoomForWorkflow(organizationId)) {
      const next = row(`dst_${ids.length}`, organizationId);
      inFlight.add(next);
      inFlight.startsAsWorkflow(next.deliveryId);
      ids.push(next.deliveryId);
    }
    return ids;
  }

  it('gives a destination that has answered another delivery, and keeps the answered one until it is recorded', () => {
    const inFlight = new InFlight(limits(200, 50));
    const first = row('dst_1');
    inFlight.add(first);
    fill(inFlight, 'dst_1');
    inFlight.answered(first.deliveryId);
    inFlight.answered(first.deliveryId);
    expect(fill(inFlight, 'dst_1')).to.equal(1);
    expect(inFlight.size).to.equal(51);
    expect(inFlight.deliveryIds()).to.include(first.deliveryId);
    expect(inFlight.delete(first.deliveryId)).to.equal(true);
    expect(hasRoom(inFlight, 'dst_1'), 'its place at the destination was given back once').to.equal(false);
  });

  it('has at most 50 more of a destination than its limit, answered and not recorded', () => {
    const inFlight = new InFlight(limits(200, 20));
    let started = 0;
    for (let answered = 0; answered < 200; answered += 1) {
      started += fill(inFlight, 'dst_1');
      const [next] = inFlight.deliveryIds().slice(answered);
      if (next) inFlight.answered(next);
    }
    expect(started).to.equal(70);
    expect(inFlight.fullDestinations()).to.deep.equal(['dst_1']);
    expect(hasRoom(inFlight, 'dst_2')).to.equal(true);
    const [recorded = ''] = inFlight.deliveryIds();
    expect(inFlight.isAwaited(recorded)).to.equal(true);
    inFlight.delete(recorded);
    expect(fill(inFlight, 'dst_1')).to.equal(1);
  });

  it('gives a destination as many as it copes with, less what its retries have', () => {
    const given = limits(200, 50);
    const inFlight = new InFlight(given);
    given.concurrency.setMaximum('dst_1', 3);
    expect(given.concurrency.tryAcquire('dst_1'), 'a retry').to.equal(true);
    expect(fill(inFlight, 'dst_1')).to.equal(2);
    expect(given.concurrency.tryAcquire('dst_1'), 'one more retry').to.equal(false);
    given.concurrency.release('dst_1');
    expect(fill(inFlight, 'dst_1')).to.equal(1);
    const [first = ''] = inFlight.deliveryIds();
    expect(inFlight.answered(first), 'it was full').to.equal(true);
    expect(given.concurrency.tryAcquire('dst_1')).to.equal(true);
  });

  it('keeps half of all places from slow destinations, however many there are', () => {
    const given = limits(200, 50);
    given.concurrency.isSlow = (id) => id.startsWith('dst_slow');
    const inFlight = new InFlight(given);
    const slow = Array.from({ length: 20 }, (_, number) => fill(inFlight, `dst_slow_${number}`));
    expect(slow.slice(0, 4), 'as much as is left').to.deep.equal([50, 25, 13, 6]);
    expect(Math.min(...slow), 'each is tried').to.equal(1);
    expect(slow.reduce((sum, count) => sum + count, 0)).to.be.at.most(100 + 20);
    expect(fill(inFlight, 'dst_healthy'), 'without the rule there would be none').to.be.at.least(12);
  });

  it('never has more than three quarters of its total of one organization, and room for a new destination until then', () => {
    const steps = fc.array(fc.record({ destination: fc.integer({ min: 0, max: 9 }), ends: fc.boolean() }));
    fc.assert(
      fc.property(given, steps, ({ total, perDestination }, taken) => {
        const inFlight = new InFlight(limits(total, perDestination));
        for (const { destination, ends } of taken) {
          const [oldest] = inFlight.deliveryIds();
          if (ends && oldest) inFlight.delete(oldest);
          else if (hasRoom(inFlight, `dst_${destination}`)) inFlight.add(row(`dst_${destination}`));
          const most = Math.max(1, Math.floor((total * 3) / 4));
          expect(inFlight.size).to.be.at.most(most);
          expect(hasRoom(inFlight, 'dst_new')).to.equal(inFlight.size < most);
        }
      }),
    );
  });

  describe('of several organizations', () => {
    it('leaves one workflows, however many destinations of another hang', () => {
      const inFlight = new InFlight({ ...limits(200, 50), workflows: 20 });
      const [first = ''] = startWorkflows(inFlight, 'org_greedy');
      expect(inFlight.size, 'three quarters').to.equal(15);
      expect(startWorkflows(inFlight, 'org_other')).to.have.length(3);
      inFlight.delete(first);
      expect(inFlight.hasRoomForWorkflow('org_greedy')).to.equal(false);
      expect(inFlight.hasRoomForWorkflow('org_third')).to.equal(true);
    });

    it('leaves the next one a share, however many have deliveries that are answered and wait to be recorded', () => {
      const inFlight = new InFlight(limits(200, 50));
      /** Destinations answer at once; what fails waits for its turn at Temporal. */
      function flood(organizationId: string): void {
        for (let at = 0; at < 50; at += 1) {
          fill(inFlight, `dst_${organizationId}_${at}`, organizationId);
          for (const id of inFlight.deliveryIds()) inFlight.answered(id);
        }
      }
      flood('org_1');
      expect(inFlight.size, 'three quarters').to.equal(150);
      flood('org_2');
      expect(inFlight.size).to.equal(187);
      expect(inFlight.roomFor('org_3')).to.equal(9);
      flood('org_3');
      expect(hasRoom(inFlight, 'dst_other', 'org_4')).to.equal(true);
      expect(inFlight.organizations().map(({ left }) => left)).to.deep.equal([0, 0, 0]);
      for (const id of inFlight.deliveryIds()) inFlight.delete(id);
      expect([inFlight.roomFor('org_1'), inFlight.roomFor()]).to.deep.equal([150, 150]);
      expect(inFlight.organizations()).to.deep.equal([]);
    });

    it('has room for a new one until the last place', () => {
      const steps = fc.array(fc.record({ organization: fc.integer({ min: 0, max: 5 }), ends: fc.boolean() }));
      fc.assert(
        fc.property(given, steps, ({ total, perDestination }, taken) => {
          const inFlight = new InFlight(limits(total, perDestination));
          for (const { organization, ends } of taken) {
            const [oldest] = inFlight.deliveryIds();
            const next = row(`dst_${organization}`, `org_${organization}`);
            if (ends && oldest) inFlight.delete(oldest);
            else if (inFlight.hasRoom(next)) inFlight.add(next);
            expect(hasRoom(inFlight, 'dst_new', 'org_new')).to.equal(inFlight.size < total);
          }
        }),
      );
    });
  });

  it('has what stays looked up, and again after a while', () => {
    let now = 0;
    const inFlight = new InFlight(limits(200, 50), () => now);
    const stays = row('dst_1');
    inFlight.add(stays);
    expect(inFlight.takeOverdue()).to.deep.equal([]);
    now = 5000;
    expect(inFlight.takeOverdue()).to.deep.equal([{ row: stays, forMs: 5000, isEarly: false }]);
    expect(inFlight.takeOverdue()).to.deep.equal([]);
    now = 35_000;
    expect(inFlight.takeOverdue()).to.deep.equal([{ row: stays, forMs: 35_000, isEarly: false }]);
  });
});
