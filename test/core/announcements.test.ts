import { expect } from 'chai';
import {
  announce,
  announcedAfter,
  type ChannelState,
  chooseOther,
  decideChange,
  type IssueNews,
  inTurn,
} from '../../core/messages/announcements.ts';
import { isQuiet } from '../../core/messages/channel.ts';
import { MAX_DIGEST_CHANGES } from '../../core/messages/message.ts';

const NOW = new Date('2026-11-23T21:30:00.000Z');
const minutesAgo = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000);
const channel: ChannelState = {
  ...{ id: 'alc_1', organizationId: 'org_1', onAcknowledged: true, onResolved: true, throttleMinutes: 15 },
  ...{ quietHours: null, digestMinutes: null, lastDigestAt: null, failingSince: null, failedAt: null },
  ...{ lastSentAt: minutesAgo(60), underWay: 0 },
};
const news = (members: Partial<IssueNews> = {}): IssueNews => ({
  ...{ issueId: 'iss_1', state: 'open', changedAt: minutesAgo(1), exhaustedAt: null },
  ...{ announced: null, announcedAt: null, announcedExhausted: false },
  ...members,
});
const long = { announcedAt: minutesAgo(16) };
const lately = { announcedAt: minutesAgo(14) };
const exhausted = { exhaustedAt: minutesAgo(2) };
const acknowledged = { state: 'acknowledged', announced: 'acknowledged' } as const;

const toldOf = (state: IssueNews['state']) => ({ state, announced: 'opened', ...long }) as const;

type Row = [name: string, issue: Partial<IssueNews>, rules: Partial<ChannelState>, expected: string | null];
const ROWS: Row[] = [
  ['an open issue', {}, {}, 'opened'],
  ['not one that is acknowledged before anyone was notified', { state: 'acknowledged' }, {}, null],
  ['not one that is known', toldOf('open'), {}, null],
  ['one that is opened again', { announced: 'acknowledged', ...long }, {}, 'opened'],
  ['one that is opened again after its end', { announced: 'resolved', ...long }, {}, 'opened'],
  ['not before the throttle has passed', { announced: 'resolved', ...lately }, {}, null],
  ['what was not delivered, after the throttle', { announced: null, ...long }, {}, 'opened'],
  ['an acknowledgement', toldOf('acknowledged'), {}, 'acknowledged'],
  ['no acknowledgement where it is not wanted', toldOf('acknowledged'), { onAcknowledged: false }, null],
  ['an end', toldOf('resolved'), {}, 'resolved'],
  ['an end after an acknowledgement', { state: 'ignored', announced: 'acknowledged', ...long }, {}, 'ignored'],
  ['no end within the throttle', { ...toldOf('resolved'), ...lately }, {}, null],
  ['an end that is not wanted', toldOf('resolved'), { onResolved: false }, 'forget'],
  ['no ignored issue where ends are not wanted', toldOf('ignored'), { onResolved: false }, null],
  [
    'a delivery that failed for good, within the throttle',
    { ...toldOf('open'), ...lately, ...exhausted },
    {},
    'exhausted',
  ],
  ['it once', { ...toldOf('open'), ...exhausted, announcedExhausted: true }, {}, null],
  ['it with the first word', { ...exhausted }, {}, 'opened'],
  ['it of an acknowledged issue', { ...acknowledged, ...lately, ...exhausted }, {}, 'exhausted'],
  ['not of one that has ended', { ...toldOf('resolved'), ...lately, ...exhausted }, {}, null],
  ['no end of what nobody was notified of', { state: 'resolved' }, {}, null],
  ['no ignored issue that nobody was notified of', { state: 'ignored' }, {}, null],
  ['no acknowledgement after the end', { ...acknowledged, announced: 'resolved', ...long }, {}, null],
  ['it when the throttle has just passed', { announced: 'resolved', announcedAt: minutesAgo(15) }, {}, 'opened'],
  ['not what a clock is a little ahead of', { announced: 'resolved', announcedAt: minutesAgo(-1) }, {}, null],
  ['what a clock of the future would hold up', { announced: 'resolved', announcedAt: minutesAgo(-60) }, {}, 'opened'],
];

const many = (count: number, changedAt = minutesAgo(30)) =>
  Array.from({ length: count }, (_, n) => news({ issueId: `iss_${String(n).padStart(3, '0')}`, changedAt }));
const sizes = (rules: Partial<ChannelState>, issues: IssueNews[]) =>
  announce({ ...channel, ...rules }, issues, NOW).messages.map(({ changes }) => changes.length);

describe('a channel is notified of', () => {
  for (const [name, issue, rules, expected] of ROWS) {
    it(name, () => {
      const decision = decideChange({ ...channel, ...rules }, news(issue), NOW);
      expect(decision !== null && decision !== 'forget' ? decision.change : decision).to.equal(expected);
    });
  }
});

