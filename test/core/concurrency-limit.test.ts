import { expect } from 'chai';
import { type AnswerKind, ConcurrencyLimit, type LimitRange } from '../../core/concurrency-limit.ts';
import { DestinationPlaces } from '../../core/destination-places.ts';

const RANGE: LimitRange = { floor: 4, initial: 50, ceiling: 500 };

interface Served {
  latency: number;
  /** By default it is answered; decided when it comes, or at its end. */
  kind?: AnswerKind | (() => AnswerKind);
}

/** What a receiver does with a request that it gets as one of so many at a time; at ms since the start. */
type Receiver = (underWay: number, at: number) => Served;

const refusedIf = (isRefused: boolean): AnswerKind => (isRefused ? 'refused' : 'answered');

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

/** One destination of a worker that is alone. */
class Destination {
  now = 0;
  readonly #places = new DestinationPlaces(RANGE.ceiling, () => this.now);

  get limit(): number {
    return this.#places.limitOf('destination');
  }

  set maximum(places: number) {
    this.#places.setMaximum('destination', places);
  }

  send(): (kind: AnswerKind) => void {
    return this.#places.sending('destination');
  }
}

interface SimulateOptions {
  seconds: number;
  /** What is due; by default there is always more. */
  perSecond?: number;
  /** By which part latencies vary. */
  jitter?: number;
  destination?: Destination;
}

