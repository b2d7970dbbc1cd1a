import { expect } from 'chai';
import { newId } from '../../core/text/ids.ts';
import { IssueCounts } from '../../core/messages/issue-counts.ts';
import { issueSubjects, MAX_CAUSES } from '../../core/messages/issues.ts';

const organizationId = newId('org');
const [routeId, destinationId] = [newId('rte'), newId('dst')];
const subject = issueSubjects.delivery(organizationId, routeId, destinationId);

const failure = (cause: string, at = 1) => ({ cause, at });
const only = (counts: IssueCounts) => {
  const { failing, working } = counts.subjects();
  expect([failing.length, working.length]).to.deep.equal([1, 0]);
  const [counted] = failing;
  if (!counted) throw new Error('nothing was counted');
  return counted;
};
/** A failure in each of so many organizations. */
const flood = (counts: IssueCounts, prefix = 'org_') => {
  for (let n = 0; n < 3000; n += 1)
    counts.failed(issueSubjects.delivery(`${prefix}${n}`, routeId, 'dst'), failure('A'));
};
const totalOf = (counts: IssueCounts) =>
  counts
    .subjects()
    .failing.flatMap(({ causes }) => [...causes.values()])
    .reduce((sum, { count }) => sum + count, 0);

describe('failures in memory', () => {
  it('are counted by cause, with the first, the last and a late sample', () => {
    const counts = new IssueCounts();
    counts.failed(subject, { ...failure('HTTP_500', 20), eventId: 'evt_1', deliveryId: 'dlv_1' });
    counts.failed(subject, failure('TIMEOUT', 30));
    counts.failed(subject, { ...failure('HTTP_500', 40), eventId: 'evt_2', deliveryId: 'dlv_2', isFinal: true });
    counts.failed(subject, failure('HTTP_500', 10));
    const { causes, streak, worked } = only(counts);
    expect({ streak, worked }).to.deep.equal({ streak: 4, worked: false });
    expect(causes.get('HTTP_500')).to.deep.equal({
      ...{ cause: 'HTTP_500', count: 3, firstAt: 10, lastAt: 40, isFinal: true, eventId: 'evt_2', deliveryId: 'dlv_2' },
    });
    expect(causes.get('TIMEOUT')?.count).to.equal(1);
  });

  it('are in a row since the last success', () => {
    const counts = new IssueCounts();
    counts.worked(subject);
    counts.failed(subject, failure('A'));
    expect(only(counts)).to.include({ streak: 1, worked: true });
    counts.worked(subject);
    expect(only(counts)).to.include({ streak: 0, worked: true });
    counts.failed(subject, failure('A'));
    counts.failed(subject, failure('A'));
    expect(only(counts)).to.include({ streak: 2, worked: true });
    expect(totalOf(counts)).to.equal(3);
  });

  it('that could not be stored come before those that came since', () => {
    const counted = (...steps: ('fails' | 'works')[]) => {
      const counts = new IssueCounts();
      for (const step of steps) {
        if (step === 'works') counts.worked(subject);
        else counts.failed(subject, failure('A'));
      }
      return counts;
    };
    const joined = (earlier: IssueCounts, later: IssueCounts) => {
      later.precede(earlier);
      const { streak, worked } = only(later);
      return { streak, worked, total: totalOf(later) };
    };
    const both = { streak: 3, worked: false, total: 3 };
    expect(joined(counted('fails', 'fails'), counted('fails'))).to.deep.equal(both);
    expect(joined(counted('fails'), counted('works'))).to.deep.equal({ streak: 0, worked: true, total: 1 });
    expect(joined(counted('works'), counted('fails'))).to.deep.equal({ streak: 1, worked: true, total: 1 });
    const mended = { streak: 1, worked: true, total: 2 };
    expect(joined(counted('fails'), counted('works', 'fails'))).to.deep.equal(mended);
    expect(joined(counted('works', 'fails'), counted('fails'))).to.deep.equal({ ...mended, streak: 2 });
  });

  it('that have only worked before stay counted, and what found no place too', () => {
    const [earlier, later] = [new IssueCounts(), new IssueCounts()];
    expect([earlier.isEmpty, earlier.window === earlier]).to.deep.equal([true, true]);
    earlier.worked(subject);
    expect(earlier.isEmpty).to.equal(false);
    later.precede(earlier);
    expect(later.subjects()).to.deep.equal({ failing: [], working: [subject] });
    flood(earlier);
    flood(later, 'org_x');
    later.precede(earlier);
    expect(totalOf(later) + later.takeUncounted()).to.equal(6000);
    expect(later.isEmpty).to.equal(false);
  });

  it('of too many causes are counted together', () => {
    const counts = new IssueCounts();
    for (let n = 0; n < 500; n += 1) counts.failed(subject, failure(`HTTP_${n}`));
    const { causes } = only(counts);
    expect(causes.size).to.equal(MAX_CAUSES + 1);
    expect(causes.get('OTHER')?.count).to.equal(500 - MAX_CAUSES);
    expect(totalOf(counts)).to.equal(500);
  });

  it('of too many subjects are counted by organization and kind, and leave room for others', () => {
    const counts = new IssueCounts();
    for (let n = 0; n < 5000; n += 1) {
      counts.failed(issueSubjects.delivery(organizationId, routeId, `dst_${n}`), failure('HTTP_500'));
      counts.worked(issueSubjects.delivery(organizationId, routeId, `dst_ok_${n}`));
    }
    const { failing, working } = counts.subjects();
    expect(failing.length).to.be.within(2, 1000);
    expect(working.length).to.be.within(1, 4000);
    expect(totalOf(counts)).to.equal(5000);
    const together = failing.filter(({ subject: { routeId: route } }) => route === null);
    expect(together.map(({ causes }) => [...causes.keys()])).to.deep.equal([['OTHER']]);
    const neighbour = issueSubjects.delivery(newId('org'), newId('rte'), newId('dst'));
    counts.failed(neighbour, failure('HTTP_500'));
    expect(
      counts.subjects().failing.some(({ subject: { destinationId: to } }) => to === neighbour.destinationId),
    ).to.equal(true);
    expect(counts.takeUncounted()).to.equal(0);
  });

  it('of too many organizations are bounded, and the rest is known to be uncounted', () => {
    const counts = new IssueCounts();
    flood(counts);
    const uncounted = counts.takeUncounted();
    expect(totalOf(counts) + uncounted).to.equal(3000);
    expect(counts.subjects().failing.length).to.be.at.most(2000);
    expect(uncounted).to.be.greaterThan(0);
    expect(counts.takeUncounted()).to.equal(0);
  });
});
