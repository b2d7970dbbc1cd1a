import { expect } from 'chai';
import { ConcurrencyLimit, type LimitRange } from '../../core/concurrency-limit.ts';

const RANGE: LimitRange = { floor: 4, initial: 50, ceiling: 500 };

interface Served {
  latency: number;
  overloaded?: boolean;
}

/** What a receiver does with a request that it gets as one of so many at a time; at ms since the start. */
type Receiver = (underWay: number, at: number) => Served;

interface Second {
  limit: number;
  most: number;
  answers: number;
  refused: number;
}

/** Small and always the same, so that a test never fails by chance. */
function randomNumbers(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/**
 * Sends to a receiver as much as the limit allows, or as is due.
 * @param perSecond what is due; Infinity: there is always more
 * @returns what happened in each second of the simulated time
 */
function simulate(
  receiver: Receiver,
  { seconds, perSecond = Number.POSITIVE_INFINITY, limit = new ConcurrencyLimit(RANGE) }: SimulateOptions,
): Second[] {
  const random = randomNumbers();
  const ending = new Map<number, { startedAt: number; count: number; overloaded: boolean }[]>();
  let underWay = 0;
  const result: Second[] = [];
  let sent = 0;
  for (let now = 0; now < seconds * 1000; now += 1) {
    if (now % 1000 === 0) result.push({ limit: 0, most: 0, answers: 0, refused: 0 });
    const second = result.at(-1);
    if (!second) throw new Error('there is no second');
    for (const { startedAt, count, overloaded } of ending.get(now) ?? []) {
      underWay -= 1;
      second.answers += 1;
      if (overloaded) second.refused += 1;
      limit.observe({ startedAt, at: now, underWay: count, overloaded });
    }
    ending.delete(now);
    for (; underWay < limit.value && sent < (perSecond * now) / 1000; sent += 1) {
      underWay += 1;
      const { latency, overloaded = false } = receiver(underWay, now);
      const endsAt = now + Math.max(1, Math.round(latency * (0.9 + 0.2 * random())));
      ending.set(endsAt, [...(ending.get(endsAt) ?? []), { startedAt: now, count: underWay, overloaded }]);
    }
    second.limit = Math.max(second.limit, limit.value);
    second.most = Math.max(second.most, underWay);
  }
  return result;
}

interface SimulateOptions {
  seconds: number;
  perSecond?: number;
  limit?: ConcurrencyLimit;
}

const from = (seconds: Second[], second: number) => seconds.slice(second);
const sum = (seconds: Second[], pick: (second: Second) => number) =>
  seconds.reduce((total, each) => total + pick(each), 0);
const most = (seconds: Second[], pick: (second: Second) => number) => Math.max(...seconds.map(pick));
const refusedPart = (seconds: Second[]) =>
  sum(seconds, ({ refused }) => refused) / sum(seconds, ({ answers }) => answers);

describe('the limit of attempts under way at a destination', () => {
  it('grows while more of them bring more answers', () => {
    const seconds = simulate(() => ({ latency: 300 }), { seconds: 20 });
    const last = from(seconds, 10);
    expect(sum(last, ({ answers }) => answers) / last.length, 'answers a second').to.be.at.least(1000);
    expect(most(seconds, ({ limit }) => limit)).to.be.at.most(RANGE.ceiling);
  });

  it('stays where it is when there is no need for more', () => {
    const seconds = simulate(() => ({ latency: 300 }), { seconds: 20, perSecond: 50 });
    expect(most(seconds, ({ limit }) => limit)).to.equal(RANGE.initial);
  });

  for (const all of [true, false]) {
    it(`keeps a receiver that fails beyond 40 ${all ? 'as a whole' : 'for the excess'} below 60, and from failing`, () => {
      // As a whole: whatever is sent while there are too many fails.
      const receiver: Receiver = (count) => ({ latency: count > 40 && all ? 200 : 100, overloaded: count > 40 });
      const seconds = simulate(receiver, { seconds: 120 });
      expect(most(seconds, (second) => second.most)).to.be.at.most(60);
      for (let at = 10; at + 5 <= seconds.length; at += 5) {
        expect(refusedPart(seconds.slice(at, at + 5)), `errors in 5 s after ${at} s`).to.be.at.most(0.05);
      }
      const last = from(seconds, 30);
      expect(sum(last, ({ answers }) => answers) / last.length, 'answers a second').to.be.at.least(250);
      expect(refusedPart(last), 'it is tried seldom').to.be.at.most(0.005);
    });
  }

  it('does not grow when answers only wait for each other', () => {
    // 40 at a time; the others queue inside of the receiver.
    const receiver: Receiver = (count) => ({ latency: 100 * Math.max(1, count / 40) });
    const seconds = simulate(receiver, { seconds: 300 });
    expect(most(seconds, (second) => second.most)).to.be.at.most(70);
  });

  it('shrinks when latency rises by itself, and comes back', () => {
    const receiver: Receiver = (_count, at) => ({ latency: at < 10_000 ? 100 : at < 30_000 ? 2000 : 100 });
    const limit = new ConcurrencyLimit(RANGE);
    const seconds = simulate(receiver, { seconds: 60, limit });
    const before = seconds[9]?.limit ?? 0;
    expect(before).to.be.at.least(100);
    expect(Math.min(...seconds.slice(15, 30).map((second) => second.limit))).to.be.at.most(before / 3);
    expect(most(from(seconds, 50), (second) => second.limit)).to.be.at.least(100);
  });

  it('goes to the floor while nothing is answered, and up again soon after', () => {
    const receiver: Receiver = (_count, at) => {
      const isDown = at > 5000 && at < 25_000;
      return { latency: isDown ? 1000 : 100, overloaded: isDown };
    };
    const seconds = simulate(receiver, { seconds: 45 });
    expect(most(seconds.slice(21, 24), (second) => second.limit)).to.equal(RANGE.floor);
    expect(most(seconds.slice(35), (second) => second.limit)).to.be.at.least(RANGE.initial);
  });

  it('finds more room when a receiver that was at its limit copes with more', () => {
    const receiver: Receiver = (count, at) => ({ latency: 100, overloaded: count > (at < 60_000 ? 40 : 400) });
    const seconds = simulate(receiver, { seconds: 240 });
    expect(most(seconds.slice(0, 60), (second) => second.most)).to.be.at.most(60);
    expect(most(seconds, (second) => second.limit)).to.be.at.least(200);
  });

  it('takes no notice of single refusals', () => {
    const limit = new ConcurrencyLimit(RANGE);
    const answer = { startedAt: 0, at: 100, underWay: 1, overloaded: true };
    limit.observe(answer);
    expect(limit.value).to.equal(RANGE.initial);
    limit.observe(answer);
    expect(limit.value, 'two are overload').to.be.below(RANGE.initial);
  });

  it('counts what was sent before a decrease to no second one', () => {
    const limit = new ConcurrencyLimit(RANGE);
    const refuse = (startedAt: number, at: number) => limit.observe({ startedAt, at, underWay: 50, overloaded: true });
    for (let at = 0; at < 50; at += 1) refuse(0, 100 + at);
    expect(limit.value).to.equal(35);
    for (let at = 0; at < 2; at += 1) refuse(200, 300);
    expect(limit.value).to.equal(24);
  });

  it('is never outside of its range, which may change', () => {
    const limit = new ConcurrencyLimit({ floor: 1, initial: 1, ceiling: 1 });
    simulate(() => ({ latency: 50 }), { seconds: 5, limit });
    expect(limit.value).to.equal(1);
    limit.range = { floor: 1, initial: 10, ceiling: 10 };
    const seconds = simulate(() => ({ latency: 50 }), { seconds: 10, limit });
    expect(most(seconds, (second) => second.limit)).to.equal(10);
    limit.range = { floor: 1, initial: 3, ceiling: 3 };
    expect(limit.value).to.equal(3);
  });
});
