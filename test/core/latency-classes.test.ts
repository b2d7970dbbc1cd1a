import { expect } from 'chai';
import fc from 'fast-check';
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
