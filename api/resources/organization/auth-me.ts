// Who am I: the organization and key behind the credentials of the request.
import { z } from 'zod';
import { PLANS } from '../../../core/config/access.ts';
import { type Context, callerOf } from '../../request/context.ts';
import { shownAddresses, shownScopes } from './api-keys.ts';
import { idOf, text, timestamp } from '../values.ts';
import type { Operation } from '../../request/operation.ts';
import { isoTime } from '../records.ts';

const organizationOfCaller = z
  .object({
    id: idOf('org'),
    name: text('Acme'),
    slug: text('acme'),
    plan: z.enum(PLANS).meta({ examples: ['business'] }),
  })
  .meta({ id: 'CallerOrganization' });

const caller = z
  .object({
    organization: organizationOfCaller,
    organizations: z
      .array(organizationOfCaller)
      .meta({ description: 'The same one: a key belongs to one organization. For clients that expect a list.' }),
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
  const { id, name, slug, plan } = organization;
  const shown = { id, name, slug, plan };
  ctx.body = {
    organization: shown,
    organizations: [shown],
    key: {
      id: key.id,
      name: key.name,
      scopes: key.scopes,
      allowedAddresses: key.allowedAddresses,
      expiresAt: isoTime(key.expiresAt),
    },
  };
}