describe('the messages of a channel', () => {
  it('are one for each change, the oldest first', () => {
    const issues = [1, 2].map((minutes) => news({ issueId: `iss_${minutes + 1}`, changedAt: minutesAgo(minutes) }));
    const { messages } = announce(channel, issues, NOW);
    expect(messages.map(({ changes }) => changes.map(({ issueId }) => issueId))).to.deep.equal([['iss_3'], ['iss_2']]);
  });

  const BOUNDS: [string, Partial<ChannelState>, number][] = [
    ['a channel that has taken one', {}, 100],
    ['a channel with some on their way', { underWay: 98 }, 2],
    ['a channel with too many on their way', { underWay: 101 }, 0],
    ['a new channel', { lastSentAt: null }, 5],
    ['a channel that fails', { failingSince: minutesAgo(60), failedAt: minutesAgo(15) }, 1],
    ['a channel that has just failed', { failingSince: minutesAgo(60), failedAt: minutesAgo(14) }, 0],
    ['a channel that failed by a clock of the future', { failingSince: minutesAgo(-60), failedAt: minutesAgo(-60) }, 1],
    ['quiet hours', { quietHours: { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' } }, 0],
  ];
  for (const [name, rules, expected] of BOUNDS)
    it(`are ${expected} at most for ${name}`, () => expect(sizes(rules, many(150))).to.have.length(expected));

  const digest = { digestMinutes: 10 };
  const DIGESTS: [string, Partial<ChannelState>, IssueNews[], number[]][] = [
    ['when its oldest change is old enough', {}, [...many(1, minutesAgo(10)), news({ issueId: 'iss_9' })], [2]],
    ['not before', {}, many(3, minutesAgo(9)), []],
    ['with what every form can show', {}, many(40), [MAX_DIGEST_CHANGES]],
    ['not while one is on its way', { underWay: 1 }, many(1), []],
    ['not soon after the last', { lastDigestAt: minutesAgo(9) }, many(1), []],
    ['after the last', { lastDigestAt: minutesAgo(10) }, many(1), [1]],
    ['not of nothing', {}, [], []],
    ['after one of a clock of the future', { lastDigestAt: minutesAgo(-60) }, many(1, minutesAgo(-60)), [1]],
  ];
  for (const [name, rules, issues, expected] of DIGESTS)
    it(`are a digest ${name}`, () => expect(sizes({ ...digest, ...rules }, issues)).to.deep.equal(expected));

  it('are whole digests, or such as leave something out', () => {
    const digestOf = (count: number) => announce({ ...channel, ...digest }, many(count), NOW).messages[0]?.digest;
    expect([digestOf(MAX_DIGEST_CHANGES), digestOf(MAX_DIGEST_CHANGES + 1)]).to.deep.equal(['whole', 'part']);
  });

  it('say what the channel knew before, in the order of the issues, and what it forgets', () => {
    const ended = { state: 'resolved', announced: 'opened', ...long } as const;
    const issues = [
      news({ issueId: 'iss_3', ...exhausted }),
      news({ issueId: 'iss_2', state: 'acknowledged', announced: 'opened', ...long }),
      news({ issueId: 'iss_1', announced: 'opened', ...lately, ...exhausted, exhaustedAt: minutesAgo(1) }),
    ];
    const { messages } = announce(channel, issues, NOW);
    const changes = messages.flatMap((message) => message.changes);
    expect(changes).to.deep.equal([
      { issueId: 'iss_1', change: 'exhausted', before: 'opened', exhausted: true },
      { issueId: 'iss_2', change: 'acknowledged', before: 'opened', exhausted: false },
      { issueId: 'iss_3', change: 'opened', before: null, exhausted: true },
    ]);
    expect(changes.map(announcedAfter)).to.deep.equal(['opened', 'acknowledged', 'opened']);
    const forgets = (rules: Partial<ChannelState>, ...more: IssueNews[]) =>
      announce({ ...channel, onResolved: false, ...rules }, [news(ended), ...more], NOW).forgotten;
    expect([forgets({}), forgets({}, news({ issueId: 'iss_2' }))]).to.deep.equal([['iss_1'], ['iss_1']]);
    expect([forgets({ digestMinutes: 10 }), forgets({ onResolved: true })]).to.deep.equal([['iss_1'], []]);
  });

  it('share a round with those of others', () => {
    const of = (id: string, count: number) =>
      announce({ ...channel, id, organizationId: id }, many(count), NOW).messages;
    const taken = inTurn([...Array.from({ length: 8 }, (_, n) => of(`alc_${n}`, 100)), of('alc_small', 1)]);
    expect(taken).to.have.length(500);
    expect(taken.findIndex((each) => each.channel.id === 'alc_small')).to.equal(8);
  });
});

describe('quiet hours', () => {
  const night = { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' };
  const TIMES: [string, boolean][] = [
    ['2026-11-23T20:59:00Z', false],
    ['2026-11-23T21:00:00Z', true],
    ['2026-11-24T00:00:00Z', true],
    ['2026-11-24T05:59:00Z', true],
    ['2026-11-24T06:00:00Z', false],
  ];
  for (const [at, expected] of TIMES)
    it(`${expected ? 'hold' : 'do not hold'} at ${at}`, () => expect(isQuiet(night, new Date(at))).to.equal(expected));

  it('hold within a day, and never in a time zone that is not known', () => {
    const noon = { from: '12:00', to: '13:00', timeZone: 'UTC' };
    expect(isQuiet(noon, new Date('2026-11-23T12:30:00Z'))).to.equal(true);
    expect(isQuiet(noon, new Date('2026-11-23T13:00:00Z'))).to.equal(false);
    expect(isQuiet({ ...noon, timeZone: 'Mars/Base' }, new Date('2026-11-23T12:30:00Z'))).to.equal(false);
  });
});

it('a channel that fails is reported to one that may be notified now, and makes no incident', () => {
  const quietHours = { from: '00:00', to: '24:00', timeZone: 'UTC' };
  const other = (id: string, type: string, quiet = false) => ({ id, type, quietHours: quiet ? quietHours : null });
  expect(chooseOther([other('a', 'slack', true), other('b', 'pagerduty'), other('c', 'mail')], NOW)?.id).to.equal('c');
  expect(chooseOther([other('a', 'slack', true), other('b', 'pagerduty')], NOW)?.id).to.equal('b');
  expect(chooseOther([other('a', 'mail'), other('b', 'slack')], NOW)?.id).to.equal('a');
  expect(chooseOther([], NOW)).to.equal(undefined);
});
