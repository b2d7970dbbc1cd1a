import { expect } from 'chai';
import { instruments } from '../../core/metrics/index.ts';
import { Counter, Gauge, Histogram, OTHER } from '../../core/metrics/instruments.ts';

const base = { name: 'test_total', help: 'Test.', in: ['api'] } as const;

describe('instruments', () => {
  it('count by labels; what a label does not declare is one series', () => {
    const counter = new Counter({ ...base, labels: { result: ['a', 'b'] } });
    counter.add({ result: 'a' });
    counter.add({ result: 'a' }, 2);
    for (const result of ['<script>', 'c', 'd']) counter.add({ result: result as 'a' });
    expect(counter.points().map(({ labels, value }) => [labels.result, value])).to.deep.equal([
      ['a', 3],
      ['b', 0],
      [OTHER, 3],
    ]);
  });

  it('take so many different values of an open label, and no more', () => {
    const counter = new Counter({ ...base, labels: { id: 3, result: ['a', 'b'] } });
    for (let id = 0; id < 10_000; id += 1) counter.add({ id: String(id), result: id % 2 === 0 ? 'a' : 'b' });
    counter.add({ id: '0', result: 'b' });
    const points = counter.points();
    expect(new Set(points.map(({ labels }) => labels.id))).to.deep.equal(new Set(['0', '1', '2', OTHER]));
    expect(points.reduce((sum, { value }) => sum + value, 0)).to.equal(10_001);
    expect(points).to.have.length(6);
  });

  it('sort values into buckets by their upper bounds, the last of which has none', () => {
    const histogram = new Histogram({ ...base, bounds: [1, 2, 5] });
    for (const value of [0.5, 1, 1.5, 5, 6, -3]) histogram.observe({}, value);
    expect(histogram.points()).to.deep.equal([{ labels: {}, value: { counts: [3, 1, 1, 1], sum: 14, count: 6 } }]);
  });

  it('show a gauge while it is read from something', () => {
    const gauge = new Gauge({ ...base, labels: { state: ['open', 'full'] } });
    expect(gauge.points()).to.deep.equal([]);
    const stop = gauge.readFrom(() => [[{ state: 'full' }, 2]]);
    expect(gauge.points()).to.deep.equal([{ labels: { state: 'full' }, value: 2 }]);
    stop();
    expect(gauge.points()).to.deep.equal([]);
  });

  it('have names as Prometheus has them, with their units', () => {
    for (const { kind, definition } of instruments) {
      const { name, unit, help } = definition;
      expect(name).to.match(/^(hookyard|http_server|process|nodejs|v8js)_[a-z0-9_]+$/);
      expect(name.endsWith('_total'), name).to.equal(kind === 'counter');
      if (unit === 's') expect(name).to.match(/_seconds(_total)?$/);
      if (unit === 'By') expect(name).to.match(/_bytes$/);
      expect(help, name).to.match(/^[A-Z].*\.$/s);
    }
    const names = instruments.map(({ definition }) => definition.name);
    expect(new Set(names).size).to.equal(names.length);
  });
});