/** Sends to a receiver as much as the limit allows, or as is due. @returns what happened in each second of the simulated time */
function simulate(
  receiver: Receiver,
  { seconds, perSecond = Number.POSITIVE_INFINITY, jitter = 0.1, destination = new Destination() }: SimulateOptions,
): Second[] {
  const random = randomNumbers();
  const ending = new Map<number, (() => void)[]>();
  const startedAt = destination.now;
  let underWay = 0;
  const result: Second[] = [];
  let sent = 0;
  for (let now = 0; now < seconds * 1000; now += 1) {
    destination.now = startedAt + now;
    if (now % 1000 === 0) result.push({ limit: 0, most: 0, answers: 0, refused: 0 });
    const second = result.at(-1);
    if (!second) throw new Error('there is no second');
    for (const end of ending.get(now) ?? []) end();
    ending.delete(now);
    for (; underWay < destination.limit && sent < (perSecond * now) / 1000; sent += 1) {
      underWay += 1;
      const { latency, kind = 'answered' } = receiver(underWay, now);
      const answered = destination.send();
      const endsAt = now + Math.max(1, Math.round(latency * (1 + jitter * (2 * random() - 1))));
      const end = () => {
        const outcome = typeof kind === 'string' ? kind : kind();
        underWay -= 1;
        const then = result.at(-1) ?? second;
        then.answers += 1;
        if (outcome !== 'answered') then.refused += 1;
        answered(outcome);
      };
      ending.set(endsAt, [...(ending.get(endsAt) ?? []), end]);
    }
    second.limit = Math.max(second.limit, destination.limit);
    second.most = Math.max(second.most, underWay);
  }
  return result;
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
      const receiver: Receiver = (count) => ({ latency: count > 40 && all ? 200 : 100, kind: refusedIf(count > 40) });
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

  for (const jitter of [0, 0.1]) {
    it(`finds what a receiver takes that fails with all it has beyond 40, when its answers vary by ${100 * jitter} %`, () => {
      // Numbers its failures: what came before the last one, and is answered after it, has failed.
      let failures = 0;
      const receiver: Receiver = (count) => {
        if (count > 40) failures += 1;
        const before = count > 40 ? -1 : failures;
        return { latency: 100, kind: () => refusedIf(before !== failures) };
      };
      // Without jitter answers come in the order in which they were asked for: the first of them was sent when few were under way.
      const seconds = simulate(receiver, { seconds: 120, perSecond: 450, jitter });
      for (let at = 5; at + 5 <= seconds.length; at += 5) {
        expect(refusedPart(seconds.slice(at, at + 5)), `errors in 5 s after ${at} s`).to.be.at.most(0.05);
      }
      const last = from(seconds, 5);
      expect(sum(last, ({ answers }) => answers) / last.length, 'answers a second').to.be.at.least(300);
      expect(most(last, (second) => second.most)).to.be.at.most(45);
    });
  }

  // The machine of the worker or of the receiver is short of CPU now and then: every answer is late, for another reason than the limit.
  for (const [everyMs, forMs, latency] of [
    [7000, 800, 500],
    [3000, 500, 300],
    [10_000, 2000, 1000],
  ] as const) {
    it(`remembers what a receiver takes while all its answers are late for ${forMs} ms every ${everyMs} ms`, () => {
      let failures = 0;
      const receiver: Receiver = (count, at) => {
        if (count > 40) failures += 1;
        const before = count > 40 ? -1 : failures;
        const isLate = at > 5000 && at % everyMs < forMs;
        return { latency: isLate ? latency : 100, kind: () => refusedIf(before !== failures) };
      };
      const seconds = simulate(receiver, { seconds: 120, perSecond: 450 });
      for (let at = 10; at + 5 <= seconds.length; at += 5) {
        expect(refusedPart(seconds.slice(at, at + 5)), `errors in 5 s after ${at} s`).to.be.at.most(0.05);
      }
      expect(most(from(seconds, 10), (second) => second.most)).to.be.at.most(60);
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
    const seconds = simulate(receiver, { seconds: 60 });
    const before = seconds[9]?.limit ?? 0;
    expect(before).to.be.at.least(100);
    expect(Math.min(...seconds.slice(15, 30).map((second) => second.limit))).to.be.at.most(before / 3);
    expect(most(from(seconds, 50), (second) => second.limit)).to.be.at.least(100);
  });

  it('goes to the floor while nothing is answered, and up again soon after', () => {
    const receiver: Receiver = (_count, at) => {
      const isDown = at > 5000 && at < 25_000;
      return { latency: isDown ? 1000 : 100, kind: isDown ? 'silent' : 'answered' };
    };
    const seconds = simulate(receiver, { seconds: 45 });
    expect(most(seconds.slice(21, 24), (second) => second.limit)).to.equal(RANGE.floor);
    expect(most(seconds.slice(35), (second) => second.limit)).to.be.at.least(RANGE.initial);
  });

  it('goes to the floor at once when a busy destination begins to hang', () => {
    const receiver: Receiver = (_count, at) => (at < 20_000 ? { latency: 300 } : { latency: 5000, kind: 'silent' });
    const seconds = simulate(receiver, { seconds: 30 });
    expect(most(seconds.slice(15, 20), ({ limit }) => limit)).to.be.at.least(300);
    expect(most(seconds.slice(26), ({ limit }) => limit)).to.equal(RANGE.floor);
  });

  it('continues in steps when connections are closed at once', () => {
    const limit = new ConcurrencyLimit(RANGE);
    for (let at = 1000; at < 1010; at += 1) limit.observe({ startedAt: 999, at, underWay: 50, kind: 'silent' });
    expect(limit.value).to.equal(35);
  });

  for (const part of [0.002, 0.01]) {
    it(`grows as well when ${100 * part} % of the answers are refusals, whatever is under way`, () => {
      const random = randomNumbers();
      const receiver: Receiver = () => ({ latency: 300, kind: refusedIf(random() < part) });
      const last = from(simulate(receiver, { seconds: 120 }), 30);
      expect(sum(last, ({ answers }) => answers) / last.length, 'answers a second').to.be.at.least(1000);
    });
  }

  it('finds more room when a receiver that was at its limit copes with more', () => {
    const receiver: Receiver = (count, at) => ({ latency: 100, kind: refusedIf(count > (at < 60_000 ? 40 : 400)) });
    const seconds = simulate(receiver, { seconds: 240 });
    expect(most(seconds.slice(0, 60), (second) => second.most)).to.be.at.most(60);
    expect(most(seconds, (second) => second.limit)).to.be.at.least(200);
  });

  it('takes no notice of single refusals', () => {
    const limit = new ConcurrencyLimit(RANGE);
    const answer = { startedAt: 0, at: 100, underWay: 1, kind: 'refused' } as const;
    for (let count = 0; count < 2; count += 1) limit.observe(answer);
    expect(limit.value).to.equal(RANGE.initial);
    limit.observe(answer);
    expect(limit.value, 'three are overload').to.be.below(RANGE.initial);
  });

  it('counts what was sent before a decrease to no second one', () => {
    const limit = new ConcurrencyLimit(RANGE);
    const refuse = (startedAt: number, at: number) => limit.observe({ startedAt, at, underWay: 50, kind: 'refused' });
    for (let at = 0; at < 50; at += 1) refuse(0, 100 + at);
    expect(limit.value).to.equal(35);
    for (let at = 0; at < 3; at += 1) refuse(200, 300);
    expect(limit.value).to.equal(24);
  });

  it('is never outside of its range, which may change', () => {
    const destination = new Destination();
    const mostAt = (maximum: number) => {
      destination.maximum = maximum;
      return most(
        simulate(() => ({ latency: 50 }), { seconds: 10, destination }),
        ({ limit }) => limit,
      );
    };
    expect([1, 10, 3].map(mostAt)).to.deep.equal([1, 10, 3]);
  });
});
