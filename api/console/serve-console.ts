// Serves the console below /console: its files for ever, its page with a new nonce in each answer. A console that is
// not built keeps nothing from starting: the page says what to do.
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type ApiRouter, type Context, param } from '../request/context.ts';
import { missing } from '../request/errors.ts';
import { consoleFolder } from './folder.ts';

const TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]*\.(js|css|svg)$/;
const FOR_EVER = 'public, max-age=31536000, immutable';
const ENDINGS: Record<string, string> = { br: '.br', gzip: '.gz' };

// Code comes from this server alone, and style elements need the nonce of this answer: what a payload says never
// becomes either.
const policyWith = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const SAFETY = {
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

export function mountConsole(router: ApiRouter): void {
  const place = onceFound(consoleFolder);
  router.get('/console/assets/:file', (ctx) => answerFile(ctx, place()));
  router.get('/console', (ctx) => answerPage(ctx, place()));
  router.get('/console/*rest', (ctx) => answerPage(ctx, place()));
}

// Its name takes reading all sources, which no start should wait for.
function onceFound(find: () => string): () => string {
  let found: string | undefined;
  return () => {
    found ??= find();
    return found;
  };
}

async function answerFile(ctx: Context, folder: string): Promise<void> {
  const name = param(ctx, 'file');
  const [, ending = ''] = NAME.exec(name) ?? [];
  const path = join(folder, 'assets', name);
  if (ending === '' || !(await exists(path))) throw missing(`No such file: ${name}`);
  const encoding = ctx.acceptsEncodings('br', 'gzip', 'identity') || 'identity';
  const compressed = `${path}${ENDINGS[encoding] ?? ''}`;
  const isThere = compressed !== path && (await exists(compressed));
  const served = isThere ? compressed : path;
  ctx.set({ ...SAFETY, 'Cache-Control': FOR_EVER, Vary: 'Accept-Encoding' });
  if (isThere) ctx.set('Content-Encoding', encoding);
  ctx.type = TYPES[ending] ?? 'application/octet-stream';
  ctx.length = (await stat(served)).size;
  ctx.body = ctx.method === 'HEAD' ? '' : createReadStream(served);
}

async function answerPage(ctx: Context, folder: string): Promise<void> {
  const page = await readFile(join(folder, 'index.html'), 'utf8').catch(() => null);
  const nonce = randomBytes(18).toString('base64');
  ctx.set({ ...SAFETY, 'Cache-Control': 'no-store', 'Content-Security-Policy': policyWith(nonce) });
  ctx.type = 'text/html; charset=utf-8';
  if (page === null) {
    ctx.status = 503;
    ctx.set('Retry-After', '5');
    ctx.body = NOT_BUILT;
    return;
  }
  ctx.status = 200;
  ctx.body = page.replaceAll('__NONCE__', nonce).replace('<head>', `<head>\n    <base href="${baseOf(ctx.path)}">`);
}

/**
 * From the address of a page to the folder of the console; relative, because a proxy may have added a path before it.
 */
function baseOf(path: string): string {
  const below = path.slice('/console'.length);
  if (below === '') return 'console/';
  return '../'.repeat(below.split('/').length - 2) || './';
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

const NOT_BUILT = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="refresh" content="5">
    <title>Hookyard</title>
  </head>
  <body>
    <h1>The console has not been built yet</h1>
    <p>The API is running. <code>npm start</code> builds the console once in the background, which takes about a minute. This page reloads every five seconds.</p>
    <p>If the console does not appear, check the output of <code>npm start</code>. To build the console manually, run <code>npm run console:build</code>, which needs access to the npm registry. To disable the console, set <code>HOOKYARD_CONSOLE=off</code>.</p>
  </body>
</html>
`;
