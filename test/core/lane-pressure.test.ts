// The lane `adaptive` over scripted samples, and in a model of workers with a known capacity.
import { expect } from 'chai';
import { hasRoomToSpare, type LaneState, nextLane, ROOM, type StartSample } from '../../core/lane-pressure.ts';
import { RecentStarts } from '../../core/recent-starts.ts';
import { WorkflowTurns } from '../../core/workflow-turns.ts';

const QUIET: Omit<StartSample, 'atMs'> = {
  duePerSecond: 20,
  begunPerSecond: 20,
  waiting: 0,
  recent: 40,
  late: 0,
  lateTenths: 0,
};
const at = (seconds: number, sample: Partial<StartSample> = {}): StartSample => ({
  ...QUIET,
  ...sample,
  atMs: seconds * 1000,
});
const stateAfter = (samples: StartSample[], from: LaneState = ROOM) =>
  samples.reduce((state, sample) => nextLane(state, sample), from);

describe('The lane under pressure', () => {
  it('is that of workflows while they begin promptly, also beside a few late ones', () => {
    expect(stateAfter([at(0)])).to.equal(ROOM);
    expect(stateAfter([at(0, { waiting: 19, late: 29, lateTenths: 4 })])).to.equal(ROOM);
    expect(
      stateAfter([at(0, { duePerSecond: 300, begunPerSecond: 300, waiting: 50, recent: 600, late: 100 })]),
    ).to.equal(ROOM);
  });

  for (const [what, pressure, sample] of [
    ['more wait than workers begin in 200 ms', 'waiting', { waiting: 20 }],
    ['more wait than many workers begin in 200 ms', 'waiting', { begunPerSecond: 300, waiting: 60, recent: 600 }],
    ['one in five is late', 'late', { recent: 150, late: 30 }],
    ['a few are late again and again', 'late', { recent: 100, late: 5, lateTenths: 5 }],
    ['many are late of many', 'late', { recent: 600, late: 120, begunPerSecond: 300 }],
  ] as const) {
    it(`is express when ${what}`, () => {
      const state = stateAfter([at(7, sample)]);
      expect(state).to.deep.include({ lane: 'express', pressure, sinceMs: 7000, tooMany: 20, relapses: 0 });
    });
  }

  it('is express when Temporal refuses a start', () => {
    const state = nextLane(ROOM, at(1), true);
    expect(state).to.include({ lane: 'express', pressure: 'refused' });
    expect(nextLane(state, at(5), true), 'another one that was started before').to.equal(state);
    expect(nextLane(state, at(5)).lane).to.equal('workflow');
  });

  const pressed = (seconds: number, duePerSecond: number) => at(seconds, { duePerSecond, waiting: 20 });

  it('tries workflows again after a second, in case it was a pause of the machine', () => {
    const express = stateAfter([pressed(0, 50)]);
    expect(stateAfter([at(0.9, { duePerSecond: 50 })], express).lane).to.equal('express');
    expect(stateAfter([at(1, { duePerSecond: 50 })], express)).to.include({ lane: 'workflow', pressure: null });
  });

  it('does not try while what was started before has not begun', () => {
    const express = stateAfter([pressed(0, 50)]);
    expect(stateAfter([at(2, { waiting: 10 })], express).lane).to.equal('express');
    expect(stateAfter([at(2.2, { waiting: 9 })], express).lane).to.equal('workflow');
  });

  it('tries a rate that was too high later and later', () => {
    let state = stateAfter([pressed(0, 400)]);
    let seconds = 0;
    const waits: number[] = [];
    for (let tries = 0; tries < 5; tries += 1) {
      const since = seconds;
      while (state.lane === 'express') {
        seconds += 0.2;
        state = nextLane(state, at(seconds, { duePerSecond: 400 }));
      }
      waits.push(Math.round(seconds - since));
      seconds += 0.1;
      state = nextLane(state, pressed(seconds, 400));
    }
    expect(waits).to.deep.equal([1, 30, 60, 120, 120]);
  });

  it('lets fewer wait at a rate that was too high before', () => {
    const relapsed = stateAfter([pressed(0, 400), at(1, { duePerSecond: 400 }), pressed(1.2, 400)]);
    const trial = stateAfter([at(31.2, { duePerSecond: 400 })], relapsed);
    expect(trial).to.include({ lane: 'workflow', onTrial: true });
    expect(stateAfter([at(32, { duePerSecond: 400, waiting: 7 })], trial).lane).to.equal('workflow');
    expect(stateAfter([at(32, { duePerSecond: 400, waiting: 8 })], trial)).to.include({ lane: 'express', relapses: 2 });
    expect(stateAfter([at(33.2, { duePerSecond: 400, waiting: 19 })], trial).lane, 'afterwards').to.equal('workflow');
    const calm = stateAfter([at(2, { duePerSecond: 20 }), at(4, { duePerSecond: 20 })], relapsed);
    expect(calm, 'at a lower rate').to.include({ lane: 'workflow', onTrial: false });
  });

  it('goes back soon when the rate is clearly lower, and stays when it is hardly lower', () => {
    const relapsed = stateAfter([pressed(0, 400), at(1, { duePerSecond: 400 }), pressed(1.2, 400)]);
    expect(relapsed).to.include({ lane: 'express', relapses: 1 });
    const at290 = [2, 3, 4, 5, 10, 20, 30].map((seconds) => at(seconds, { duePerSecond: 290 }));
    expect(stateAfter(at290, relapsed).lane).to.equal('express');
    const at200 = (...seconds: number[]) => seconds.map((second) => at(second, { duePerSecond: 200 }));
    expect(stateAfter(at200(2, 3.9), relapsed).lane, 'not for long enough').to.equal('express');
    expect(stateAfter(at200(2, 3, 4), relapsed).lane).to.equal('workflow');
    const interrupted = [...at200(2, 3), at(3.5, { duePerSecond: 390 }), ...at200(4, 5.9)];
    expect(stateAfter(interrupted, relapsed).lane, 'not without a break').to.equal('express');
  });

  it('forgets relapses when workflows have had room for ten seconds', () => {
    const back = stateAfter([pressed(0, 400), at(1), pressed(2, 400), at(3), at(5)]);
    expect(back).to.include({ lane: 'workflow', relapses: 1 });
    expect(stateAfter([at(14.9)], back).relapses).to.equal(1);
    expect(stateAfter([at(15)], back).relapses).to.equal(0);
    expect(stateAfter([pressed(20, 400)], back)).to.include({ lane: 'express', relapses: 0 });
  });

  it('takes a pause of the machine for what it is', () => {
    const model = new Workers(100);
    model.run(50, 10);
    model.pause(800);
    model.run(50, 20);
    expect(model.workflows / 1000, 'share of workflows').to.be.within(0.9, 0.96);
    expect(model.relapses).to.equal(0);
    model.run(50, 20);
    expect(model.workflows).to.equal(1000);
  });

  it('keeps a burst from time to time in workflows', () => {
    const model = new Workers(100);
    for (let burst = 0; burst < 10; burst += 1) {
      model.run(1000, 0.015);
      expect(model.workflows).to.equal(15);
      model.run(0.5, 2);
    }
  });

  it('has workflows for every delivery of several organizations, up to half of what the workers can do', () => {
    const model = new Workers(100);
    model.runAll({ one: 15, other: 15 }, 60);
    expect(model.workflows, 'at 15/s each').to.equal(1800);
    model.runAll({ one: 45, other: 5 }, 60);
    expect(model.workflows, 'at 45/s and 5/s').to.equal(3000);
  });

  it('does so although the machine pauses for a moment every second', () => {
    const model = new Workers(100);
    for (let second = 0; second < 60; second += 1) {
      model.runAll({ one: 20, other: 20 }, 1);
      expect(model.workflows, `in second ${second}`).to.equal(40);
      model.pause(60);
    }
  });

  it('leaves an organization its workflows while another one asks for more than there is', () => {
    for (const perSecond of [60, 100, 200]) {
      const model = new Workers(perSecond);
      model.runAll({ greedy: 4 * perSecond, quiet: 5 }, 60);
      // The first moment of the flood may be one of pressure.
      expect(model.workflowsOf.get('quiet'), 'of 300').to.be.at.least(290);
      expect(model.workflowsOf.get('greedy'), 'of the greedy one').to.be.below(60 * perSecond * 0.7);
    }
  });

  it('keeps workflows within what the workers can do, absorbs a jump, and returns after it', () => {
    const model = new Workers(100);
    model.run(20, 10);
    expect(model.workflows, 'at a fifth of their capacity').to.equal(200);
    model.run(50, 20);
    expect(model.workflows, 'at half of it').to.equal(1000);
    for (const perSecond of [150, 400, 800]) {
      model.run(perSecond, 5);
      expect(model.longestWaitMs, `in the jump to ${perSecond}/s`).to.be.at.most(500);
      model.run(perSecond, 20);
      expect(model.workflows, `at ${perSecond}/s`).to.be.below(60);
    }
    model.run(20, 10);
    model.run(20, 10);
    expect(model.workflows, 'afterwards').to.equal(200);
  });
});

