import { expect } from 'chai';
import fc from 'fast-check';
import { type Steps, stepsOf } from '../../core/metrics/figure-steps.ts';
import { latencyClass, percentilesOf } from '../../core/metrics/latency-classes.ts';

describe('latency classes', () => {
  it('are exact below 128 ms', () => {
    for (let ms = 0; ms < 128; ms += 1) expect(latencyClass(ms)).to.equal(ms);
  });

  it('never lie below the latency, and at most 1.6 % above it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 128, max: 120_000 }), (ms) => {
        const edge = latencyClass(ms);
        expect(edge).to.be.within(ms, ms * 1.016 + 1e-9);
      }),
    );
  });

  it('keep the order of latencies and are their own class', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 120_000 }), fc.integer({ min: 0, max: 120_000 }), (a, b) => {
        if (a <= b) expect(latencyClass(a)).to.be.at.most(latencyClass(b));
        expect(latencyClass(latencyClass(a))).to.equal(latencyClass(a));
      }),
    );
  });
});

describe('percentiles of latencies', () => {
  const histogramOf = (latencies: number[]) =>
    [...Map.groupBy(latencies, (latency) => latency)].map(([latency, some]) => [latency, some.length]);

  it('are those of all attempts by nearest rank, in however many parts they were counted', () => {
    const latencies = fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(fc.array(latencies, { minLength: 1, maxLength: 4 }), (parts) => {
        const all = parts.flat().toSorted((one, other) => one - other);
        const ranked = [50, 95, 99].map((percent) => all[Math.ceil((percent * all.length) / 100) - 1]);
        expect(percentilesOf(parts.flatMap(histogramOf), [50, 95, 99])).to.deep.equal({
          attempts: all.length,
          latencies: ranked,
        });
      }),
    );
  });

  it('are null without attempts', () => {
    expect(percentilesOf([], [50, 99])).to.deep.equal({ attempts: 0, latencies: [null, null] });
  });
});

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = Date.parse('2026-11-21T10:07:30Z');
const at = (text: string) => new Date(text);

describe('steps of figures', () => {
  const time = (from: string, to: string) => ({ from: at(`2026-${from}:00Z`), to: at(`2026-${to}:00Z`) });

  it('are the hours of the last day by default', () =>
    expect(stepsOf({}, 3600, NOW)).to.deep.equal({ ...time('11-20T10:00', '11-21T11:00'), step: 3600 }));

  it('begin at multiples of the step since 1970, around the time that was asked for', () => {
    const asked = { ...time('11-21T00:01', '11-21T00:44'), to: at('2026-11-21T00:44:59Z') };
    expect(stepsOf(asked, 900, NOW)).to.deep.equal({ ...time('11-21T00:00', '11-21T00:45'), step: 900 });
    const days = time('11-01T00:00', '11-03T00:00');
    expect(stepsOf(days, 86_400, NOW)).to.deep.equal({ ...days, step: 86_400 });
  });

  const lastWeek = { from: at('2026-11-19T00:00:00Z') };
  const refused: [string, Parameters<typeof stepsOf>[0], number, string][] = [
    ['a time that ends before it begins', time('11-21T09:00', '11-21T08:00'), 300, 'from'],
    ['no time at all', time('11-21T09:00', '11-21T09:00'), 300, 'from'],
    ['more than 31 days', time('10-22T00:00', '11-23T00:00'), 86_400, 'from'],
    ['what is gone', time('10-20T00:00', '10-22T00:00'), 86_400, 'from'],
    ['minutes of last week', lastWeek, 300, 'step'],
    ['steps that cut hours of last week', lastWeek, 5400, 'step'],
  ];
  for (const [what, time, step, member] of refused) {
    it(`refuse ${what}`, () => expect(stepsOf(time, step, NOW)).to.have.property('member', member));
  }

  it('never cut a bucket that is merged: hours after 25 hours; and begin less than 32 days ago', () => {
    const steps = fc.integer({ min: 1, max: 288 }).map((n) => n * 300);
    const month = fc.integer({ min: 1, max: 31 * DAY });
    fc.assert(
      fc.property(month, month, steps, (ago, length, step) => {
        const from = new Date(NOW - ago);
        const found = stepsOf({ from, to: new Date(from.getTime() + length) }, step, NOW);
        if ('member' in found) return;
        const { from: first, to }: Steps = found;
        const stepMs = step * 1000;
        expect(first.getTime() % stepMs).to.equal(0);
        expect((to.getTime() - first.getTime()) / stepMs).to.be.at.most(Math.ceil((31 * DAY) / stepMs) + 1);
        const age = NOW - first.getTime();
        expect(age).to.be.below(32 * DAY);
        if (age >= 25 * HOUR) expect(step % 3600).to.equal(0);
      }),
    );
  });
});
