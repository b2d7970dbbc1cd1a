// Messages as mails, in plain text and HTML: about deliveries of a route, about issues, and the one that asks for
// consent.
import { plural } from '../text/words.ts';
import { type AlertMessage, linkOf, oneLine, safeLines, safeTitle } from './message.ts';
import type { MailKind, RouteMail } from './route-mails.ts';

/**
 * What a mail of a route is made of. Names come from its records; all values may contain markup and must be escaped.
 */
export interface MailFacts extends RouteMail {
  kind: MailKind;
  routeName: string;
  /** Null when the record was deleted. */
  sourceName: string | null;
  destinationName: string | null;
  /** Of the workflow of the latest delivery; null when unknown. */
  temporalUrl: string | null;
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
  const end = `<p><a href="${escapeHtml(link)}">Stop these emails</a></p>\n</body>`;
  return { subject, text: `${text}\nStop these emails: ${link}\n`, html: page.replace('</body>', () => end) };
}

function headline({ kind, count, destinationName }: MailFacts): string {
  const to = destinationName === null ? '' : ` to ${oneLine(destinationName)}`;
  if (kind === 'recovery') return `delivering again${count > 1 ? ` to ${count} destinations` : to}`;
  const ended = kind === 'failure' ? 'failed' : 'succeeded';
  return count === 1 ? `delivery${to} ${ended}` : `${count} deliveries ${ended}`;
}

function introduction(facts: MailFacts): string {
  const route = oneLine(facts.routeName);
  if (facts.kind === 'recovery') return recoverySentence(facts, route);
  const ended = facts.kind === 'failure' ? 'failed' : 'succeeded';
  if (facts.count === 1) return `A delivery from the route ${route} ${ended}.`;
  return `${facts.count} deliveries from the route ${route} have ${ended} since ${facts.since}. The latest delivery:`;
}

function recoverySentence({ count, failedBefore }: MailFacts, route: string): string {
  const again = `The route ${route} is delivering again`;
  if (count > 1)
    return `${again}; ${count} destinations have recovered since the last notification. The latest delivery:`;
  if (failedBefore === null) return `${again}.`;
  const { count: failed, since } = failedBefore;
  if (failed === 0)
    return `${again}; the circuit breaker opened at ${since} and is now closed. The first successful delivery since it closed:`;
  return `${again} after ${plural(failed, 'failed delivery')} since ${since}. The first successful delivery:`;
}

function rowsOf({ routeName, sourceName, destinationName, facts }: MailFacts): [string, string][] {
  const outcome: [string, string][] = [];
  if (facts.status_code !== null) outcome.push(['Status code', String(facts.status_code)]);
  if (facts.error_summary !== null) outcome.push(['Error', oneLine(facts.error_summary, MAX_ERROR)]);
  return [
    ['Route', oneLine(routeName)],
    ['Source', oneLine(sourceName ?? '(deleted)')],
    ['Destination', oneLine(destinationName ?? '(deleted)')],
    ['Event', facts.event_id],
    ['Delivery', facts.delivery_id],
    ['Attempts', String(facts.attempts)],
    ...outcome,
    ['Time', new Date(facts.at).toISOString()],
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

export function alertMail(message: AlertMessage): MailText {
  const title = safeTitle(message);
  const link = linkOf(message);
  return writeMail(`[Hookyard] ${title}`, `${title}.`, safeLines(message), link === null ? [] : [['Issue', link]]);
}

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
  const yes = 'To receive them, open this page and confirm:';
  const no = `Otherwise, ignore this email. You will receive no notifications unless you confirm. The link is valid until ${until}.`;
  return {
    subject: `[Hookyard] Do you want to receive notifications from ${organization}?`,
    text: `${[ask, '', yes, link, '', no].join('\n')}\n`,
    html: `<!doctype html>\n<html><body>\n<p>${ask}</p>\n<p>${yes}<br><a href="${link}">${link}</a></p>\n<p>${no}</p>\n</body></html>\n`,
  };
}
