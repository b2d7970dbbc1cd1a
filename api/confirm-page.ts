// The page behind the link of a confirmation mail. Looking at it changes nothing, because mail scanners follow links; its button
// confirms.
// Rules: NOTE-08, NOTE-09.
import { LRUCache } from 'lru-cache';
import { confirmRecipient } from '../db/notifications/notification-recipients.ts';
import { type Confirmation, openConfirmation } from '../db/encryption/confirmation-token.ts';
import { actingFor } from '../db/connections/pool-turns.ts';
import type { ApiDeps, ApiRouter, Context } from './context.ts';
import { param } from './context.ts';

const PATH = '/notifications/confirm/:token';
// Each link does its work once; what else comes with it in this time is answered without asking the database.
const REPEATED_MS = 60_000;

type Deps = Pick<ApiDeps, 'secretBox' | 'pool'>;

export function mountConfirmPage(router: ApiRouter, { secretBox, pool }: Deps): void {
  const done = new LRUCache<string, true>({ max: 1000, ttl: REPEATED_MS });
  const read = (ctx: Context): Confirmation | null => {
    const confirmation = openConfirmation(secretBox, param(ctx, 'token'));
    if (confirmation === null) answer(ctx, 404, 'This link is not valid', ['Perhaps a part of it is missing.']);
    else if (confirmation.expiresAt < Date.now()) {
      answer(ctx, 410, 'This link has expired', [
        'The organization that wants to notify you can have another one sent.',
      ]);
    } else return confirmation;
    return null;
  };
  router.get(PATH, (ctx) => {
    const confirmation = read(ctx);
    if (confirmation !== null) answer(ctx, 200, 'Do you want these notifications?', [question(confirmation)], BUTTON);
  });
  router.post(PATH, async (ctx) => {
    const confirmation = read(ctx);
    if (confirmation === null) return;
    const { organizationId, address } = confirmation;
    const key = `${organizationId} ${address}`;
    const confirm = () => actingFor(organizationId, () => confirmRecipient(pool, { organizationId, address }));
    if (!done.has(key) && !(await confirm())) {
      answer(ctx, 410, 'This link has no use any more', ['The organization does not notify this address.']);
      return;
    }
    done.set(key, true);
    answer(ctx, 200, 'Thank you', [`Notifications of "${confirmation.organization}" go to ${address} from now on.`]);
  });
}

const question = ({ organization, address }: Confirmation): string =>
  `The organization "${organization}" wants to send notifications about its webhooks to ${address}.`;

const BUTTON = '<form method="post"><button type="submit">Yes, send them</button></form>';

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
