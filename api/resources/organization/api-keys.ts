// API keys of the caller's organization, and whom the key of a request belongs to. A token is shown once, in the answer
// to its creation.
import { LockMode } from '@mikro-orm/core';
import { z } from 'zod';
import { allows, lacking, PLANS, SCOPES } from '../../../core/config/plans-and-scopes.ts';
import { hashToken, newToken } from '../../../core/config/api-token.ts';
import { normalRange, rangeBeyond } from '../../../core/http/addresses.ts';
import { newId } from '../../../core/text/ids.ts';
import { ApiKey } from '../../../db/records/entities.ts';
import { noteRecords } from '../../auth/audit-trail.ts';
import { requireRecordRoom } from '../../auth/request-and-record-limits.ts';
import { type Caller, callerOf, entityManager, organizationId, param } from '../../request/context.ts';
import { ApiError, forbidden, notFound } from '../../request/errors.ts';
import { type Operation, operation } from '../../request/operation.ts';
import { listAnswer, newestFirst, pageParams } from '../../request/query.ts';
import { refused } from '../../request/validation.ts';
import * as field from '../fields.ts';
import { transactional } from '../records.ts';
import * as table from '../table.ts';
import { component, idOf, listOf, text, timestamp, withExample } from '../values.ts';

const shownScopes = withExample(z.array(z.enum(SCOPES)), ['read', 'write']);

const shownAddresses = withExample(
  z.array(z.string()).nullable(),
  ['203.0.113.0/24', '2001:db8::/32'],
  'Allowed IP addresses or ranges. Null if any address is allowed.',
);

const MAX_ADDRESSES = 50;

const allowedAddresses = withExample(
  z
    .array(
      z
        .string()
        .max(50, 'must be at most 50 characters long')
        .transform((given, context) => {
          const range = normalRange(given);
          if (range !== null) return range;
          return refused(
            context,
            undefined,
            'must be an IP address or range, for example 203.0.113.7 or 2001:db8::/32',
          );
        }),
    )
    .min(1, "must not be empty; send null to allow any address, or omit it to use the calling key's addresses")
    .max(MAX_ADDRESSES)
    .nullable()
    .optional(),
  ['203.0.113.0/24'],
  "Allowed IP addresses or ranges. If null, any address is allowed. Defaults to the calling key's addresses.",
);

const expiresAt = withExample(
  field.futureTime,
  '2036-01-01T00:00:00Z',
  "When the key expires. If null, it never expires. Defaults to the calling key's expiry.",
)
  .nullable()
  .optional();

const apiKeyMembers = table.membersOf<Omit<ApiKey, 'tokenHash' | 'revokedAt'>>()({
  id: table.readOnly(idOf('key')),
  name: table.required(withExample(field.name, 'Deployment')),
  scopes: table.required(z.array(z.enum(SCOPES)).min(1).max(SCOPES.length).default(['read', 'write']), {
    answer: shownScopes,
  }),
  allowedAddresses: { ...table.readOnly(shownAddresses), create: allowedAddresses },
  tokenHint: table.readOnly(text('x7Qa', "The key's last four characters.")),
  expiresAt: { ...table.readOnly(timestamp.nullable()), create: expiresAt },
  lastUsedAt: table.readOnly(timestamp.nullable()),
  createdAt: table.readOnly(timestamp),
});

const createApiKeySchema = z.strictObject(table.createShape(apiKeyMembers));
const apiKeyAnswer = component('ApiKey', table.answerShape(apiKeyMembers));
const newApiKeyAnswer = component('NewApiKey', { ...table.answerShape(apiKeyMembers), token: text('whr_...') });

const listSchema = z.object({ ...pageParams });