/** Begins so many workflows a second, one after the other, and looks at each delivery as the relay does. */
class Workers {
  workflows = 0;
  /** Of these, by organization. */
  workflowsOf = new Map<string, number>();
  longestWaitMs = 0;
  readonly #starts = new RecentStarts();
  readonly #everyMs: number;
  #state = ROOM;
  #now = 0;
  #id = 0;
  #freeAt = 0;
  // Those of a machine with two processors.
  readonly #turns = new WorkflowTurns({ perSecond: 16, alone: () => false, now: () => this.#now });
  readonly #queue: { id: string; startedAt: number }[] = [];

  constructor(perSecond: number) {
    this.#everyMs = 1000 / perSecond;
  }

  run(perSecond: number, seconds: number): void {
    this.runAll({ only: perSecond }, seconds);
  }

  /** @param rates by organization, deliveries per second */
  runAll(rates: Record<string, number>, seconds: number): void {
    this.workflows = 0;
    this.workflowsOf.clear();
    this.longestWaitMs = 0;
    const from = this.#now;
    const due = Object.entries(rates).flatMap(([organizationId, perSecond]) =>
      Array.from({ length: perSecond * seconds }, (_, index) => ({
        organizationId,
        at: from + ((index + 1) * 1000) / perSecond,
      })),
    );
    for (const { organizationId, at } of due.sort((one, other) => one.at - other.at)) this.#deliver(organizationId, at);
  }

