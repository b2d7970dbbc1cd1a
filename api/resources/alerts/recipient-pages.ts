// The pages behind the links of mails: one confirms that mails may come, the other stops them. Looking at them changes
// nothing, because mail scanners follow links; their buttons do. Mail programs press the button of the second by
// themselves (RFC 8058).
import { LRUCache } from 'lru-cache';
import { CONFIRM_WITHIN_MS } from '../../../core/messages/mail.ts';
import { confirmRecipient, refuseRecipient } from '../../../db/messages/recipients.ts';
import {
  type Confirmation,
  openConfirmation,
  openStop,
  sealConfirmation,
  type Stop,
} from '../../../db/encryption/secret-box.ts';
import { actingFor } from '../../../db/connections/by-organization.ts';
import { type ApiDeps, type ApiRouter, type Context, param } from '../../request/context.ts';

const CONFIRM = '/notifications/confirm/:token';
const STOP = '/notifications/stop/:token';
// Each link does its work once; what else comes with it in this time is answered without asking the database.
const REPEATED_MS = 60_000;

type Deps = Pick<ApiDeps, 'secretBox' | 'pool'>;

interface Page<Link extends Stop> {
  path: string;
  /** Null: the link is answered with an error. */
  read: (ctx: Context) => Link | null;
  ask: (ctx: Context, link: Link) => void;
  /** @returns false when the organization no longer knows the address */
  act: (link: Link) => Promise<boolean>;
  thank: (ctx: Context, link: Link) => void;
}

export function mountRecipientPages(router: ApiRouter, { secretBox, pool }: Deps): void {
  mount<Confirmation>(router, {
    path: CONFIRM,
    read(ctx) {
      const link = openConfirmation(secretBox, param(ctx, 'token'));
      if (link === null) return answerInvalid(ctx);
      if (link.expiresAt >= Date.now()) return link;
      const lines = ['The organization that wants to notify you can send a new confirmation email.'];
      return answer(ctx, 410, 'This link has expired', lines);
    },
    ask: (ctx, link) => answer(ctx, 200, 'Do you want these notifications?', [question(link)], CONFIRM_BUTTON),
    act: (link) => confirmRecipient(pool, link),
    thank: (ctx, { organization, address }) =>
      answer(ctx, 200, 'Thank you', [`Notifications from "${organization}" will now be sent to ${address}.`]),
  });
  mount<Stop>(router, {
    path: STOP,
    read: (ctx) => openStop(secretBox, param(ctx, 'token')) ?? answerInvalid(ctx),
    ask(ctx, { organization, address }) {
      const lines = [`This stops all notifications from "${organization}" to ${address}.`];
      answer(ctx, 200, 'Stop these emails?', lines, STOP_BUTTON);
    },
    act: (link) => refuseRecipient(pool, link),
    thank(ctx, link) {
      const lines = [`${link.address} no longer receives notifications from "${link.organization}".`];
      const back = sealConfirmation(secretBox, { ...link, expiresAt: Date.now() + CONFIRM_WITHIN_MS });
      answer(ctx, 200, 'You have unsubscribed', lines, buttonBack(back));
    },
  });
}

function mount<Link extends Stop>(router: ApiRouter, { path, read, ask, act, thank }: Page<Link>): void {
  const done = new LRUCache<string, true>({ max: 1000, ttl: REPEATED_MS });
  router.get(path, (ctx) => {
    const link = read(ctx);
    if (link !== null) ask(ctx, link);
  });
  router.post(path, async (ctx) => {
    const link = read(ctx);
    if (link === null) return;
    const token = param(ctx, 'token');
    if (!done.has(token) && !(await actingFor(link.organizationId, () => act(link)))) {
      answer(ctx, 410, 'This link is no longer valid', ['The organization no longer notifies this address.']);
      return;
    }
    done.set(token, true);
    thank(ctx, link);
  });
}

const answerInvalid = (ctx: Context): null => answer(ctx, 404, 'Invalid link', ['Part of the link may be missing.']);

const question = ({ organization, address }: Confirmation): string =>
  `The organization "${organization}" wants to send notifications about its webhooks to ${address}.`;

const CONFIRM_BUTTON = '<form method="post"><button type="submit">Yes, send notifications</button></form>';
const STOP_BUTTON = '<form method="post"><button type="submit">Stop these emails</button></form>';
const buttonBack = (token: string): string =>
  `<form method="post" action="../confirm/${token}"><button type="submit">Resume notifications</button></form>`;

// Nothing is loaded, nothing runs, and nobody can put the page into a frame of theirs.
const HEADERS = {
  'Content-Security-Policy': "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
};

function answer(ctx: Context, status: number, title: string, lines: string[], form = ''): null {
  ctx.set(HEADERS);
  ctx.status = status;
  ctx.type = 'text/html; charset=utf-8';
  const text = lines.map((line) => `<p>${escaped(line)}</p>`).join('\n');
  ctx.body = `<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>${title}</title></head>\n<body>\n<h1>${title}</h1>\n${text}\n${form}\n</body>\n</html>\n`;
  return null;
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
