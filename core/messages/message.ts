// What a message to a channel says, before it is written in the form of its type.

import { plural } from '../text/words.ts';
import type { Change, ChannelType } from './channel.ts';
import type { Issue, IssueKind, IssueSubject } from './issues.ts';

export interface PeopleLinks {
  /** Base of the API's addresses; empty when it is not known. */
  apiBase: string;
  hasConsole: boolean;
}

/**
 * Its page in the console, which asks for a key; without a console what the API says of it, which needs one.
 * @param path of the record in both, such as `/issues/iss_...`
 */
export function peopleLink({ apiBase, hasConsole }: PeopleLinks, path: string): string {
  return `${apiBase}${hasConsole ? '/console' : '/api'}${path}`;
}

/** A record that a message is about; its name is null when it was deleted. */
export interface Named {
  id: string;
  name: string | null;
}

/** An issue with the names of what it is about. Names and the cause may hold any text, and must be escaped. */
export type AlertIssue = Omit<Issue, keyof IssueSubject | 'changedAt'> &
  Pick<Issue, 'kind'> &
  Record<'source' | 'route' | 'destination', Named | null>;

export interface IssueChange {
  change: Change;
  issue: AlertIssue;
  exhausted: boolean;
}

export interface FailingChannel {
  id: string;
  name: string;
  type: ChannelType;
  since: Date;
  error: string;
}

export type AlertContent =
  | { kind: 'change'; issueChange: IssueChange }
  /** `changes` may be empty: what it told of is gone. */
  | { kind: 'digest'; changes: IssueChange[] }
  /** Another channel gave up a message; `changes` are what that told. */
  | { kind: 'failing'; channel: FailingChannel; changes: IssueChange[] }
  /** Another channel, of which it was told that it fails, does not any more. */
  | { kind: 'recovered'; channel: Named }
  | { kind: 'test' };

export interface AlertMessage extends PeopleLinks {
  id: string;
  at: Date;
  organization: { id: string; slug: string };
  channel: { id: string; name: string };
  content: AlertContent;
}

const WORDS: Record<IssueKind, [title: string, opened: string, resolved: string]> = {
  delivery_failing: ['Deliveries failing', 'delivery.failing', 'destination.recovered'],
  circuit_open: ['Circuit breaker open', 'circuit.opened', 'circuit.closed'],
  transform_failing: ['Transform failing', 'transform.failing', 'transform.recovered'],
  schema_refusing: ['Schema mismatch', 'schema.refusing', 'schema.recovered'],
  signature_failing: ['Signature verification failing', 'signature.failing', 'signature.recovered'],
  order_blocked: ['Ordering key blocked', 'order.blocked', 'order.unblocked'],
  warehouse_not_writable: ['Warehouse not writable', 'warehouse.failing', 'warehouse.recovered'],
  quota_reached: ['Limit reached', 'quota.reached', 'quota.recovered'],
  ingest_refused: ['Webhooks refused', 'ingest.refused', 'ingest.recovered'],
  notification_failing: ['Notifications failing', 'notification.failing', 'notification.recovered'],
};
const EXHAUSTED = 'delivery.exhausted';

export const ISSUE_EVENT_TYPES = [
  ...Object.values(WORDS).flatMap(([, ...types]) => types),
  EXHAUSTED,
  'issue.acknowledged',
  'issue.ignored',
];

/** Whether it tells that deliveries have failed for good: with the first word about the issue, or with one more. */
const isExhausted = ({ change, issue, exhausted }: IssueChange): boolean =>
  change === 'exhausted' || (change === 'opened' && issue.kind === 'delivery_failing' && exhausted);

export function eventType(issueChange: IssueChange): string {
  const { change, issue } = issueChange;
  if (change === 'acknowledged' || change === 'ignored') return `issue.${change}`;
  if (change === 'exhausted' || isExhausted(issueChange)) return EXHAUSTED;
  const [, opened, resolved] = WORDS[issue.kind] ?? [];
  return (change === 'opened' ? opened : resolved) ?? `issue.${change}`;
}

const PREFIX: Record<Change, string> = {
  opened: '',
  exhausted: '',
  acknowledged: 'Acknowledged: ',
  resolved: 'Resolved: ',
  ignored: 'Ignored: ',
};

/** What a change is about, without the names. */
const whatOf = (change: IssueChange): string =>
  `${PREFIX[change.change]}${isExhausted(change) ? 'Deliveries failed permanently' : (WORDS[change.issue.kind]?.[0] ?? change.issue.kind)}`;

function subjectOf({ source, route, destination }: AlertIssue): string {
  const names = [route ?? source, destination].flatMap((each) => (each ? [each.name ?? '(deleted)'] : []));
  return names.join(' to ');
}

