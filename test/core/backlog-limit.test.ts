import { expect } from 'chai';
import { ALL_OPEN, type Admission, admit } from '../../core/backlog-limit.ts';

const LIMIT = 1000;

/** What is decided when destinations a, b, c, ... have so many waiting. */
function decided(waiting: number[], before: Admission = ALL_OPEN): Admission {
  const destinations = waiting.map((count, at) => ({ id: String.fromCharCode(97 + at), waiting: count }));
  return admit(LIMIT, { total: waiting.reduce((sum, count) => sum + count, 0), destinations }, before);
}

const full = (...waiting: Parameters<typeof decided>) => [...decided(...waiting).fullDestinations].join('');

describe('the backlog limit', () => {
  it('stops a destination when it has as many waiting as there is room left', () => {
    expect(full([499])).to.equal('');
    expect(full([500])).to.equal('a');
    expect(full([900])).to.equal('a');
  });

  it('leaves room for others, however many destinations take nothing', () => {
    expect(full([332, 332])).to.equal('');
    expect(full([334, 334])).to.equal('ab');
    expect(full([334, 334, 10])).to.equal('ab');
    const many = Array.from({ length: 20 }, () => 48);
    expect(full([...many, 1]), '20 stop at a 21st of the limit').to.equal('abcdefghijklmnopqrst');
    expect(decided([...many, 1]).full).to.equal(false);
  });

  it('accepts nothing when everything together is as much as the limit', () => {
    expect(decided([500, 499]).full).to.equal(false);
    expect(decided([500, 500]).full).to.equal(true);
    expect(decided([500, 700]).full).to.equal(true);
  });

  it('opens at nine tenths of what closed it', () => {
    const closed = decided([600, 400]);
    expect(decided([550, 351], closed).full).to.equal(true);
    expect(decided([549, 350], closed).full).to.equal(false);
    const stopped = decided([500]);
    expect(full([480], stopped)).to.equal('a');
    expect(full([480]), 'one that was open stays open').to.equal('');
    expect(full([473], stopped)).to.equal('');
    expect(full([0], stopped)).to.equal('');
  });

  it('knows how many more may be accepted before anything that is open can be full', () => {
    for (const waiting of [[0], [100], [300, 200], [499], [500, 10], [333, 332, 1]]) {
      const { margin, fullDestinations } = decided(waiting);
      expect(margin).to.be.greaterThan(0);
      for (const [at, count] of waiting.entries()) {
        const more = waiting.with(at, count + Math.ceil(margin) - 1);
        if (!fullDestinations.has(String.fromCharCode(97 + at)))
          expect(full(more)).to.equal([...fullDestinations].join(''));
      }
    }
    expect(decided([0]).margin).to.equal(500);
  });
});
