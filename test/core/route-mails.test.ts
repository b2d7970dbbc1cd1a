// When a route sends a mail, and about which deliveries.
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

interface Case {
  kind: MailKind;
  drafts: Draft[];
  last?: Date | 'under way';
  /**
   * The count of the mail and its latest delivery; or in how many seconds it may go, null: not before another delivery.
   */
  expected: [number, string] | number | null;
}

const failed = draft('a', 3, 1, 2, factsOf('dlv_1', 1));
const waiting = draft('a', 3, 1, 2, null);
const recovered = draft('a', 9, 4, 2, factsOf('dlv_2', 2, { status_code: 200 }));
const CASES: Record<string, Case> = {
  'a failure at once': { kind: 'failure', drafts: [failed], expected: [2, 'dlv_1'] },
  'failures of several destinations together, with the facts of the latest': {
    kind: 'failure',
    drafts: [failed, draft('b', 20, 10, 5, factsOf('dlv_9', 10))],
    expected: [7, 'dlv_1'],
  },
  'the next failure five minutes after the last mail': {
    kind: 'failure',
    drafts: [failed],
    last: secondsAgo(100),
    expected: 200,
  },
  'a failure whose last mail is long ago': {
    kind: 'failure',
    drafts: [failed],
    last: secondsAgo(300),
    expected: [2, 'dlv_1'],
  },
  'nothing while a mail of the kind is under way': {
    kind: 'failure',
    drafts: [failed],
    last: 'under way',
    expected: 60,
  },
  'successes a minute after the first': {
    kind: 'success',
    drafts: [draft('a', 20, 1, 3, factsOf('dlv_3', 1))],
    expected: 40,
  },
  'successes of a minute': {
    kind: 'success',
    drafts: [draft('a', 60, 1, 3, factsOf('dlv_3', 1))],
    last: secondsAgo(60),
    expected: [3, 'dlv_3'],
  },
  'no recovery before a success': { kind: 'recovery', drafts: [waiting], expected: null },
  'the first success after failures': { kind: 'recovery', drafts: [recovered], expected: [1, 'dlv_2'] },
  'only what has recovered': { kind: 'recovery', drafts: [waiting, { ...recovered, id: 'b' }], expected: [1, 'dlv_2'] },
  'no recovery of a destination that has failed again': {
    kind: 'recovery',
    drafts: [{ ...recovered, lastAt: secondsAgo(1) }],
    expected: null,
  },
  'no recovery by a probe of an open circuit': {
    kind: 'recovery',
    drafts: [{ ...recovered, facts: factsOf('dlv_2', 2, { circuit_open: true }) }],
    expected: null,
  },
  'a recovery five minutes after the last mail': {
    kind: 'recovery',
    drafts: [recovered],
    last: secondsAgo(240),
    expected: 60,
  },
};

describe('the mail of a route', () => {
  for (const [name, { kind, drafts, last = null, expected }] of Object.entries(CASES)) {
    it(`tells ${name}`, () => {
      const decision = decideMail(kind, drafts, last, NOW);
      const found =
        'send' in decision
          ? [decision.send.count, decision.send.facts.delivery_id]
          : decision.at && (decision.at.getTime() - NOW.getTime()) / 1000;
      expect(found).to.deep.equal(expected);
    });
  }

  it('of a recovery says how many deliveries had failed before, and since when', () => {
    const decision = decideMail('recovery', [recovered], null, NOW);
    expect(decision)
      .to.have.nested.property('send.failedBefore')
      .that.deep.equals({
        ...{ count: 2, since: secondsAgo(9).toISOString() },
      });
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
