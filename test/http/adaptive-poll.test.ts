// How often ingest looks at what waits: by what a look costs.
import { expect } from 'chai';
import { type AdaptivePoll, restAfter, startAdaptivePoll } from '../../api/ingest/adaptive-poll.ts';
import { until } from '../support/until.ts';

// Node's timers may fire so much early.
const TIMER_MS = 1.5;

describe('the poll of what waits', () => {
  let poll: AdaptivePoll | undefined;
  afterEach(() => poll?.close());

  it('has looked once when it has started', async () => {
    const gate = Promise.withResolvers<void>();
    let looks = 0;
    const starting = startAdaptivePoll(async () => {
      looks += 1;
      await gate.promise;
    });
    let hasStarted = false;
    void starting.then(() => {
      hasStarted = true;
    });
    await until('the first look', () => looks === 1);
    expect(hasStarted).to.equal(false);
    gate.resolve();
    poll = await starting;
    expect(looks).to.equal(1);
  });

  it('rests at least four times as long as a look took, however often it is hurried', async () => {
    const looks: { began: number; ended: number }[] = [];
    poll = await startAdaptivePoll(async () => {
      const began = performance.now();
      await new Promise((resolve) => setTimeout(resolve, 30));
      looks.push({ began, ended: performance.now() });
    });
    const hurried = poll;
    await until('three looks', () => {
      hurried.hurry();
      return looks.length >= 3;
    });
    for (const [index, { began }] of looks.entries()) {
      const before = looks[index - 1];
      if (before) expect(began - before.ended).to.be.at.least(4 * (before.ended - before.began) - TIMER_MS);
    }
  });

  it('rests for seconds at most, so that one slow look does not leave old figures for minutes', () => {
    expect(restAfter(10)).to.deep.equal({ ms: 1000, nudgedMs: 50 });
    expect(restAfter(200)).to.deep.equal({ ms: 3800, nudgedMs: 800 });
    expect(restAfter(60_000)).to.deep.equal({ ms: 10_000, nudgedMs: 2000 });
  });

  it('ends when the look under way has ended', async () => {
    const gate = Promise.withResolvers<void>();
    let began = 0;
    let ended = 0;
    const started = await startAdaptivePoll(async () => {
      began += 1;
      if (began > 1) await gate.promise;
      ended += 1;
    });
    await until('another look', () => {
      started.hurry();
      return began === 2;
    });
    const closed = started.close();
    expect(ended).to.equal(1);
    gate.resolve();
    await closed;
    expect(ended).to.equal(2);
  });
});
