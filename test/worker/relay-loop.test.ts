// When a relay claims.

import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { RelayLoop, type RelayLoopDeps } from '../../worker/relay/loop.ts';
import { useClock } from '../support/clock.ts';

// As of the API (api/ingest/event-writer.ts).
const NOTIFY_EVERY_MS = 250;
const SECOND_MS = 1000;

describe('the loop of a relay', () => {
  const { pass } = useClock();

  /** Counts rounds, which find nothing. */
  function start(given: Partial<RelayLoopDeps> = {}) {
    const seen = { rounds: 0, errors: [] as unknown[] };
    const { round = async () => false, ...others } = given;
    const loop = new RelayLoop({
      owns: () => true,
      free: () => 1,
      hears: () => true,
      workers: () => 1,
      hasMore: () => false,
      isSwept: () => true,
      look: () => {},
      dueInMs: () => Number.POSITIVE_INFINITY,
      onError: (error) => seen.errors.push(error),
      ...others,
      round(isQuiet) {
        seen.rounds += 1;
        return round(isQuiet);
      },
    });
    const roundsIn = async (ms: number) => {
      const before = seen.rounds;
      await pass(ms);
      return seen.rounds - before;
    };
    return { loop, seen, roundsIn };
  }

  it('starts when it owns shards', async () => {
    let owns = false;
    const { loop, roundsIn } = start({ owns: () => owns });
    expect([await roundsIn(SECOND_MS), loop.state]).to.deep.equal([0, 'starting']);
    owns = true;
    loop.wake();
    expect([await roundsIn(1), loop.state]).to.deep.equal([1, 'active']);
    owns = false;
    await pass(20);
    expect(loop.state).to.equal('starting');
  });

  it('claims until everything was examined since the last news, then rests until it is notified', async () => {
    let examined = false;
    const { loop, roundsIn } = start({ isSwept: () => examined });
    expect(await roundsIn(SECOND_MS)).to.be.greaterThan(50);
    expect(loop.state).to.equal('active');
    examined = true;
    await pass(20);
    expect(loop.state).to.equal('idle');
    // A notification that got lost is made up for after ten seconds.
    expect(await roundsIn(9 * SECOND_MS)).to.equal(0);
    expect(await roundsIn(SECOND_MS)).to.equal(1);
    loop.wake();
    expect(await roundsIn(1)).to.equal(1);
    expect(loop.state).to.equal('active');
  });

  it('polls while it is not notified, and is ready for what is due', async () => {
    for (const given of [{ hears: () => false }, { dueInMs: () => 20 }]) {
      const { loop, roundsIn } = start(given);
      await pass(600);
      expect(loop.state).to.equal('idle');
      expect(await roundsIn(200)).to.be.greaterThan(1);
    }
  });

  it('claims nothing while it is full', async () => {
    let free = 0;
    const { loop, roundsIn } = start({ free: () => free });
    await pass(1);
    expect(loop.state).to.equal('full');
    loop.wake();
    expect(await roundsIn(SECOND_MS)).to.equal(0);
    free = 1;
    loop.wake();
    expect(await roundsIn(20)).to.be.greaterThan(0);
    expect(loop.state).to.equal('active');
  });

  it('backs off after an error, however much news comes, and goes on then', async () => {
    let fails = true;
    const { loop, seen, roundsIn } = start({
      async round() {
        if (fails) throw new Error('the database is away');
        return false;
      },
    });
    await pass(1);
    expect([loop.state, seen.rounds]).to.deep.equal(['backing off', 1]);
    fails = false;
    for (let times = 0; times < 9; times += 1) {
      loop.wake();
      expect(await roundsIn(100)).to.equal(0);
    }
    expect(loop.state).to.equal('backing off');
    expect(await roundsIn(100)).to.be.greaterThan(0);
    expect(seen.errors).to.have.length(1);
  });

  it('claims nothing any more when it was stopped during a round', async () => {
    const gate = Promise.withResolvers<boolean>();
    const { loop, seen } = start({ round: () => gate.promise });
    await pass(1);
    const stopped = loop.stop();
    gate.reject(new Error('the database is away'));
    await stopped;
    await pass(2 * SECOND_MS);
    expect([loop.state, seen.rounds]).to.deep.equal(['draining', 1]);
  });

  it('leaves nothing behind that the API commits without a notification, however late in its silence', async () => {
    let waiting = 0;
    let notifiedAt = Number.NEGATIVE_INFINITY;
    let notified = 0;
    const { loop, seen } = start({
      async round() {
        const found = waiting;
        await delay(seen.rounds % 6);
        waiting -= found;
        return found > 0;
      },
    });
    for (let commits = 0; commits < 100; commits += 1) {
      waiting += 1;
      if (performance.now() - notifiedAt >= NOTIFY_EVERY_MS) {
        notifiedAt = performance.now();
        notified += 1;
        loop.wake();
      }
      // Many of them fall into the last moments of the silence.
      await pass(commits % 2 === 0 ? NOTIFY_EVERY_MS - 1 - (commits % 5) : (commits * 37) % 700);
      if (loop.state === 'idle') expect(waiting, 'what waits while it rests').to.equal(0);
    }
    await pass(600);
    expect([loop.state, waiting]).to.deep.equal(['idle', 0]);
    expect(notified).to.be.within(1, 99);
  });
});
