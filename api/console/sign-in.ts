// Exchanges the one-time code of a sign-in link for a key that expires. It needs no credentials: the code is one.
import { z } from 'zod';
import { exchangeConsoleCode } from '../../db/organizations/keys.ts';
import { hashToken } from '../../core/config/api-token.ts';
import { recordedAgent } from '../../core/http/headers.ts';
import type { ApiDeps, ApiRouter, Context } from '../request/context.ts';
import { type ApiError, unauthorized } from '../request/errors.ts';
import { component, timestamp, withExample } from '../resources/values.ts';
import type { Described } from '../request/operation.ts';
import { createSignIns } from '../auth/auth.ts';
import { parseBody } from '../request/validation.ts';

// 32 bytes in base64url.
const bodySchema = z.object({
  code: withExample(
    z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be the code from a sign-in link'),
    'q0J2yJ7iV0s1m6b3dXlq5s9Zb7oHc1uT4nKfE8rWgYA',
  ),
});

const answerSchema = component('ConsoleKey', {
  token: withExample(z.string(), 'whr_...', 'An API key with the `read` and `write` scopes.'),
  expiresAt: timestamp,
});

export const signInOperation: Described = {
  tag: 'Access',
  family: 'public',
  method: 'post',
  path: '/api/auth/sign-in',
  operationId: 'signIn',
  summary: 'Exchange a sign-in code for an API key',
  description:
    'The code from a sign-in link can be used once, within ten minutes. The API key is for one session and expires after twelve hours.',
  body: { schema: bodySchema, examples: { code: { code: 'q0J2yJ7iV0s1m6b3dXlq5s9Zb7oHc1uT4nKfE8rWgYA' } } },
  answer: { description: 'The API key. Its value is shown only once.', schema: answerSchema },
  errors: {
    400: ['VALIDATION_ERROR', 'INVALID_JSON'],
    401: ['UNAUTHORIZED'],
    408: ['REQUEST_TIMEOUT'],
    413: ['PAYLOAD_TOO_LARGE'],
    415: ['UNSUPPORTED_MEDIA_TYPE'],
    429: ['RATE_LIMITED'],
    500: ['INTERNAL_ERROR'],
    503: ['UNAVAILABLE'],
  },
};

export function mountSignIn(
  router: ApiRouter,
  { servicePool, tuning, log }: Pick<ApiDeps, 'servicePool' | 'tuning' | 'log'>,
): void {
  const signIns = createSignIns(tuning.failedSignInsPerMinute, log);
  router.post(signInOperation.path, async (ctx: Context) => {
    ctx.set('Cache-Control', 'no-store');
    const { client, requestId } = ctx.state;
    const { address } = client;
    const follower = { address, userAgent: recordedAgent(ctx.get('user-agent')), requestId };
    const { code } = await parseBody(ctx, bodySchema);
    // Each code counts as one that this process has not seen: beyond the limit of an address they are looked up a few
    // at a time.
    const key = await signIns.lookUp(address, hashToken(code).toString('base64'), () =>
      exchangeConsoleCode(servicePool, code, follower),
    );
    if (key === null) throw signIns.fail(address) ?? refused();
    ctx.body = { token: key.token, expiresAt: key.expiresAt };
  });
}

const refused = (): ApiError =>
  unauthorized(
    'This sign-in link has already been used, is older than ten minutes or is invalid; create a new link, or sign in with an API key',
  );
