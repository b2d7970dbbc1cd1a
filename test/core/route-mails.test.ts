import { expect } from 'chai';
import {
  decideMail,
  type Draft,
  isReady,
  type MailKind,
  type OutcomeFacts,
  quietUntil,
} from '../../core/messages/route-mails.ts';

const NOW = new Date('2026-11-21T10:00:00.000Z');
const secondsAgo = (seconds: number) => new Date(NOW.getTime() - seconds * 1000);

const factsOf = (id: string, seconds: number, members: Partial<OutcomeFacts> = {}): OutcomeFacts => ({
  ...{ source_id: 'src_1', destination_id: 'dst_1', event_id: `evt_${id}`, delivery_id: id, attempts: 1 },
  ...{ status_code: 500, error_summary: null, at: secondsAgo(seconds).toISOString() },
  ...members,
});

/** A draft with outcomes so many seconds ago. */
const draft = (id: string, first: number, last: number, count: number, facts: OutcomeFacts | null): Draft => ({
  ...{ id, count, since: secondsAgo(first), lastAt: secondsAgo(last), facts },
});

const failed = draft('a', 3, 1, 2, factsOf('dlv_1', 1));
const waiting = draft('a', 3, 1, 2, null);
const recovered = draft('a', 9, 4, 2, factsOf('dlv_2', 2, { status_code: 200 }));
const failedAgain = { ...recovered, lastAt: secondsAgo(1) };
const probed = { ...recovered, facts: factsOf('dlv_2', 2, { circuit_open: true }) };
const others = draft('b', 20, 10, 5, factsOf('dlv_9', 10));
const succeeded = (first: number) => draft('a', first, 1, 3, factsOf('dlv_3', 1));

/** The mail's count and latest delivery; or in how many seconds it may go, null: not before another delivery. */
type Expected = [number, string] | number | null;
const CASES: [what: string, MailKind, Draft[], Expected, last?: number | 'under way'][] = [
  ['a failure at once', 'failure', [failed], [2, 'dlv_1']],
  ['failures of several destinations together, with the latest facts', 'failure', [failed, others], [7, 'dlv_1']],
  ['the next failure five minutes after the last mail', 'failure', [failed], 200, 100],
  ['a failure whose last mail is long ago', 'failure', [failed], [2, 'dlv_1'], 300],
  ['nothing while a mail of the kind is under way', 'failure', [failed], 60, 'under way'],
  ['successes a minute after the first', 'success', [succeeded(20)], 40],
  ['successes of a minute', 'success', [succeeded(60)], [3, 'dlv_3'], 60],
  ['no recovery before a success', 'recovery', [waiting], null],
  ['the first success after failures', 'recovery', [recovered], [1, 'dlv_2']],
  ['only what has recovered', 'recovery', [waiting, { ...recovered, id: 'b' }], [1, 'dlv_2']],
  ['no recovery of a destination that has failed again', 'recovery', [failedAgain], null],
  ['no recovery by a probe of an open circuit', 'recovery', [probed], null],
  ['a recovery five minutes after the last mail', 'recovery', [recovered], 60, 240],
];

describe('the mail of a route', () => {
  for (const [name, kind, drafts, expected, last = null] of CASES) {
    it(`tells ${name}`, () => {
      const decision = decideMail(kind, drafts, typeof last === 'number' ? secondsAgo(last) : last, NOW);
      const found =
        'send' in decision
          ? [decision.send.count, decision.send.facts.delivery_id]
          : decision.at && (decision.at.getTime() - NOW.getTime()) / 1000;
      expect(found).to.deep.equal(expected);
    });
  }

  it('of a recovery says how many deliveries had failed before, and since when', () => {
    const decision = decideMail('recovery', [recovered], null, NOW);
    const before = { count: 2, since: secondsAgo(9).toISOString() };
    expect(decision).to.have.nested.property('send.failedBefore').that.deep.equals(before);
  });
});

it('a destination has recovered that has worked since, or as late as, it failed last', () => {
  const works = (seconds: number, members = {}) =>
    isReady('recovery', draft('a', 9, 4, 2, factsOf('dlv_2', seconds, { status_code: 200, ...members })));
  expect([works(3), works(4), works(5), works(3, { circuit_open: true })]).to.deep.equal([true, true, false, false]);
  expect([isReady('failure', failed), isReady('failure', waiting)]).to.deep.equal([true, false]);
});

it('a mail is remembered as long as it keeps the next one waiting', () => {
  expect(quietUntil('failure', secondsAgo(300))).to.deep.equal(NOW);
});
