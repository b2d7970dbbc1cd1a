import { expect } from 'chai';
import { ALL_OPEN, type Admission, admit } from '../../core/backlog-limit.ts';

const LIMIT = 1000;

const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);

/** What is decided when destinations a, b, c, ... of the only organization have so many waiting. */
function decided(waiting: number[], before: Admission = ALL_OPEN): Admission {
  return decidedFor([waiting], before);
}

/** The same for several organizations A, B, C, ..., each with its destinations. */
function decidedFor(organizations: number[][], before: Admission = ALL_OPEN): Admission {
  const named = organizations.map((waiting, at) => ({ id: String.fromCharCode(65 + at), waiting: sum(waiting) }));
  const destinations = organizations.flatMap((waiting, at) =>
    waiting.map((count) => ({ organizationId: named[at]?.id ?? '', waiting: count })),
  );
  return admit(
    LIMIT,
    {
      total: sum(named.map(({ waiting }) => waiting)),
      organizations: named,
      destinations: destinations.map((each, at) => ({ ...each, id: String.fromCharCode(97 + at) })),
      alone: organizations.length === 1,
    },
    before,
  );
}

const full = (...waiting: Parameters<typeof decided>) => [...decided(...waiting).fullDestinations].join('');
const fullOf = (...organizations: Parameters<typeof decidedFor>) => {
  const { fullOrganizations, fullDestinations } = decidedFor(...organizations);
  return [...fullOrganizations, ...fullDestinations].join('');
};

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

  it('stops an organization when it has as many waiting as are left for others, however many destinations it has', () => {
    const many = (count: number, each: number) => Array.from({ length: count }, () => each);
    expect([...decidedFor([many(5, 99), [1]]).fullOrganizations]).to.deep.equal([]);
    expect([...decidedFor([many(5, 100), [1]]).fullOrganizations]).to.deep.equal(['A']);
    const { full: isFull, fullOrganizations, fullDestinations } = decidedFor([many(200, 5), []]);
    expect([isFull, fullOrganizations.has('A')]).to.deep.equal([true, true]);
    expect(fullDestinations.size).to.equal(200);
  });

  it('leaves room for the next organization, however many are greedy', () => {
    expect([...decidedFor([[200, 134], [200, 134], [10]]).fullOrganizations]).to.deep.equal(['A', 'B']);
    const greedy = Array.from({ length: 20 }, () => [24, 24]);
    const crowd = decidedFor([...greedy, [1]]);
    expect(crowd.full).to.equal(false);
    expect(crowd.fullOrganizations.size).to.equal(20);
    expect(crowd.fullOrganizations.has('U'), 'the last one').to.equal(false);
  });

  it('leaves room for the other destinations of an organization', () => {
    expect(fullOf([[249], []])).to.equal('');
    expect(fullOf([[250], []])).to.equal('a');
    expect(fullOf([[250, 10], []])).to.equal('a');
  });

  it('opens an organization at nine tenths of what closed it', () => {
    const closed = decidedFor([[250, 250], []]);
    expect([...closed.fullOrganizations]).to.deep.equal(['A']);
    expect([...decidedFor([[230, 230], []], closed).fullOrganizations]).to.deep.equal(['A']);
    expect([...decidedFor([[220, 220], []], closed).fullOrganizations]).to.deep.equal([]);
  });
});