export function titleOf({ content }: Pick<AlertMessage, 'content'>): string {
  switch (content.kind) {
    case 'change':
      return titleOfChange(content.issueChange);
    case 'digest':
      return plural(content.changes.length, 'issue change');
    case 'failing':
      return `Alert channel ${content.channel.name} is failing`;
    case 'recovered':
      return content.channel.name === null
        ? 'The failing alert channel was deleted'
        : `Alert channel ${content.channel.name} has recovered`;
    case 'test':
      return 'This is a test message for an alert channel';
  }
}

function titleOfChange(change: IssueChange): string {
  const subject = subjectOf(change.issue);
  return subject === '' ? whatOf(change) : `${whatOf(change)}: ${subject}`;
}

function linesOf(message: AlertMessage): [string, string][] {
  const { content, organization } = message;
  const of: [string, string][] = [['Organization', organization.slug]];
  switch (content.kind) {
    case 'change':
      return [...linesOfIssue(content.issueChange.issue), ...of];
    case 'digest':
      return [...content.changes.map(shortLine), ...of];
    case 'failing':
      return [
        ['Channel', content.channel.name],
        ['Type', content.channel.type],
        ['Since', content.channel.since.toISOString()],
        ['Error', content.channel.error],
        ...content.changes.map(shortLine),
        ...of,
      ];
    case 'recovered':
      return [['Channel', content.channel.name ?? '(deleted)'], ...of];
    case 'test':
      return [['Channel', message.channel.name], ...of];
  }
}

const shortLine = (change: IssueChange): [string, string] => [
  change.issue.id,
  `${titleOfChange(change)} (${change.issue.cause}, ${plural(change.issue.count, 'time')})`,
];

function linesOfIssue(issue: AlertIssue): [string, string][] {
  const named: [string, Named | null][] = [
    ['Source', issue.source],
    ['Route', issue.route],
    ['Destination', issue.destination],
  ];
  const samples: [string, string | null][] = [
    ['Event', issue.sampleEventId],
    ['Delivery', issue.sampleDeliveryId],
  ];
  return [
    ...named.flatMap(([label, each]): [string, string][] => (each ? [[label, each.name ?? '(deleted)']] : [])),
    ['Kind', issue.kind],
    ['Cause', issue.cause],
    ['Count', String(issue.count)],
    ['First seen', issue.firstSeenAt.toISOString()],
    ['Last seen', issue.lastSeenAt.toISOString()],
    ...samples.flatMap(([label, id]): [string, string][] => (id === null ? [] : [[label, id]])),
    ['Issue', issue.id],
  ];
}

/** Where people see the issue of a message; null when there is none, or the address of the API is not known. */
export function linkOf(message: AlertMessage): string | null {
  const { content, apiBase } = message;
  return content.kind === 'change' && apiBase !== ''
    ? peopleLink(message, `/issues/${content.issueChange.issue.id}`)
    : null;
}

const MAX_TITLE = 140;
const MAX_VALUE = 500;
/** Lines of a message at most; more are counted. */
const MAX_LINES = 40;
/** Changes of a digest: what every form can show, beside the lines about a channel that fails and the organization. */
export const MAX_DIGEST_CHANGES = MAX_LINES - 5;

/** The title of a message on one line, without anything that programs make a link of. */
export const safeTitle = (message: AlertMessage, length = MAX_TITLE): string => oneLine(titleOf(message), length);

export function safeLines(message: AlertMessage, most = MAX_LINES): [string, string][] {
  const lines = linesOf(message).map(([label, value]): [string, string] => [label, oneLine(value, MAX_VALUE)]);
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most - 1), ['More', String(lines.length - most + 1)]];
}

const MAX_NAME = 120;

/**
 * One line without control, format and line-separating characters, so that no name can add a header or hide text; and
 * nothing that a mail program makes a link of, so that a name cannot send the reader anywhere.
 */
export function oneLine(text: string, length = MAX_NAME): string {
  return shorten(withoutLinks(text.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()), length);
}

// What stands between the labels of a domain: a dot, or what browsers read as one (UTS 46).
const LINKING_DOT = /(?<=[\p{L}\p{N}\p{M}-])[.\u3002\uff0e\uff61](?=[\p{L}\p{M}])/gu;
const AFTER_SCHEME = /:(?=[/\\])/g;

/** The usual way to write an address that is not to be followed: `https[:]//evil[.]example`. */
function withoutLinks(text: string): string {
  return text.replace(AFTER_SCHEME, '[:]').replace(LINKING_DOT, '[.]');
}

function shorten(text: string, length: number): string {
  const characters = Array.from(text);
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`;
}
