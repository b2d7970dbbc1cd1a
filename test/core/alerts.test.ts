import { expect } from 'chai';
import { pagerDutyBody, slackBody, teamsBody, webhookBody } from '../../core/messages/bodies.ts';
import { CHANGES, type Change } from '../../core/messages/channel.ts';
import { ISSUE_KINDS } from '../../core/messages/issues.ts';
import { alertMail } from '../../core/messages/mail.ts';
import {
  type AlertIssue,
  type AlertMessage,
  eventType,
  ISSUE_EVENT_TYPES,
  type IssueChange,
  linkOf,
  safeLines,
  safeTitle,
} from '../../core/messages/message.ts';
import { newId } from '../../core/text/ids.ts';
import { formProblems } from '../support/messages/alert-schemas.ts';

const AT = new Date('2026-11-23T10:00:00.000Z');
const HOSTILE = [
  '<!channel> <https://evil.example|Sign in> & <@U1>',
  '*bold* [Sign in](https://evil.example) ![x](https://evil.example/x.png)',
  '{"type":"AdaptiveCard"}", "event_action": "resolve',
  'a\r\nBcc: victim@strangers.example\r\n\r\nhello',
  '\u202Egnp.exe\u0000\u2028',
  '&'.repeat(400),
  '𝕏'.repeat(400),
];

const issueOf = (name: string, members: Partial<AlertIssue> = {}): AlertIssue => ({
  ...{ id: newId('iss'), kind: 'delivery_failing', cause: name, state: 'open', count: 7 },
  ...{ firstSeenAt: AT, lastSeenAt: AT, openedAt: AT, resolvedAt: null },
  source: { id: newId('src'), name },
  route: { id: newId('rte'), name },
  destination: { id: newId('dst'), name },
  ...{ sampleEventId: newId('evt'), sampleDeliveryId: newId('dlv') },
  ...members,
});

const changeOf = (change: Change, issue: AlertIssue, exhausted = false): IssueChange => ({ change, issue, exhausted });

const messageOf = (content: AlertMessage['content'], name = 'On call', hasConsole = true): AlertMessage => ({
  ...{ id: newId('alm'), at: AT, content, apiBase: 'https://hooks.example', hasConsole },
  organization: { id: newId('org'), slug: 'shop' },
  channel: { id: newId('alc'), name },
});

/** Every kind of message with a name in every place. */
function messagesWith(name: string): AlertMessage[] {
  const many = Array.from({ length: 100 }, () => changeOf('opened', issueOf(name)));
  const failing = { id: newId('alc'), name, type: 'slack' as const, since: AT, error: name };
  return [
    ...CHANGES.map((change) => messageOf({ kind: 'change', issueChange: changeOf(change, issueOf(name)) }, name)),
    messageOf({ kind: 'digest', changes: many }, name),
    messageOf({ kind: 'failing', channel: failing, changes: many.slice(0, 3) }, name),
    messageOf({ kind: 'recovered', channel: { id: newId('alc'), name } }, name),
    messageOf({ kind: 'recovered', channel: { id: newId('alc'), name: null } }, name),
    messageOf({ kind: 'test' }, name),
  ];
}

const ROUTING_KEY = 'R0123456789ABCDEFGHIJKLMNOPQRSTU';
const pagerduty = { type: 'pagerduty', routingKey: ROUTING_KEY, severity: 'critical', region: 'us' } as const;

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

