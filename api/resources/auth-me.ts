// Who am I: the organization and key behind the credentials of the request.
// Rules: AUTH-08.
import { z } from 'zod';
import { PLANS } from '../../core/access.ts';
import { type Context, callerOf } from '../context.ts';
import { shownAddresses, shownScopes } from '../members/api-keys.ts';
import { idOf, text, timestamp } from '../members/values.ts';
import type { Operation } from '../operation.ts';
import { isoTime } from '../records.ts';

const caller = z
  .object({
    organization: z.object({
      id: idOf('org'),
      name: text('Acme'),
      slug: text('acme'),
      plan: z.enum(PLANS).meta({ examples: ['business'] }),
    }),
    key: z.object({
      id: idOf('key'),
      name: text('Deployment'),
      scopes: shownScopes,
      allowedAddresses: shownAddresses,
      expiresAt: timestamp.nullable(),
    }),
  })
  .meta({ id: 'Caller' });

export const callerOperation: Operation = {
  tag: 'Access',
  method: 'get',
  path: '/api/auth/me',
  operationId: 'getCaller',
  scope: null,
  run: me,
  summary: 'Get the organization and the key of the request',
  answer: { status: 200, description: 'Whom the key belongs to.', schema: caller },
};

function me(ctx: Context): void {
  const { organization, key } = callerOf(ctx);
  ctx.body = {
    organization: { id: organization.id, name: organization.name, slug: organization.slug, plan: organization.plan },
    key: {
      id: key.id,
      name: key.name,
      scopes: key.scopes,
      allowedAddresses: key.allowedAddresses,
      expiresAt: isoTime(key.expiresAt),
    },
  };
}
