import { expect } from 'chai';
import { type AnswerKind, DestinationLimit, type LimitRange } from '../../core/delivery/destination-limit.ts';

const RANGE: LimitRange = { hanging: 4, initial: 50, ceiling: 500 };

interface Second {
  most: number;
  answers: number;
  refused: number;
}

/** What a receiver does with a request that it gets as one of so many at a time, at ms since the start. */
type Receiver = (underWay: number, at: number) => { latency: number; kind?: AnswerKind };

/** Small and always the same, so that a test never fails by chance. */
function randomNumbers(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/**
 * Sends as much as the limit allows. Latencies vary by 10 %.
 * @returns what happened in each second of the simulated time
 */
function simulate(receiver: Receiver, seconds: number): Second[] {
  const limit = new DestinationLimit();
  const random = randomNumbers();
  const ending = new Map<number, (() => void)[]>();
  const result: Second[] = [];
  let underWay = 0;
  for (let now = 0; now < seconds * 1000; now += 1) {
    if (now % 1000 === 0) result.push({ most: 0, answers: 0, refused: 0 });
    const second = result.at(-1);
    if (!second) throw new Error('there is no second');
    for (const end of ending.get(now) ?? []) end();
    ending.delete(now);
    while (underWay < limit.value(RANGE)) {
      underWay += 1;
      const [startedAt, atSending] = [now, underWay];
      const { latency, kind = 'answered' } = receiver(underWay, now);
      const at = now + Math.max(1, Math.round(latency * (0.9 + 0.2 * random())));
      const end = () => {
        const then = result.at(-1) ?? second;
        then.answers += 1;
        if (kind !== 'answered') then.refused += 1;
        limit.observe({ startedAt, at, underWay: Math.max(atSending, underWay), kind }, RANGE);
        underWay -= 1;
      };
      ending.set(at, [...(ending.get(at) ?? []), end]);
    }
    second.most = Math.max(second.most, underWay);
  }
  return result;
}

const refusedIf = (isRefused: boolean): AnswerKind => (isRefused ? 'refused' : 'answered');
const isDown = (at: number) => at >= 20_000 && at < 60_000;
const hangs: Receiver = (_, at) => (isDown(at) ? { latency: 5000, kind: 'silent' } : { latency: 100 });
const refusesAll: Receiver = (_, at) => ({ latency: 100, kind: refusedIf(isDown(at)) });
const copesWith = (count: (at: number) => number, refusalMs: number): Receiver => {
  return (underWay, at) => (underWay > count(at) ? { latency: refusalMs, kind: 'refused' } : { latency: 100 });
};
const random = randomNumbers();
const rarely: Receiver = () => ({ latency: 300, kind: refusedIf(random() < 0.01) });
const of = (count: number) => () => count;
const more = copesWith((at) => (at < 20_000 ? 40 : 400), 100);

interface Expected {
  most: [number, number];
  refused?: number;
  answers?: number;
}
/** What happens from one second to another: attempts under way, the part that is refused, and answers a second. */
const EXPECTED: [what: string, Receiver, [from: number, to: number], Expected][] = [
  ['grows where more bring more answers', () => ({ latency: 300 }), [10, 20], { most: [500, 500], answers: 1600 }],
  ['grows slowly where answers wait', (n) => ({ latency: 2.5 * Math.max(40, n) }), [0, 60], { most: [40, 250] }],
  ['finds how many', copesWith(of(40), 100), [10, 120], { most: [38, 42], refused: 0.03, answers: 330 }],
  ['finds how many, refused at once', copesWith(of(40), 5), [10, 120], { most: [38, 42], refused: 0.01, answers: 330 }],
  ['finds how many, where those are few', copesWith(of(3), 5), [10, 120], { most: [3, 4], refused: 0.15, answers: 25 }],
  ['finds that it copes with more now', more, [60, 120], { most: [350, 402], refused: 0.01 }],
  ['falls to one while all is refused', refusesAll, [25, 60], { most: [1, 1] }],
  ['returns after that', refusesAll, [65, 120], { most: [500, 500], refused: 0 }],
  ['falls to a few where nothing is answered', hangs, [35, 60], { most: [4, 4] }],
  ['returns when it answers again', hangs, [70, 120], { most: [500, 500], refused: 0 }],
  ['stays high where one in a hundred is refused', rarely, [0, 60], { most: [80, 500] }],
];

describe('the limit of attempts under way at a destination', () => {
  for (const [what, receiver, [from, to], { most, refused = 1, answers = 0 }] of EXPECTED) {
    it(what, () => {
      const seconds = simulate(receiver, to).slice(from);
      const sum = (pick: (second: Second) => number) => seconds.reduce((total, each) => total + pick(each), 0);
      const all = sum((second) => second.answers);
      expect(Math.max(...seconds.map((second) => second.most)), 'most under way').to.be.within(...most);
      expect(sum((second) => second.refused) / all, 'refused').to.be.at.most(refused);
      expect(all / seconds.length, 'answers a second').to.be.at.least(answers);
    });
  }

  /** How many may be under way after these answers. */
  const limitAfter = (answers: [startedAt: number, at: number, kind: AnswerKind][], underWay = 50, range = RANGE) => {
    const limit = new DestinationLimit();
    for (const [startedAt, at, kind] of answers) limit.observe({ startedAt, at, underWay, kind }, range);
    return limit.value(range);
  };
  const times = (count: number, answer: (n: number) => [number, number, AnswerKind]) =>
    Array.from({ length: count }, (_, n) => answer(n));

  it('takes no notice of two refusals: three are overload', () => {
    const refused = (count: number) => limitAfter(times(count, () => [0, 100, 'refused']));
    expect([refused(2), refused(3)]).to.deep.equal([50, 35]);
  });

  it('falls once a round trip', () => {
    const first = times(50, (n) => [0, 100 + n, 'refused']);
    expect(limitAfter(first)).to.equal(35);
    expect(limitAfter([...first, ...times(3, () => [200, 300, 'refused'])])).to.equal(24);
  });

  it('returns at once where the only attempt was refused: the load was not the reason', () => {
    const refused = times(3, (n) => [20 * n, 20 * n + 10, 'refused']);
    const range = { ...RANGE, initial: 1 };
    expect(limitAfter(refused, 1, range)).to.equal(1);
    expect(limitAfter([...refused, [100, 110, 'answered']], 1, range)).to.equal(2);
  });

  it('falls in steps when connections are closed at once', () =>
    expect(limitAfter(times(10, (n) => [999, 1000 + n, 'silent']))).to.equal(35));
});