describe('messages of alerts', () => {
  for (const name of ['Orders', ...HOSTILE]) {
    it(`have the documented form with ${JSON.stringify(name.slice(0, 30))} as every name`, () => {
      for (const message of messagesWith(name)) {
        expect(formProblems('slack', slackBody(message)), 'Slack').to.deep.equal([]);
        expect(formProblems('teams', teamsBody(message)), 'Teams').to.deep.equal([]);
        expect(formProblems('pagerduty', pagerDutyBody(message, pagerduty)), 'PagerDuty').to.deep.equal([]);
        expect(formProblems('webhook', JSON.parse(JSON.stringify(webhookBody(message)))), 'webhook').to.deep.equal([]);
        const { subject, html } = alertMail(message);
        expect(subject).to.not.match(/[\r\n]|https:/);
        expect(html).to.not.match(/<(?!!doctype|\/?(?:html|body|p|table|tr|th|td|a)\b)/);
        expect(html).to.not.contain('evil.example');
      }
    });
  }

  it('hold nothing that Slack reads as a mention or a link but ours', () => {
    for (const message of HOSTILE.flatMap(messagesWith)) {
      for (const text of textsIn(slackBody(message))) {
        expect(text.replace(/^<https:\/\/hooks\.example\/console\/issues\/iss_\w+\|Issue>$/, '')).to.not.match(/[<>]/);
        expect(text).to.not.contain('evil.example');
      }
    }
  });

  it('hold foreign text in Teams only where no Markdown is read', () => {
    for (const message of HOSTILE.flatMap(messagesWith)) {
      const [first] = (teamsBody(message) as { attachments: { content: { body: { type: string }[] } }[] }).attachments;
      expect(new Set(first?.content.body.map(({ type }) => type))).to.deep.equal(new Set(['RichTextBlock']));
    }
  });

  it('are known to PagerDuty by their issue, which they open, acknowledge and close', () => {
    const issue = issueOf('Orders');
    const told = (change: Change) => messageOf({ kind: 'change', issueChange: changeOf(change, issue) });
    const events = CHANGES.map((change) => pagerDutyBody(told(change), pagerduty) as Record<string, unknown>);
    const actions = events.map(({ event_action }) => event_action).join(' ');
    expect(actions).to.equal('trigger trigger acknowledge resolve resolve');
    expect(new Set(events.map(({ dedup_key }) => dedup_key))).to.deep.equal(new Set([issue.id]));
  });

  it('have a type for every kind of issue and every change, and one for deliveries that failed for good', () => {
    const types = ISSUE_KINDS.flatMap((kind) =>
      CHANGES.map((change) => eventType(changeOf(change, issueOf('x', { kind })))),
    );
    expect(eventType(changeOf('opened', issueOf('x'), true))).to.equal('delivery.exhausted');
    expect(eventType(changeOf('resolved', issueOf('x'), true))).to.equal('destination.recovered');
    expect(new Set(types)).to.deep.equal(new Set(ISSUE_EVENT_TYPES));
    expect(types.slice(0, CHANGES.length)).to.deep.equal([
      ...['delivery.failing', 'delivery.exhausted', 'issue.acknowledged', 'destination.recovered', 'issue.ignored'],
    ]);
  });

  it('have a title that says what about whom, and at most so many lines', () => {
    const issue = issueOf('Orders');
    const change = (of: Change, members: Partial<AlertIssue> = {}, exhausted = false) =>
      ({ kind: 'change', issueChange: changeOf(of, { ...issue, ...members }, exhausted) }) as const;
    const deleted = { id: 'rte_1', name: null };
    const opened = changeOf('opened', issue);
    const titles: [AlertMessage['content'], title: string][] = [
      [change('opened'), 'Deliveries failing: Orders to Orders'],
      [change('opened', {}, true), 'Deliveries failed permanently: Orders to Orders'],
      [change('resolved', {}, true), 'Resolved: Deliveries failing: Orders to Orders'],
      [change('exhausted', { kind: 'circuit_open' }), 'Deliveries failed permanently: Orders to Orders'],
      [change('acknowledged', { route: null }), 'Acknowledged: Deliveries failing: Orders to Orders'],
      [change('ignored', { destination: null, route: deleted }), 'Ignored: Deliveries failing: (deleted)'],
      [change('opened', { source: null, route: null, destination: null }), 'Deliveries failing'],
      [{ kind: 'digest', changes: [opened] }, '1 issue change'],
      [{ kind: 'digest', changes: [opened, opened] }, '2 issue changes'],
      [{ kind: 'recovered', channel: { id: 'alc_1', name: null } }, 'The failing alert channel was deleted'],
      [{ kind: 'recovered', channel: { id: 'alc_1', name: 'Team' } }, 'Alert channel Team has recovered'],
    ];
    for (const [content, title] of titles) expect(safeTitle(messageOf(content))).to.equal(title);
    const long = safeTitle(messageOf(change('opened', { route: { id: 'rte_1', name: 'x'.repeat(500) } })));
    expect(Array.from(long)).to.have.length(140);
    const lines = safeLines(messageOf({ kind: 'digest', changes: Array.from({ length: 100 }, () => opened) }), 10);
    expect([lines.length, lines.at(-1)]).to.deep.equal([10, ['More', '92']]);
    expect(safeLines(messageOf({ kind: 'digest', changes: [opened, opened] }), 3)).to.have.length(3);
  });

  it('lead people to the console, and to the API where there is none', () => {
    const issue = issueOf('Orders');
    const content = { kind: 'change' as const, issueChange: changeOf('opened', issue) };
    expect(linkOf(messageOf(content))).to.equal(`https://hooks.example/console/issues/${issue.id}`);
    const withoutConsole = messageOf(content, 'On call', false);
    expect(linkOf(withoutConsole)).to.equal(`https://hooks.example/api/issues/${issue.id}`);
    expect(linkOf({ ...withoutConsole, apiBase: '' })).to.equal(null);
    // For programs, which have a key.
    expect(JSON.stringify(webhookBody(messageOf(content)))).to.contain(`https://hooks.example/api/issues/${issue.id}`);
  });
});
