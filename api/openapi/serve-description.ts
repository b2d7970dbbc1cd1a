// Serves the description of the API, and a page that shows it: `/openapi.json` and `/docs`, both without credentials.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { type ApiRouter, type Context, param } from '../request/context.ts';
import { missing } from '../request/errors.ts';
import type { Described } from '../request/operation.ts';
import { text } from '../resources/values.ts';

export const descriptionOperation: Described = {
  tag: 'Service',
  family: 'public',
  method: 'get',
  path: '/openapi.json',
  operationId: 'getDescription',
  summary: 'Get the API description',
  description: "Describes this instance's operations.",
  answer: {
    description: 'An OpenAPI document. `/docs` shows it as a page.',
    schema: z.looseObject({ openapi: text('3.1.0') }),
    headers: { ETag: text('"0123456789abcdef"'), 'Cache-Control': text('no-cache') },
    mayBeKnown: true,
  },
  errors: { 500: ['INTERNAL_ERROR'] },
};

/** Files of the package swagger-ui-dist that the page needs; nothing else is served. */
const PAGE_FILES: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};
const require = createRequire(import.meta.url);
const folder = dirname(require.resolve('swagger-ui-dist/package.json'));
const { version } = require('swagger-ui-dist/package.json') as { version: string };

// Everything is loaded from this server, nothing may be framed or submitted elsewhere. The style sheet embeds its icons
// (data:).
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

// Addresses are relative, so that the page works behind a proxy that adds a path. The version in the address lets
// browsers cache them for ever.
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Hookyard API</title>
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png?v=${version}">
    <link rel="stylesheet" href="docs/swagger-ui.css?v=${version}">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <noscript>This page needs JavaScript; the description itself is at <a href="openapi.json">openapi.json</a>.</noscript>
    <script src="docs/swagger-ui-bundle.js?v=${version}"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

// validatorUrl: off, because the page would send the description to a third-party validator. The browser does not store
// the API key.
const START = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  docExpansion: 'none',
  validatorUrl: null,
  persistAuthorization: false,
});
`;

const FOR_EVER = 'public, max-age=31536000, immutable';

export function mountDescription(router: ApiRouter): void {
  router.get('/openapi.json', async (ctx) => {
    const { bytes, etag } = await loadDescription();
    ctx.set({ ETag: etag, 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' });
    answerUnlessKnown(ctx, 'application/json; charset=utf-8', bytes);
  });
}

export function mountPage(router: ApiRouter): void {
  router.get('/docs', (ctx) => {
    // The addresses in the page are relative to /docs.
    if (ctx.path.endsWith('/')) return ctx.redirect('../docs');
    answerText(ctx, 'text/html; charset=utf-8', PAGE);
  });
  router.get('/docs/start.js', (ctx) => answerText(ctx, 'text/javascript; charset=utf-8', START));
  router.get('/docs/:file', answerFile);
}

function answerText(ctx: Context, type: string, text: string): void {
  ctx.set({ ETag: etagOf(text), 'Cache-Control': 'no-cache', ...safety() });
  answerUnlessKnown(ctx, type, text);
}

async function answerFile(ctx: Context): Promise<void> {
  const name = param(ctx, 'file');
  const type = Object.hasOwn(PAGE_FILES, name) ? PAGE_FILES[name] : undefined;
  if (type === undefined) throw missing(`No such file: ${name}`);
  const path = join(folder, name);
  const { size } = await stat(path);
  const isDated = ctx.query.v === version;
  ctx.set({ ETag: `"${version}"`, 'Cache-Control': isDated ? FOR_EVER : 'no-cache', ...safety() });
  ctx.length = size;
  answerUnlessKnown(ctx, type, ctx.method === 'HEAD' ? '' : createReadStream(path));
}

function safety(): Record<string, string> {
  return {
    'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  };
}

/** 304 when the browser has it (RFC 9110, section 13.1.2). */
function answerUnlessKnown(ctx: Context, type: string, body: Context['body']): void {
  ctx.status = 200;
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  ctx.type = type;
  ctx.body = body;
}

function etagOf(content: string | Buffer): string {
  return `"${createHash('sha256').update(content).digest('hex').slice(0, 16)}"`;
}

interface Description {
  bytes: Buffer;
  etag: string;
}
let description: Promise<Description> | undefined;

/**
 * The description as bytes; its generator is loaded at the first request, so that services that never serve it do not
 * pay for it.
 */
function loadDescription(): Promise<Description> {
  description ??= import('./document.ts').then(({ apiDocument }) => {
    const bytes = Buffer.from(JSON.stringify(apiDocument()));
    return { bytes, etag: etagOf(bytes) };
  });
  return description;
}
