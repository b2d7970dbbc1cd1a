// Messages as mails, in plain text and HTML: about deliveries of a route, about issues, and the one that asks for
// consent.
import type { ErrorSummary } from '../text/error-summary.ts';
import { type AlertMessage, linkOf, oneLine, safeLines, safeTitle } from './message.ts';

/** The content of a mail. Names come from the records of the route; all values may contain markup and must be escaped. */
export interface MailFacts {
  kind: 'failure' | 'recovery' | 'success';
  routeName: string;
  /** Null when the record was deleted. */
  sourceName: string | null;
  destinationName: string | null;
  /** Number of deliveries, or of destinations that have recovered; the facts below are those of the latest delivery. */
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
function writeMail(subject: string, intro: string, rows: [string, string][], links: [string, string][]): MailText {
  return { subject, text: plainText(intro, rows, links), html: html(intro, rows, links) };
}

/** @param link of the page that ends such mails to this recipient */
export function withStopLink({ subject, text, html: page }: MailText, link: string): MailText {
  const end = `<p><a href="${escapeHtml(link)}">Stop these mails</a></p>\n</body>`;
  return { subject, text: `${text}\nStop these mails: ${link}\n`, html: page.replace('</body>', () => end) };
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
  if (count > 1) return `${again}: ${count} destinations have recovered since the last message. This is the latest:`;
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

/** A message to a channel of type mail. */
export function alertMail(message: AlertMessage): MailText {
  const title = safeTitle(message);
  const link = linkOf(message);
  return writeMail(`[Hookyard] ${title}`, `${title}.`, safeLines(message), link === null ? [] : [['Issue', link]]);
}

/** How long the link of a confirmation mail works. */
export const CONFIRM_WITHIN_MS = 7 * 24 * 3_600_000;

/**
 * Asks the owner of an address whether an organization may send mails there. It holds nothing that a tenant has
 * written: organizations are named by their operator.
 * @param facts.link the page that asks; following it alone confirms nothing, since mail scanners do that too
 */
export function renderConfirmation(facts: { organization: string; link: string; expiresAt: Date }): MailText {
  const { organization, link } = facts;
  const until = `${facts.expiresAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const ask = `The organization "${organization}" wants to send notifications about its webhooks to this address.`;
  const yes = 'If you want them, open this page and press the button:';
  const no = `If you do not, do nothing: without your consent you get no notifications. The page works until ${until}.`;
  return {
    subject: `[Hookyard] Do you want notifications of ${organization}?`,
    text: `${[ask, '', yes, link, '', no].join('\n')}\n`,
    html: `<!doctype html>\n<html><body>\n<p>${ask}</p>\n<p>${yes}<br><a href="${link}">${link}</a></p>\n<p>${no}</p>\n</body></html>\n`,
  };
}