  #deliver(organizationId: string, at: number): void {
    this.#moveTo(at);
    this.#starts.due(this.#now);
    const sample = this.#look();
    this.#turns.seen(organizationId);
    if (this.#state.lane !== 'workflow') return;
    if (!this.#turns.mayBegin(organizationId, hasRoomToSpare(this.#state, sample))) return;
    this.workflows += 1;
    this.workflowsOf.set(organizationId, (this.workflowsOf.get(organizationId) ?? 0) + 1);
    this.#id += 1;
    const id = String(this.#id);
    this.#starts.started(id, this.#now);
    this.#queue.push({ id, startedAt: this.#now });
  }

  /** Nothing begins for a while. */
  pause(ms: number): void {
    this.#freeAt = this.#now + ms;
  }

  get relapses(): number {
    return this.#state.relapses;
  }

  #look(): StartSample {
    const before = this.#state.lane;
    const sample = this.#starts.sample(this.#now);
    this.#state = nextLane(this.#state, sample);
    if (this.#state.lane === 'workflow' && before === 'express') this.#starts.forgive();
    return sample;
  }

  #moveTo(time: number): void {
    for (let first = this.#queue[0]; first; first = this.#queue[0]) {
      const begunAt = Math.max(this.#freeAt, first.startedAt) + this.#everyMs;
      if (begunAt > time) break;
      this.#queue.shift();
      this.#freeAt = begunAt;
      this.#starts.begun(first.id, begunAt);
      this.longestWaitMs = Math.max(this.longestWaitMs, begunAt - first.startedAt);
    }
    // As the worker does under pressure.
    for (let look = this.#now + 200; look < time; look += 200) {
      this.#now = look;
      this.#look();
    }
    this.#now = time;
  }
}
