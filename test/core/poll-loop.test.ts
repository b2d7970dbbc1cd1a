import { expect } from 'chai';
import {
  CachedProbe,
  PollLoop,
  type PollLoopOptions,
  type Pause,
  restAfter,
  UNREACHABLE,
} from '../../core/process/poll-loop.ts';
import { useClock } from '../support/clock.ts';

const LONG_MS = 3_600_000;

describe('a poll loop', () => {
  const { pass } = useClock();

  /** A loop whose rounds are counted; `rest` says what follows each, or throws. */
  function start(rest: (round: number) => Pause | Promise<Pause>, options: Partial<PollLoopOptions> = {}) {
    const rounds = { began: 0, ended: 0 };
    const loop = new PollLoop({
      async round() {
        rounds.began += 1;
        try {
          return await rest(rounds.began);
        } finally {
          rounds.ended += 1;
        }
      },
      onError: () => ({ ms: 1 }),
      ...options,
    });
    return { loop, rounds };
  }

  it('runs round after round, one at a time', async () => {
    let running = 0;
    let atOnce = 0;
    const { rounds } = start(async (round) => {
      running += 1;
      atOnce = Math.max(atOnce, running);
      await pass(0);
      running -= 1;
      return { ms: round % 2 };
    });
    await pass(50);
    expect(rounds.began).to.be.greaterThan(20);
    expect(atOnce).to.equal(1);
  });

  it('rests as long as its round says', async () => {
    const { rounds } = start(() => ({ ms: 20 }));
    for (let round = 1; round <= 3; round += 1) {
      await pass(19);
      expect(rounds.began).to.equal(round);
      await pass(1);
    }
  });

  it('begins the next round early when it is nudged, and not before the least rest', async () => {
    const { loop, rounds } = start(() => ({ ms: LONG_MS, wokenMs: 30 }));
    await pass(0);
    for (let round = 1; round <= 3; round += 1) {
      for (let times = 0; times < 3; times += 1) loop.wake();
      await pass(29);
      expect(rounds.began).to.equal(round);
      await pass(1);
      expect(rounds.began).to.equal(round + 1);
    }
    await pass(31);
    loop.wake();
    await pass(0);
    expect(rounds.began, 'after the least rest').to.equal(5);
  });

  it('does not rest longer because of a nudge', async () => {
    const { loop, rounds } = start(() => ({ ms: 20, wokenMs: LONG_MS }));
    await pass(1);
    loop.wake();
    await pass(19);
    expect(rounds.began).to.equal(2);
  });

  it('remembers a nudge that comes during a round', async () => {
    const gate = Promise.withResolvers<Pause>();
    const { loop, rounds } = start((round) => (round === 1 ? gate.promise : { ms: LONG_MS, wokenMs: 1 }));
    await pass(0);
    loop.wake();
    gate.resolve({ ms: LONG_MS, wokenMs: 1 });
    await pass(1);
    expect(rounds.began).to.equal(2);
    await pass(100);
    expect(rounds.began, 'the nudge counts once').to.equal(2);
  });

  it('keeps to a rest that no nudge shortens', async () => {
    const gate = Promise.withResolvers<Pause>();
    const { loop, rounds } = start(() => gate.promise);
    await pass(0);
    loop.wake();
    gate.resolve({ ms: LONG_MS });
    await pass(100);
    loop.wake();
    await pass(100);
    expect(rounds.began).to.equal(1);
    expect(loop.isPaused).to.equal(true);
  });

  it('continues after a round that fails, with the rest for errors', async () => {
    const errors: unknown[] = [];
    const { rounds } = start(
      (round) => {
        if (round <= 2) throw new Error(`round ${round}`);
        return { ms: LONG_MS };
      },
      {
        onError(error) {
          errors.push(error);
          return { ms: 10 };
        },
      },
    );
    await pass(19);
    expect(rounds.began).to.equal(2);
    await pass(1);
    expect(rounds.began).to.equal(3);
    expect(errors.map(String)).to.deep.equal(['Error: round 1', 'Error: round 2']);
  });

  it('stops in a rest at once', async () => {
    const { loop, rounds } = start(() => ({ ms: LONG_MS }));
    await pass(0);
    await loop.stop();
    loop.wake();
    await pass(0);
    expect(rounds.began).to.equal(1);
    expect(loop.isPaused).to.equal(false);
  });

  it('stops when the round under way has ended', async () => {
    const gate = Promise.withResolvers<Pause>();
    const { loop, rounds } = start(() => gate.promise);
    await pass(0);
    const stopped = loop.stop();
    expect(rounds.ended).to.equal(0);
    gate.resolve({ ms: 0 });
    await stopped;
    expect(rounds).to.deep.equal({ began: 1, ended: 1 });
  });
});

it('a poll is followed by a rest of nineteen times its duration, within bounds', () => {
  const rests = [0, 50, 100, 500, 600, 60_000].map(restAfter);
  expect(rests).to.deep.equal([1000, 1000, 1900, 9500, 10_000, 10_000]);
});

describe('a probe', () => {
  it('asks once for all who want to know', async () => {
    let asked = 0;
    const probe = new CachedProbe(() => {
      asked += 1;
      return Promise.resolve(`problem ${asked}`);
    });
    expect(probe.last).to.equal(undefined);
    expect(await Promise.all([probe.within(1000), probe.within(1000)])).to.deep.equal(['problem 1', 'problem 1']);
    expect([probe.last, asked]).to.deep.equal(['problem 1', 1]);
  });

  it('says nothing before there is an answer, and that a server cannot be reached', async () => {
    const answer = Promise.withResolvers<string | null>();
    const slow = new CachedProbe(() => answer.promise);
    expect(await slow.within(1)).to.equal(undefined);
    answer.resolve(null);
    expect(await slow.within(1000)).to.equal(null);
    expect(await new CachedProbe(() => Promise.reject(new Error('gone'))).within(1000)).to.equal(UNREACHABLE);
  });
});
