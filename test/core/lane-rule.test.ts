// The lane `adaptive` by the clock: 28 workflows a second, of which one organization may have twenty, and four slots
// for those whose attempts have not begun.
import { expect } from 'chai';
import { LaneRule } from '../../core/delivery/lane-rule.ts';
import { WorkflowPermits } from '../../core/fairness/workflow-permits.ts';

/** `name` is due `times` times, every `everyMs`; a workflow of it begins `beginsMs` later. */
interface Due {
  name?: string;
  times: number;
  everyMs: number;
  beginsMs?: number;
}

class Clock {
  now = 0;
  readonly #begins: { at: number; begin: () => void }[] = [];
  readonly rule: LaneRule;
  readonly permits: WorkflowPermits;

  constructor(alone = true) {
    this.permits = new WorkflowPermits({ permits: 4, alone: () => alone });
    this.rule = new LaneRule({ permits: this.permits, perSecond: 28, now: () => this.now });
  }

  pass(ms: number): void {
    this.now += ms;
    for (const next of this.#begins.splice(0)) {
      if (next.at <= this.now) next.begin();
      else this.#begins.push(next);
    }
  }

  /** @returns how many were workflows, and why the others were not */
  due({ name = 'org', times, everyMs, beginsMs = 10 }: Due): Record<string, number> {
    const counts: Record<string, number> = {};
    // Those of the same moment are claimed together.
    if (everyMs === 0) for (let n = 0; n < times; n += 1) this.rule.comes(name);
    for (let n = 0; n < times; n += 1) {
      if (everyMs > 0) this.rule.comes(name);
      const slot = this.rule.choose(name);
      const what = typeof slot === 'string' ? slot : 'workflow';
      counts[what] = (counts[what] ?? 0) + 1;
      if (typeof slot !== 'string') this.#begins.push({ at: this.now + beginsMs, begin: slot });
      this.pass(everyMs);
    }
    return counts;
  }
}

describe('the rule of the lane adaptive', () => {
  for (const [what, due, expected] of [
    ['all are workflows while they come slowly', { times: 100, everyMs: 51 }, { workflow: 100 }],
    ['a burst is the relay’s at once', { times: 1000, everyMs: 0 }, { rate: 1000 }],
    ['what is left of a few is the relay’s when no slot is left', { times: 9, everyMs: 0 }, { workflow: 4, behind: 5 }],
    ['none is a workflow at a high rate, after the first', { times: 500, everyMs: 20 }, { workflow: 10, rate: 490 }],
    ['workflows that begin late are few', { times: 80, everyMs: 60, beginsMs: 2000 }, { workflow: 8, behind: 72 }],
  ] as [string, Due, Record<string, number>][])
    it(what, () => {
      expect(new Clock().due(due)).to.deep.equal(expected);
    });

  it('makes workflows again two seconds after a burst', () => {
    const clock = new Clock();
    clock.due({ times: 40, everyMs: 20 });
    clock.pass(1900);
    expect(clock.due({ times: 1, everyMs: 0 })).to.deep.equal({ rate: 1 });
    clock.pass(200);
    expect(clock.due({ times: 20, everyMs: 60 })).to.deep.equal({ workflow: 20 });
  });

  it('doubles its pause each time that Temporal refuses again, up to a minute, and forgets that in time', () => {
    const clock = new Clock();
    const pauses: number[] = [];
    for (let n = 0; n < 9; n += 1) {
      clock.rule.pause('refused');
      const since = clock.now;
      // Of one that was started before.
      clock.rule.pause('refused');
      while (clock.rule.pressure === 'refused') clock.pass(500);
      pauses.push((clock.now - since) / 1000);
      expect(clock.due({ times: 1, everyMs: 0 })).to.deep.equal({ workflow: 1 });
      clock.pass(n === 7 ? 10_000 : 100);
    }
    expect(pauses).to.deep.equal([1, 2, 4, 8, 16, 32, 60, 60, 1]);
  });

  it('leaves workflows to the others when one organization floods', () => {
    const clock = new Clock(false);
    let quiet = 0;
    for (let second = 0; second < 10; second += 1) {
      clock.due({ name: 'flood', times: 100, everyMs: 10 });
      quiet += clock.due({ name: `quiet ${second % 3}`, times: 1, everyMs: 0 }).workflow ?? 0;
    }
    expect(quiet).to.equal(10);
    expect(clock.due({ name: 'flood', times: 100, everyMs: 10 })).to.deep.equal({ rate: 100 });
  });

  it('leaves workflows to the others when two organizations flood', () => {
    const clock = new Clock(false);
    const counts = { flood: 0, quiet: 0 };
    for (let second = 0; second < 10; second += 1) {
      for (let n = 0; n < 50; n += 1) {
        for (const name of ['flood 1', 'flood 2'])
          counts.flood += clock.due({ name, times: 1, everyMs: 10 }).workflow ?? 0;
      }
      counts.quiet += clock.due({ name: `quiet ${second % 3}`, times: 1, everyMs: 0 }).workflow ?? 0;
    }
    expect(counts.quiet).to.equal(10);
    expect(counts.flood, 'the first ones').to.be.within(2, 14);
  });

  for (const [how, names, everyMs, rounds, restMs] of [
    ['slowly', ['a', 'b'], 42, 100, 0],
    ['together now and then', ['a', 'b', 'a'], 20, 60, 1000],
  ] as const)
    it(`makes all of two organizations workflows that come ${how}`, () => {
      const clock = new Clock(false);
      let workflows = 0;
      for (let round = 0; round < rounds; round += 1) {
        for (const name of names) workflows += clock.due({ name, times: 1, everyMs }).workflow ?? 0;
        clock.pass(restMs);
      }
      expect(workflows).to.equal(rounds * names.length);
    });

  it('leaves all to the relay when many organizations come at once, each with a few', () => {
    const clock = new Clock(false);
    for (let n = 0; n < 40; n += 1) clock.rule.comes(`org ${n}`);
    expect(Array.from({ length: 40 }, (_, n) => clock.rule.choose(`org ${n}`))).to.deep.equal(
      Array.from({ length: 40 }, () => 'rate'),
    );
    expect(clock.rule.pressure).to.equal('rate');
  });

  it('leaves a slot to the others when the workflows of one organization do not begin', () => {
    const clock = new Clock(false);
    const hanging = { name: 'hangs', times: 8, everyMs: 200, beginsMs: 60_000 };
    expect(clock.due(hanging)).to.deep.equal({ workflow: 2, share: 6 });
    expect(clock.due({ name: 'quiet', times: 8, everyMs: 200 })).to.deep.equal({ workflow: 8 });
  });
});