export const apiKeyOperations: Operation[] = [
  operation('listApiKeys', 'get', '/api/api-keys', {
    tag: 'Access',
    summary: 'List API keys',
    query: listSchema,
    answer: {
      description: 'One page of keys that are not revoked, newest first.',
      schema: listOf(apiKeyAnswer),
    },
    async run(ctx, { query }) {
      const [keys, total] = await entityManager(ctx).findAndCount(ApiKey, { revokedAt: null }, newestFirst(query));
      return listAnswer(keys.map(show), total, query);
    },
  }),
  operation('createApiKey', 'post', '/api/api-keys', {
    tag: 'Access',
    summary: 'Create an API key',
    body: {
      schema: createApiKeySchema,
      examples: {
        'read-only': { name: 'Dashboard', scopes: ['read'], expiresAt: '2036-01-01T00:00:00Z' },
        'for one job, from one network': {
          name: 'Nightly check',
          scopes: ['events:read', 'deliveries:read'],
          allowedAddresses: ['203.0.113.0/24'],
        },
      },
    },
    answer: {
      status: 201,
      description: 'The API key. Its value is shown only once.',
      schema: newApiKeyAnswer,
      leadsTo: ['revokeApiKey'],
    },
    async run(ctx, { body }) {
      const { key: own } = callerOf(ctx);
      const scopes = SCOPES.filter((scope) => body.scopes.includes(scope));
      const { expiresAt = own.expiresAt, allowedAddresses = own.allowedAddresses } = body;
      refuseStronger(own, { scopes, allowedAddresses, expiresAt }, 'create a key with');
      const token = newToken();
      const id = newId('key');
      noteRecords(ctx, [id]);
      const key = await transactional(ctx, async (em) => {
        await requireRecordRoom(em, ctx, 'apiKeys');
        return em.create(ApiKey, {
          id,
          organizationId: organizationId(ctx),
          name: body.name,
          tokenHash: hashToken(token),
          tokenHint: token.slice(-4),
          scopes,
          allowedAddresses,
          expiresAt,
          revokedAt: null,
          lastUsedAt: null,
        });
      });
      return { ...show(key), token };
    },
  }),
  operation('revokeApiKey', 'delete', '/api/api-keys/{id}', {
    tag: 'Access',
    idOf: ['key'],
    summary: 'Revoke an API key',
    description:
      'Requests with a revoked key are refused. The last key that can create keys cannot be revoked: another such key, valid for at least as long and from the same addresses, must remain.',
    answer: { status: 204, description: 'Revoked.' },
    errors: { 409: ['LAST_KEY'] },
    async run(ctx) {
      const id = param(ctx, 'id');
      const { key: own } = callerOf(ctx);
      await transactional(ctx, async (em) => {
        // All of them are locked, so that of two requests that revoke the last two keys one is refused.
        const keys = await em.find(
          ApiKey,
          { revokedAt: null },
          { orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE },
        );
        const found = keys.find((key) => key.id === id);
        if (!found) throw notFound('API key', id);
        const { scopes, allowedAddresses = null, expiresAt = null } = found;
        refuseStronger(own, { scopes, allowedAddresses, expiresAt }, 'revoke a key with');
        if (mayManageKeys(found) && !keys.some((key) => key.id !== id && mayReplace(key, found))) throw lastKey();
        found.revokedAt = new Date();
      });
    },
  }),
];

type Strength = Pick<Caller['key'], 'scopes' | 'allowedAddresses' | 'expiresAt'>;

/** A key is never the way to a stronger one. @throws ApiError 403 */
function refuseStronger(own: Strength, other: Strength, what: string): void {
  const scope = lacking(own.scopes, other.scopes);
  if (scope) throw forbidden(`This API key lacks the scope "${scope}", so it cannot ${what} that scope`);
  if (endsLater(other.expiresAt, own.expiresAt)) {
    const message = `This API key expires at ${own.expiresAt?.toISOString()}, so it cannot ${what} a later expiresAt or no expiresAt`;
    throw forbidden(message);
  }
  const range = addressBeyond(other.allowedAddresses, own.allowedAddresses);
  if (range)
    throw forbidden(
      `The allowedAddresses of this API key do not include ${range}, so the key cannot ${what} that access`,
    );
}

/** Null is never. */
function endsLater(one: Date | null, other: Date | null): boolean {
  return other !== null && (one === null || one > other);
}

/** An address that is in the first and not in the second; null is every address. */
function addressBeyond(wanted: string[] | null, held: string[] | null): string | undefined {
  if (held === null) return undefined;
  return wanted === null ? 'all addresses' : rangeBeyond(wanted, held);
}

/** Whether keys can be managed with this one for as long, and from wherever, as with the other. */
function mayReplace(key: ApiKey, other: ApiKey): boolean {
  if (!mayManageKeys(key) || endsLater(other.expiresAt ?? null, key.expiresAt ?? null)) return false;
  return addressBeyond(other.allowedAddresses ?? null, key.allowedAddresses ?? null) === undefined;
}

function mayManageKeys({ scopes, expiresAt }: ApiKey): boolean {
  return allows(scopes, 'keys:write') && (!expiresAt || expiresAt.getTime() > Date.now());
}

const lastKey = (): ApiError =>
  new ApiError(
    409,
    'LAST_KEY',
    'This key cannot be revoked: no other key that can create keys is valid for as long and from the same addresses; create such a key first',
  );

const show = (key: ApiKey) => table.toAnswer(apiKeyMembers, key, {});

const organizationOfCaller = component('CallerOrganization', {
  id: idOf('org'),
  name: text('Acme'),
  slug: text('acme'),
  plan: withExample(z.enum(PLANS), 'business'),
  ingestUrl: text('https://hooks.example.com/ingest/acme').describe(
    "A source's ingest URL is this URL followed by `/`, the source's slug and, if it has a token, `/` and the token.",
  ),
});

const caller = component('Caller', {
  organization: organizationOfCaller,
  organizations: z
    .array(organizationOfCaller)
    .describe('The same organization as a list, for clients that expect a list.'),
  key: z.object({
    id: idOf('key'),
    name: text('Deployment'),
    scopes: shownScopes,
    allowedAddresses: shownAddresses,
    expiresAt: timestamp.nullable(),
  }),
});

export const callerOperation = operation('getCaller', 'get', '/api/auth/me', {
  tag: 'Access',
  scope: null,
  summary: 'Get the current organization and API key',
  answer: { description: 'The API key and its organization.', schema: caller },
  run(ctx) {
    const { organization, key } = callerOf(ctx);
    const { id, name, slug, plan } = organization;
    const shown = { id, name, slug, plan, ingestUrl: `${ctx.deps.baseUrl()}/ingest/${slug}` };
    return {
      organization: shown,
      organizations: [shown],
      key,
    };
  },
});
