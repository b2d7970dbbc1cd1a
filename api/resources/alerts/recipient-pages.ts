// The pages behind the links of mails: one confirms that mails may come, the other stops them. Looking at them changes nothing, because
// mail scanners follow links; their buttons do. Mail programs press the button of the second by themselves (RFC 8058).
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

export function mountRecipientPages(router: ApiRouter, deps: Deps): void {
  mountConfirmPage(router, deps);
  mountStopPage(router, deps);
}

const repeats = () => new LRUCache<string, true>({ max: 1000, ttl: REPEATED_MS });

function mountConfirmPage(router: ApiRouter, { secretBox, pool }: Deps): void {
  const done = repeats();
  const read = (ctx: Context): Confirmation | null => {
    const confirmation = openConfirmation(secretBox, param(ctx, 'token'));
    if (confirmation === null) answerInvalid(ctx);
    else if (confirmation.expiresAt < Date.now()) {
      answer(ctx, 410, 'This link has expired', [
        'The organization that wants to notify you can have another one sent.',
      ]);
    } else return confirmation;
    return null;
  };
  router.get(CONFIRM, (ctx) => {
    const confirmation = read(ctx);
    if (confirmation !== null)
      answer(ctx, 200, 'Do you want these notifications?', [question(confirmation)], CONFIRM_BUTTON);
  });
  router.post(CONFIRM, async (ctx) => {
    const confirmation = read(ctx);
    if (confirmation === null) return;
    const { organizationId, address } = confirmation;
    const link = param(ctx, 'token');
    const confirm = () => actingFor(organizationId, () => confirmRecipient(pool, { organizationId, address }));
    if (!done.has(link) && !(await confirm())) return answerUseless(ctx);
    done.set(link, true);
    answer(ctx, 200, 'Thank you', [`Notifications of "${confirmation.organization}" go to ${address} from now on.`]);
  });
}

function mountStopPage(router: ApiRouter, { secretBox, pool }: Deps): void {
  const done = repeats();
  const read = (ctx: Context): Stop | null => {
    const stop = openStop(secretBox, param(ctx, 'token'));
    if (stop === null) answerInvalid(ctx);
    return stop;
  };
  router.get(STOP, (ctx) => {
    const stop = read(ctx);
    if (stop === null) return;
    const { organization, address } = stop;
    const lines = [`Notifications of "${organization}" go to ${address}.`];
    answer(ctx, 200, 'Do you want no more of these mails?', lines, STOP_BUTTON);
  });
  router.post(STOP, async (ctx) => {
    const stop = read(ctx);
    if (stop === null) return;
    const { organizationId, address } = stop;
    const link = param(ctx, 'token');
    const refuse = () => actingFor(organizationId, () => refuseRecipient(pool, { organizationId, address }));
    if (!done.has(link) && !(await refuse())) return answerUseless(ctx);
    done.set(link, true);
    const lines = [`No notification of "${stop.organization}" goes to ${address} any more.`];
    const back = sealConfirmation(secretBox, { ...stop, expiresAt: Date.now() + CONFIRM_WITHIN_MS });
    answer(ctx, 200, 'These mails have ended', lines, buttonBack(back));
  });
}

const answerInvalid = (ctx: Context): void =>
  answer(ctx, 404, 'This link is not valid', ['Perhaps a part of it is missing.']);

const answerUseless = (ctx: Context): void =>
  answer(ctx, 410, 'This link has no use any more', ['The organization does not notify this address.']);

const question = ({ organization, address }: Confirmation): string =>
  `The organization "${organization}" wants to send notifications about its webhooks to ${address}.`;

const CONFIRM_BUTTON = '<form method="post"><button type="submit">Yes, send them</button></form>';
const STOP_BUTTON = '<form method="post"><button type="submit">Stop them</button></form>';
const buttonBack = (token: string): string =>
  `<form method="post" action="../confirm/${token}"><button type="submit">Send them again</button></form>`;

// Nothing is loaded, nothing runs, and nobody can put the page into a frame of theirs.
const HEADERS = {
  'Content-Security-Policy': "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
};

function answer(ctx: Context, status: number, title: string, lines: string[], form = ''): void {
  ctx.set(HEADERS);
  ctx.status = status;
  ctx.type = 'text/html; charset=utf-8';
  const text = lines.map((line) => `<p>${escaped(line)}</p>`).join('\n');
  ctx.body = `<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>${title}</title></head>\n<body>\n<h1>${title}</h1>\n${text}\n${form}\n</body>\n</html>\n`;
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
