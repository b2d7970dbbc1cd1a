import { expect } from 'chai';
import {
  CachedProbe,
  PollLoop,
  type PollLoopOptions,
  type Pause,
  restAfter,
  UNREACHABLE,
} from '../../core/process/poll-loop.ts';
import { until } from '../support/until.ts';

const SHORT: Pause = { ms: 1 };
/** Nothing but a nudge, a wake or a stop ends it within a test. */
const LONG_MS = 3_600_000;
// Node's timers may fire so much early.
const TIMER_MS = 1.5;

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a poll loop', () => {
  let loop: PollLoop | undefined;
  afterEach(async () => {
    await loop?.stop();
    loop = undefined;
  });

  /** A loop whose rounds are counted and timed; `rest` says what follows each, or throws. */
  function start(rest: (round: number) => Pause | Promise<Pause>, options: Partial<PollLoopOptions> = {}) {
    const began: number[] = [];
    const ended: number[] = [];
    const started = new PollLoop({
      async round() {
        began.push(performance.now());
        try {
          return await rest(began.length);
        } finally {
          ended.push(performance.now());
        }
      },
      onError: () => SHORT,
      ...options,
    });
    loop = started;
    const rests = (after: number) =>
      until(`the rest after round ${after}`, () => ended.length === after && started.isPaused);
    return { loop: started, began, ended, rests };
  }

  it('runs round after round, one at a time', async () => {
    let running = 0;
    let atOnce = 0;
    const { began } = start(async (round) => {
      running += 1;
      atOnce = Math.max(atOnce, running);
      await turn();
      running -= 1;
      return { ms: round % 2 };
    });
    await until('many rounds', () => began.length > 20);
    expect(atOnce).to.equal(1);
  });

  it('rests as long as its round says', async () => {
    const { began, ended } = start(() => ({ ms: 20 }));
    await until('three rounds', () => began.length >= 3);
    expect((began[1] ?? 0) - (ended[0] ?? 0)).to.be.at.least(20 - TIMER_MS);
    expect((began[2] ?? 0) - (ended[1] ?? 0)).to.be.at.least(20 - TIMER_MS);
  });

  it('begins the next round early when it is nudged, and not before the least rest', async () => {
    const { loop, began, ended, rests } = start(() => ({ ms: LONG_MS, wokenMs: 30 }));
    for (let round = 1; round <= 3; round += 1) {
      await rests(round);
      for (let times = 0; times < 3; times += 1) loop.wake();
      await until('the next round', () => began.length === round + 1);
      expect((began[round] ?? 0) - (ended[round - 1] ?? 0)).to.be.at.least(30 - TIMER_MS);
    }
  });

  it('begins the next round at once when it is nudged after the least rest', async () => {
    const { loop, rests } = start(() => ({ ms: LONG_MS, wokenMs: 0 }));
    await rests(1);
    loop.wake();
    await rests(2);
  });

  it('does not rest longer because of a nudge', async () => {
    const { loop, began } = start(() => ({ ms: 20, wokenMs: LONG_MS }));
    await turn();
    loop.wake();
    await until('the next round', () => began.length >= 2);
  });

  it('remembers a nudge that comes during a round', async () => {
    const gate = Promise.withResolvers<Pause>();
    const { loop, began, rests } = start((round) => (round === 1 ? gate.promise : { ms: LONG_MS, wokenMs: 1 }));
    await until('the first round', () => began.length === 1);
    loop.wake();
    gate.resolve({ ms: LONG_MS, wokenMs: 1 });
    await rests(2);
    expect(began, 'the nudge counts once').to.have.length(2);
  });

  it('keeps to a rest that no nudge shortens', async () => {
    const gate = Promise.withResolvers<Pause>();
    const { loop, began, rests } = start(() => gate.promise);
    await until('the first round', () => began.length === 1);
    loop.wake();
    gate.resolve({ ms: LONG_MS });
    await rests(1);
    loop.wake();
    expect(began).to.have.length(1);
    expect(loop.isPaused).to.equal(true);
  });

  it('continues after a round that fails, with the rest for errors', async () => {
    const errors: unknown[] = [];
    const { rests } = start(
      (round) => {
        if (round <= 2) throw new Error(`round ${round}`);
        return { ms: LONG_MS };
      },
      {
        onError(error) {
          errors.push(error);
          return SHORT;
        },
      },
    );
    await rests(3);
    expect(errors.map(String)).to.deep.equal(['Error: round 1', 'Error: round 2']);
  });

  it('stops in a rest at once', async () => {
    const { loop, began, rests } = start(() => ({ ms: LONG_MS }));
    await rests(1);
    await loop.stop();
    loop.wake();
    expect(began).to.have.length(1);
    expect(loop.isPaused).to.equal(false);
  });

  it('stops when the round under way has ended', async () => {
    const gate = Promise.withResolvers<Pause>();
    const { loop, began, ended } = start(() => gate.promise);
    await until('the first round', () => began.length === 1);
    const stopped = loop.stop();
    expect(ended).to.have.length(0);
    gate.resolve({ ms: 0 });
    await stopped;
    expect([began.length, ended.length]).to.deep.equal([1, 1]);
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
