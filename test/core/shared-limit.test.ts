// Fifty workers at a destination that copes with fewer attempts than that: their places, and a model of what they tell each other
// (db/delivery/destination-turns.ts), in simulated time.
import { expect } from 'chai';
import type { AnswerKind } from '../../core/concurrency-limit.ts';
import { DestinationPlaces } from '../../core/destination-places.ts';
import type { SharedReport, TurnAnswer, TurnRequest } from '../../core/destination-turn.ts';
import { beginShared, nextShared, NOTHING_SEEN, type SharedLimit } from '../../core/shared-limit.ts';

const ID = 'dst_1';
const WORKERS = 50;
const STEP_MS = 5;
// As worker/concurrency-exchange.ts.
const ASK_MS = 250;
const ASK_AT_LEAST_MS = 1000;
const EXCHANGE_MS = 2000;

/** What a receiver does with a request that it gets as one of so many at a time; at ms since the start. */
type Receiver = (underWay: number, at: number) => { latency: number; kind: AnswerKind | (() => AnswerKind) };

class TurnTable {
  readonly #held = new Map<number, number>();
  readonly #waits = new Map<number, number>();
  #shared: { limit: SharedLimit; at: number } | null = null;

  get isShared(): boolean {
    return this.#shared !== null;
  }

  ask(worker: number, request: TurnRequest | undefined, now: number): TurnAnswer[] {
    for (const [place, holder] of this.#held)
      if (holder === worker && !request?.places.includes(place)) this.#held.delete(place);
    const limit = request?.shared ? this.#judge(request.shared, now) : null;
    if (!request || !limit) {
      this.#waits.delete(worker);
      return [];
    }
    if (request.wants) this.#take(worker, limit.places, now);
    else this.#waits.delete(worker);
    const places = [...this.#held].filter(([, holder]) => holder === worker).map(([place]) => place);
    const isContested = [...this.#waits.keys()].some((each) => each !== worker);
    return [
      { destinationId: ID, places, all: limit.places, shared: { version: limit.version, isHeard: true }, isContested },
    ];
  }

  #judge({ version, seen, excess }: SharedReport, now: number): SharedLimit | null {
    const use = { held: this.#held.size, users: WORKERS };
    let next: SharedLimit | null = null;
    if (this.#shared) {
      const { limit, at } = this.#shared;
      const aged = { ...limit, windowMs: limit.windowMs + now - at, changedMs: limit.changedMs + now - at };
      next = nextShared(aged, version === limit.version ? seen : NOTHING_SEEN, use);
    } else if (excess) {
      next = beginShared(use, excess);
    }
    this.#shared = next && { limit: next, at: now };
    return next;
  }

  #take(worker: number, all: number, now: number): void {
    const since = this.#waits.get(worker) ?? now;
    const before = [...this.#waits].filter(([other, began]) => other !== worker && began < since).length;
    const place = Array.from({ length: all }, (_, index) => index).filter((each) => !this.#held.has(each))[before];
    if (place === undefined) {
      this.#waits.set(worker, since);
    } else {
      this.#held.set(place, worker);
      this.#waits.delete(worker);
    }
  }
}

/** Small and always the same, so that a test never fails by chance. */
function randomNumbers(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

interface Second {
  most: number;
  answers: number;
  refused: number;
}

/** All workers have always something to send. @returns what happened in each second of the simulated time */
function simulate(receiver: Receiver, seconds: number): Second[] {
  let now = 0;
  let underWay = 0;
  const table = new TurnTable();
  const endings = new Map<number, (() => void)[]>();
  const result: Second[] = [];
  const random = randomNumbers();
  const workers = Array.from({ length: WORKERS }, (_, rank) => {
    const places = new DestinationPlaces(500, () => now);
    places.setShare({ workers: WORKERS, rank, alive: WORKERS });
    return { rank, places, askedAt: 0 };
  });

  function ask(worker: (typeof workers)[number]): void {
    const { requests, isUrgent } = worker.places.turnRequests();
    if (!isUrgent && now - worker.askedAt < ASK_AT_LEAST_MS) return;
    worker.askedAt = now;
    worker.places.applyTurns(requests, table.ask(worker.rank, requests[0], now), now);
  }

  /** As the relay does: it claims where there is room, and gives back what is too much. */
  function send(places: DestinationPlaces): void {
    while (places.hasRoom(ID)) {
      places.enter(ID);
      if (places.isOver(ID)) {
        places.leave(ID);
        return;
      }
      underWay += 1;
      const { latency, kind } = receiver(underWay, now);
      const answered = places.sending(ID);
      const endsAt = now + STEP_MS * Math.max(1, Math.round((latency * (0.9 + 0.2 * random())) / STEP_MS));
      const end = () => {
        underWay -= 1;
        places.leave(ID);
        const outcome = typeof kind === 'string' ? kind : kind();
        answered(outcome);
        const second = result.at(-1);
        if (!second) return;
        second.answers += 1;
        if (outcome !== 'answered') second.refused += 1;
      };
      endings.set(endsAt, [...(endings.get(endsAt) ?? []), end]);
    }
  }

  for (; now < seconds * 1000; now += STEP_MS) {
    if (now % 1000 === 0) result.push({ most: 0, answers: 0, refused: 0 });
    for (const end of endings.get(now) ?? []) end();
    endings.delete(now);
    for (const worker of workers) {
      const phase = now + STEP_MS * worker.rank;
      if (phase % EXCHANGE_MS === 0 && table.isShared) worker.places.share(ID);
      if (phase % ASK_MS === 0) ask(worker);
      send(worker.places);
    }
    const second = result.at(-1);
    if (second) second.most = Math.max(second.most, underWay);
  }
  return result;
}

const sum = (seconds: Second[], pick: (second: Second) => number) =>
  seconds.reduce((total, each) => total + pick(each), 0);
const refusedPart = (seconds: Second[]) =>
  sum(seconds, ({ refused }) => refused) / sum(seconds, ({ answers }) => answers);
const perSecond = (seconds: Second[]) => sum(seconds, ({ answers }) => answers) / seconds.length;
const most = (seconds: Second[]) => Math.max(...seconds.map((second) => second.most));

describe('a destination that copes with fewer attempts than there are workers', () => {
  for (const all of [true, false]) {
    it(`is kept below 60, and from failing, when it fails beyond 40 ${all ? 'as a whole' : 'for the excess'}`, () => {
      const seconds = simulate((count) => {
        const isTooMuch = count > 40;
        return { latency: isTooMuch && all ? 200 : 100, kind: isTooMuch ? 'refused' : 'answered' };
      }, 120);
      expect(most(seconds)).to.be.at.most(60);
      for (let at = 10; at + 5 <= seconds.length; at += 5)
        expect(refusedPart(seconds.slice(at, at + 5)), `errors in 5 s after ${at} s`).to.be.at.most(0.05);
      expect(perSecond(seconds.slice(30)), 'answers a second').to.be.at.least(200);
    });
  }

  it('recovers when everything that it works on fails while there are more than 40', () => {
    // Numbers its failures: what came before the last one, and is answered after it, has failed.
    let failures = 0;
    const seconds = simulate((count) => {
      if (count > 40) failures += 1;
      const before = count > 40 ? -1 : failures;
      return { latency: 100, kind: () => (before === failures ? 'answered' : 'refused') };
    }, 120);
    expect(refusedPart(seconds.slice(0, 1)), 'it begins with too much').to.be.above(0.3);
    for (let at = 10; at + 5 <= seconds.length; at += 5)
      expect(refusedPart(seconds.slice(at, at + 5)), `errors in 5 s after ${at} s`).to.be.at.most(0.05);
    expect(perSecond(seconds.slice(30)), 'answers a second').to.be.at.least(200);
  });

  it('gets as many as there are workers again soon after it was down', () => {
    const seconds = simulate(
      (_count, at) => (at < 30_000 ? { latency: 1000, kind: 'silent' } : { latency: 100, kind: 'answered' }),
      75,
    );
    expect(most(seconds.slice(25, 30)), 'while it is down').to.be.at.most(6);
    expect(most(seconds.slice(60))).to.be.at.least(WORKERS);
  });

  it('gets more than that when it copes with more', () => {
    const seconds = simulate((count, at) => {
      return { latency: 100, kind: count > (at < 40_000 ? 40 : 400) ? 'refused' : 'answered' };
    }, 160);
    expect(most(seconds.slice(10, 40))).to.be.at.most(WORKERS);
    expect(most(seconds)).to.be.at.least(2 * WORKERS);
  });

  it('is hardly overloaded when little was under way: it has turns for a moment only', () => {
    const use = { held: 4, users: 10 };
    let shared = beginShared(use, { isHanging: false, busy: 0.1 });
    expect(shared).to.include({ places: 4, tooMuch: null });
    for (let windows = 1; shared; windows += 1) {
      expect(windows).to.be.at.most(4);
      const held = shared.places;
      shared = nextShared({ ...shared, windowMs: 500 }, { answered: 10, refused: 0, hung: 0 }, { ...use, held });
    }
  });

  it('is used without turns when it copes with a place for each', () => {
    const places = new DestinationPlaces(500);
    places.setShare({ workers: WORKERS, rank: 0, alive: WORKERS });
    for (let number = 0; number < 100; number += 1) {
      expect(places.take(ID)).to.equal(true);
      places.sending(ID)('answered');
      places.leave(ID);
      expect(places.turnRequests()).to.deep.equal({ isUrgent: false, requests: [] });
    }
  });

  it('costs statements only while there are few of its kind', () => {
    const places = new DestinationPlaces(500);
    places.setShare({ workers: WORKERS, rank: 0, alive: WORKERS });
    const ids = Array.from({ length: 100 }, (_, number) => `dst_${number}`);
    for (const id of ids) for (let count = 0; count < 3; count += 1) places.sending(id)('refused');
    for (const id of ids) places.take(id);
    expect(places.turnRequests().requests).to.have.length(20);
    expect(
      places.limits().filter((limit) => limit === 1),
      'every worker has a place at the others',
    ).to.have.length(80);
  });
});
