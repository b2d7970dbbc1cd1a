// Notification mails: subject, plain text and HTML.
// Rules: NOTE-05.
import type { ErrorSummary } from '../text/error-summary.ts';

/** The content of a mail. Names come from the records of the route; all values may contain markup and must be escaped. */
export interface MailFacts {
  kind: 'failure' | 'recovery' | 'success';
  routeName: string;
  /** Null when the record was deleted. */
  sourceName: string | null;
  destinationName: string | null;
  /** Number of deliveries in the mail; the facts below are those of the latest. */
  count: number;
  /** When the first of them ended. */
  since: Date;
  eventId: string;
  deliveryId: string;
  attempts: number;
  statusCode: number | null;
  error: ErrorSummary | null;
  /** When it ended. */
  at: Date;
  /** Of a recovery: the failed deliveries before it; a count of 0 means that only the route's circuit was open. */
  failedBefore: { count: number; since: Date } | null;
  /** Of its workflow; null when unknown. */
  temporalUrl: string | null;
  /** Where people see it. */
  deliveryUrl: string;
}

export interface MailText {
  subject: string;
  text: string;
  html: string;
}

const MAX_NAME = 120;
const MAX_ERROR = 2000;

export function renderMail(facts: MailFacts): MailText {
  const what = headline(facts);
  const rows = rowsOf(facts);
  const intro = introduction(facts);
  const links: [string, string][] = [['Delivery', facts.deliveryUrl]];
  if (facts.temporalUrl !== null) links.unshift(['Temporal UI', facts.temporalUrl]);
  return writeMail(`[Hookyard] ${oneLine(facts.routeName)}: ${what}`, intro, rows, links);
}

/**
 * A mail of a sentence, a table and links, in both forms.
 * @param subject, intro, rows hold foreign text only as `oneLine` has made it
 * @param links by their names
 */
export function writeMail(
  subject: string,
  intro: string,
  rows: [string, string][],
  links: [string, string][],
): MailText {
  return { subject, text: plainText(intro, rows, links), html: html(intro, rows, links) };
}

/** @param link of the page that ends such mails to this recipient */
export function withStopLink({ subject, text, html: page }: MailText, link: string): MailText {
  const end = `<p><a href="${escapeHtml(link)}">Stop these mails</a></p>\n</body>`;
  return { subject, text: `${text}\nStop these mails: ${link}\n`, html: page.replace('</body>', () => end) };
}

/** The addresses of a route's `notifyEmails`: comma-separated, checked when the route was stored. */
export function recipients(notifyEmails: string): string[] {
  const addresses = notifyEmails.split(',').map((address) => address.trim());
  return [...new Set(addresses.filter((address) => address !== ''))];
}

/**
 * The Message-ID (RFC 5322, section 3.6.4), the same for every try to send a mail, so that repeated mails are recognized: the
 * latest delivery in it is not in any other mail of its kind.
 * @param from the sender's address, whose domain it gets
 */
export function messageId(kind: MailFacts['kind'], deliveryId: string, from: string): string {
  return `<${kind}.${deliveryId}@${from.slice(from.lastIndexOf('@') + 1)}>`;
}

function headline({ kind, count, destinationName }: MailFacts): string {
  const to = destinationName === null ? '' : ` to ${oneLine(destinationName)}`;
  if (kind === 'recovery') return `delivering again${to}`;
  const ended = kind === 'failure' ? 'failed' : 'succeeded';
  return count === 1 ? `delivery${to} ${ended}` : `${count} deliveries ${ended}`;
}

function introduction(facts: MailFacts): string {
  const route = oneLine(facts.routeName);
  if (facts.kind === 'recovery') return recoverySentence(facts, route);
  const ended = facts.kind === 'failure' ? 'failed' : 'succeeded';
  if (facts.count === 1) return `A delivery of the route ${route} ${ended}.`;
  return `${facts.count} deliveries of the route ${route} ${ended} since ${facts.since.toISOString()}. This is the latest:`;
}

function recoverySentence({ count, failedBefore }: MailFacts, route: string): string {
  const again = `The route ${route} delivers again`;
  if (count > 1) return `${again}: it recovered ${count} times since the last message. This is the latest:`;
  if (failedBefore === null) return `${again}.`;
  const since = failedBefore.since.toISOString();
  if (failedBefore.count === 0) {
    return `${again}: its circuit opened at ${since} and is closed now. This is the first delivery after that:`;
  }
  const deliveries = failedBefore.count === 1 ? '1 delivery' : `${failedBefore.count} deliveries`;
  return `${again}, after ${deliveries} that failed since ${since}. This is the first that succeeded:`;
}

function rowsOf(facts: MailFacts): [string, string][] {
  const outcome: [string, string][] = [];
  if (facts.statusCode !== null) outcome.push(['Last status', String(facts.statusCode)]);
  if (facts.error !== null) outcome.push(['Error', oneLine(facts.error, MAX_ERROR)]);
  return [
    ['Route', oneLine(facts.routeName)],
    ['Source', oneLine(facts.sourceName ?? '(deleted)')],
    ['Destination', oneLine(facts.destinationName ?? '(deleted)')],
    ['Event', facts.eventId],
    ['Delivery', facts.deliveryId],
    ['Attempts', String(facts.attempts)],
    ...outcome,
    ['Time', facts.at.toISOString()],
  ];
}

function plainText(intro: string, rows: [string, string][], links: [string, string][]): string {
  const width = Math.max(...[...rows, ...links].map(([name]) => name.length)) + 2;
  const lines = (pairs: [string, string][]) => pairs.map(([name, value]) => `${`${name}:`.padEnd(width)}${value}`);
  return `${[intro, '', ...lines(rows), '', ...lines(links)].join('\n')}\n`;
}

function html(intro: string, rows: [string, string][], links: [string, string][]): string {
  const cells = rows.map(
    ([name, value]) => `<tr><th align="left">${escapeHtml(name)}</th><td>${escapeHtml(value)}</td></tr>`,
  );
  const anchors = links.map(
    ([name, url]) => `<p>${escapeHtml(name)}: <a href="${escapeHtml(url)}">${escapeHtml(url)}</a></p>`,
  );
  return [
    '<!doctype html>',
    '<html><body>',
    `<p>${escapeHtml(intro)}</p>`,
    '<table cellpadding="4">',
    ...cells,
    '</table>',
    ...anchors,
    '</body></html>',
    '',
  ].join('\n');
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}

/**
 * One line without control, format and line-separating characters, so that no name can add a header or hide text; and nothing that
 * a mail program makes a link of, so that a name cannot send the reader anywhere.
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
