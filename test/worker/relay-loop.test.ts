// When a relay claims.

import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { RelayLoop, type RelayLoopDeps } from '../../worker/relay/loop.ts';
import { until } from '../support/until.ts';

// As of the API (api/ingest/event-writer.ts).
const NOTIFY_EVERY_MS = 250;

describe('the loop of a relay', () => {
  let loop: RelayLoop | undefined;
  afterEach(async () => {
    await loop?.stop();
    loop = undefined;
  });

  /** Counts rounds, which find nothing. */
  function start(given: Partial<RelayLoopDeps> = {}) {
    const seen = { rounds: 0, errors: [] as unknown[] };
    const { round = async () => false, ...others } = given;
    const started = new RelayLoop({
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
    loop = started;
    const is = (state: typeof started.state) => until(`it to be ${state}`, () => started.state === state);
    return { loop: started, seen, is };
  }

  it('starts when it owns shards', async () => {
    let owns = false;
    const { loop: started, seen, is } = start({ owns: () => owns });
    await delay(20);
    expect([started.state, seen.rounds]).to.deep.equal(['starting', 0]);
    owns = true;
    started.wake();
    await is('active');
    owns = false;
    await is('starting');
  });

  it('claims until everything was examined since the last news, then rests until it is notified', async () => {
    let examined = false;
    const { loop: started, seen, is } = start({ isSwept: () => examined });
    await until('many rounds', () => seen.rounds > 50);
    expect(started.state).to.equal('active');
    examined = true;
    await is('idle');
    const before = seen.rounds;
    await delay(100);
    expect(seen.rounds).to.equal(before);
    started.wake();
    await until('a round', () => seen.rounds > before);
    expect(started.state).to.equal('active');
  });

  it('goes on as long as it finds something', async () => {
    let waiting = 60;
    const { seen, is } = start({ round: async () => waiting-- > 0 });
    await is('idle');
    expect(seen.rounds).to.be.greaterThan(60);
  });

  it('claims sooner again when a claim was too small for a destination', async () => {
    const roundsWith = async (hasMore: boolean) => {
      const { loop: started, seen } = start({ round: async () => true, hasMore: () => hasMore });
      await delay(300);
      await started.stop();
      return seen.rounds;
    };
    expect(await roundsWith(true)).to.be.greaterThan(1.3 * (await roundsWith(false)));
  });

  it('polls while it is not notified, and is ready for what is due', async () => {
    for (const given of [{ hears: () => false }, { dueInMs: () => 20 }]) {
      const { loop: started, seen, is } = start(given);
      await is('idle');
      const before = seen.rounds;
      await until('rounds without news', () => seen.rounds > before + 1);
      await started.stop();
    }
  });

  it('claims nothing while it is full', async () => {
    let free = 0;
    const { loop: started, seen, is } = start({ free: () => free });
    await is('full');
    started.wake();
    await delay(50);
    expect(seen.rounds).to.equal(0);
    free = 1;
    started.wake();
    await is('active');
  });

  it('backs off after an error, however much news comes, and goes on then', async () => {
    let fails = true;
    const {
      loop: started,
      seen,
      is,
    } = start({
      async round() {
        if (fails) throw new Error('the database is away');
        return false;
      },
    });
    await is('backing off');
    fails = false;
    for (let times = 0; times < 10; times += 1) {
      started.wake();
      await delay(10);
    }
    expect([started.state, seen.rounds]).to.deep.equal(['backing off', 1]);
    await until('the next round', () => seen.rounds > 1);
    expect(seen.errors).to.have.length(1);
  });

  it('claims nothing any more when it was stopped during a round', async () => {
    const gate = Promise.withResolvers<boolean>();
    const { loop: started, seen } = start({ round: () => gate.promise });
    await until('a round', () => seen.rounds === 1);
    const stopped = started.stop();
    gate.reject(new Error('the database is away'));
    await stopped;
    expect([started.state, seen.rounds]).to.deep.equal(['draining', 1]);
  });

  it('leaves nothing behind that the API commits without a notification, however late in its silence', async () => {
    let waiting = 0;
    let notifiedAt = Number.NEGATIVE_INFINITY;
    let notified = 0;
    const { loop: started } = start({
      async round() {
        const found = waiting > 0;
        await delay(Math.random() * 5);
        waiting = found ? 0 : waiting;
        return found;
      },
    });
    const commit = () => {
      waiting += 1;
      if (performance.now() - notifiedAt < NOTIFY_EVERY_MS) return;
      notifiedAt = performance.now();
      notified += 1;
      started.wake();
    };
    for (let commits = 0; commits < 25; commits += 1) {
      commit();
      // Many of them fall into the last moments of the silence.
      await delay(commits % 2 === 0 ? NOTIFY_EVERY_MS - 3 : Math.random() * 400);
      if (started.state === 'idle') expect(waiting, 'what waits while it rests').to.equal(0);
    }
    await until('it to rest', () => started.state === 'idle');
    expect(waiting).to.equal(0);
    expect(notified).to.be.within(1, 24);
  });
});
