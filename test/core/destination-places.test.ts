import { expect } from 'chai';
import { DestinationPlaces } from '../../core/destination-places.ts';

interface Worker {
  places: DestinationPlaces;
  underWay: number;
}

/** A receiver that answers after about 100 ms, and workers that send it as much as they may, on a clock of its own. */
class Receiver {
  readonly #takes: number;
  readonly #failsAsAWhole: boolean;
  #now = 0;
  #state = 1;
  #underWay = 0;
  readonly #ending = new Map<number, (() => void)[]>();
  #workers: Worker[] = [];

  constructor(takes: number, failsAsAWhole: boolean) {
    this.#takes = takes;
    this.#failsAsAWhole = failsAsAWhole;
  }

  join(): void {
    const places = new DestinationPlaces(500, () => this.#now);
    const known = this.#workers.reduce((sum, other) => sum + other.places.limitOf('dst_1'), 0);
    if (known > 0) places.startFrom(new Map([['dst_1', known]]));
    this.#workers.push({ places, underWay: 0 });
    this.#share();
  }

  /** The last one begins nothing more. */
  leave(): void {
    this.#workers.pop();
    this.#share();
  }

  run(seconds: number): { most: number; answers: number; refused: number } {
    const seen = { most: 0, answers: 0, refused: 0 };
    for (const end = this.#now + seconds * 1000; this.#now < end; this.#now += 1) {
      for (const answer of this.#ending.get(this.#now) ?? []) answer();
      this.#ending.delete(this.#now);
      const hasRoom = (each: Worker) => each.underWay < each.places.limitOf('dst_1');
      let sending = this.#workers.filter(hasRoom);
      for (; sending.length > 0; sending = sending.filter(hasRoom))
        for (const worker of sending) this.#send(worker, seen);
      seen.most = Math.max(seen.most, this.#underWay);
    }
    return seen;
  }

  #send(worker: Worker, seen: { answers: number; refused: number }): void {
    worker.underWay += 1;
    this.#underWay += 1;
    worker.places.enter('dst_1');
    const isOver = this.#underWay > this.#takes;
    const answered = worker.places.sending('dst_1');
    const at = this.#now + 90 + this.#random(20);
    const answer = () => {
      const isRefused = this.#failsAsAWhole ? this.#underWay > this.#takes : isOver;
      worker.underWay -= 1;
      this.#underWay -= 1;
      worker.places.leave('dst_1');
      seen.answers += 1;
      if (isRefused) seen.refused += 1;
      answered(isRefused ? 'refused' : 'answered');
    };
    this.#ending.set(at, [...(this.#ending.get(at) ?? []), answer]);
  }

  #share(): void {
    const workers = this.#workers.length;
    for (const [rank, { places }] of this.#workers.entries()) places.setShare({ workers, rank, alive: workers });
  }

  #random(below: number): number {
    this.#state = (this.#state * 48_271) % 2_147_483_647;
    return this.#state % below;
  }
}

describe('places at destinations', () => {
  it('are shared by the workers, to the last one', () => {
    const shares = [0, 1, 2, 3].map((rank) => {
      const places = new DestinationPlaces(500);
      places.setMaximum('dst_1', 10);
      places.setShare({ workers: 4, rank, alive: 4 });
      return places.limitOf('dst_1');
    });
    expect(shares).to.deep.equal([3, 3, 2, 2]);
  });

  it('are at most as many in all as one worker would start with, however many workers there are', () => {
    const limits = Array.from({ length: 50 }, (_, rank) => {
      const places = new DestinationPlaces(500);
      places.setShare({ workers: 50, rank, alive: 50 });
      return places.limitOf('dst_1');
    });
    expect(limits.reduce((sum, limit) => sum + limit, 0)).to.equal(50);
  });

  it('are one at least for each worker, or its deliveries would never be made', () => {
    const places = new DestinationPlaces(2);
    places.setShare({ workers: 5, rank: 4, alive: 5 });
    expect(places.limitOf('dst_1')).to.equal(1);
  });

  it('are those of a worker that has left too, while the destination has not answered', () => {
    const places = new DestinationPlaces(500);
    places.setShare({ workers: 2, rank: 0, alive: 2 });
    places.take('dst_1');
    expect(places.limitOf('dst_1')).to.equal(25);
    places.setShare({ workers: 1, rank: 0, alive: 1 });
    expect(places.limitOf('dst_1')).to.equal(50);
    places.setShare({ workers: 2, rank: 0, alive: 2 });
    expect(places.limitOf('dst_1'), 'and of one that is new').to.equal(25);
  });

  it('start with a share of what others have learned, as long as that is news', () => {
    let now = 0;
    const places = new DestinationPlaces(500, () => now);
    places.setShare({ workers: 2, rank: 1, alive: 2 });
    places.startFrom(
      new Map([
        ['dst_1', 38],
        ['dst_2', 1],
        ['dst_3', 38],
      ]),
    );
    places.setMaximum('dst_1', 100);
    places.take('dst_2');
    expect(['dst_1', 'dst_2', 'dst_4'].map((id) => places.limitOf(id))).to.deep.equal([19, 2, 25]);
    places.setShare({ workers: 4, rank: 3, alive: 4 });
    places.setShare({ workers: 1, rank: 0, alive: 1 });
    expect(places.limitOf('dst_1')).to.be.within(36, 38);
    now = 70_000;
    places.take('dst_3');
    expect(places.limitOf('dst_3')).to.equal(50);
  });

  describe('at a receiver that takes 40, when the workers change', () => {
    for (const [what, fails] of [
      ['for the excess', false],
      ['as a whole', true],
    ] as const) {
      for (const count of [1, 3])
        it(`are divided anew, so it hardly fails ${what}: one joins ${count}`, () => {
          const receiver = new Receiver(40, fails);
          for (let number = 0; number < count; number += 1) receiver.join();
          receiver.run(30);
          receiver.join();
          const seen = receiver.run(2);
          expect(seen.most, 'under way').to.be.at.most(60);
          expect(seen.refused / seen.answers, 'refused').to.be.at.most(0.05);
        });

      it(`do not grow back beyond it when one leaves, failing ${what}`, () => {
        const receiver = new Receiver(40, fails);
        receiver.join();
        receiver.join();
        receiver.run(30);
        receiver.leave();
        const seen = receiver.run(60);
        expect(seen.most, 'under way').to.be.at.most(60);
        expect(seen.refused / seen.answers, 'refused').to.be.at.most(0.02);
        expect(receiver.run(10).answers / 10, 'a second').to.be.at.least(300);
      });
    }
  });

  it('are given as long as there are some, and again when one is left', () => {
    const places = new DestinationPlaces(500);
    places.setMaximum('dst_1', 2);
    expect([1, 2, 3].map(() => places.take('dst_1'))).to.deep.equal([true, true, false]);
    expect(places.hasRoom('dst_2'), 'another destination').to.equal(true);
    places.leave('dst_1');
    expect(places.take('dst_1')).to.equal(true);
    places.setMaximum('dst_1', 1);
    expect(places.isOver('dst_1')).to.equal(true);
    places.leave('dst_1');
    expect(places.isOver('dst_1')).to.equal(false);
    expect(places.take('dst_1')).to.equal(false);
  });

  it('become fewer by what the destination answers, and not by what says nothing of it', () => {
    const places = new DestinationPlaces(500);
    const answer = (kind: 'silent' | 'unrelated') => {
      for (let number = 0; number < 10; number += 1) places.sending('dst_1')(kind);
    };
    answer('unrelated');
    expect(places.limitOf('dst_1')).to.equal(50);
    answer('silent');
    expect(places.limitOf('dst_1')).to.be.below(50);
  });

  it('are said to be waited for while a request has no answer for more than a second', () => {
    let now = 0;
    const places = new DestinationPlaces(500, () => now);
    const answered = places.sending('dst_1');
    now = 1500;
    places.sending('dst_1');
    expect(places.isWaitedFor('dst_1')).to.equal(true);
    answered('answered');
    expect(places.isWaitedFor('dst_1')).to.equal(false);
  });

  it('are forgotten when a destination has not been used for a while, and never while something is under way', () => {
    let now = 0;
    const places = new DestinationPlaces(500, () => now);
    for (const id of ['dst_1', 'dst_2']) {
      places.enter(id);
      for (let number = 0; number < 10; number += 1) places.sending(id)('silent');
    }
    places.leave('dst_1');
    now = 70_000;
    expect(places.usedSince(60_000).map(({ destinationId }) => destinationId)).to.deep.equal(['dst_2']);
    expect(places.limitOf('dst_1')).to.equal(50);
    expect(places.limitOf('dst_2')).to.be.below(50);
  });

  it('are forgotten although workers tell each other the maximum of what they have used', () => {
    let now = 0;
    const places = new DestinationPlaces(500, () => now);
    places.enter('dst_1');
    places.leave('dst_1');
    const rounds: string[][] = [];
    for (let since = 0; now <= 70_000; now += 2000) {
      const used = places.usedSince(since).map(({ destinationId }) => destinationId);
      for (const id of used) places.setMaximum(id, 7);
      rounds.push(used);
      since = now;
    }
    expect(rounds.filter((used) => used.length > 0).length, 'rounds that know it').to.be.at.most(2);
    expect(places.limitOf('dst_1'), 'where a destination starts').to.equal(50);
  });

  it('are said to be full exactly where there is no room, whatever has happened', () => {
    let now = 0;
    let state = 7;
    const random = (below: number) => {
      state = (state * 48_271) % 2_147_483_647;
      return state % below;
    };
    const places = new DestinationPlaces(8, () => now);
    const ids = Array.from({ length: 12 }, (_, number) => `dst_${number}`);
    const under = new Map(ids.map((id) => [id, 0]));
    const count = (id: string, by: number) => under.set(id, (under.get(id) ?? 0) + by);
    let most = 0;
    for (let step = 0; step < 5000; step += 1) {
      now += random(20);
      const id = ids[random(ids.length)] ?? '';
      const what = random(100);
      if (what < 40 && places.take(id)) count(id, 1);
      else if (what < 44) {
        places.enter(id);
        count(id, 1);
      } else if (what < 80 && (under.get(id) ?? 0) > 0) {
        places.leave(id);
        count(id, -1);
      } else if (what < 88) places.setMaximum(id, [null, 1, 3, 9][random(4)] ?? null);
      else if (what < 90) places.share(id);
      else if (what < 92)
        places.setShare({ workers: 1 + random(6), rank: 0, alive: random(2) === 0 ? null : 1 + random(6) });
      else if (what < 93) now += random(70_000);
      else if (what < 95) places.usedSince(now - 2000);
      else if (what < 97) {
        const { requests } = places.turnRequests();
        const answers = requests.map(({ destinationId, shared }) => ({
          destinationId,
          places: [1, 2].slice(random(3)),
          all: 2,
          shared: shared && random(4) > 0 ? { version: step, isHeard: true } : null,
          isContested: random(2) === 0,
        }));
        places.applyTurns(requests, answers.slice(random(2)), now);
      }
      const full = ids.filter((each) => !places.hasRoom(each));
      expect(places.full().toSorted(), `step ${step}`).to.deep.equal(full.toSorted());
      most = Math.max(most, full.length);
    }
    expect(most).to.be.greaterThan(3);
  });
});
