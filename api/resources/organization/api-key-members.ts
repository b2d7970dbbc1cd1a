// What an API key holds. Its token is shown once, in the answer to its creation.
// Rules: AUTH-09.
import { z } from 'zod';
import { SCOPES } from '../../../core/config/access.ts';
import { normalRange } from '../../../core/http/allowed-addresses.ts';
import type { ApiKey } from '../../../db/entities.ts';
import { parseTime } from '../../request/query.ts';
import { refuse } from '../../request/validation.ts';
import * as field from '../fields.ts';
import { answerShape, createShape, membersOf, readOnly, required } from '../table.ts';
import { idOf, text, timestamp } from '../values.ts';

export const shownScopes = z.array(z.enum(SCOPES)).meta({ examples: [['read', 'write']] });

export const shownAddresses = z
  .array(z.string())
  .nullable()
  .meta({
    description: 'The ranges of addresses that it may be used from; null: every address.',
    examples: [['203.0.113.0/24', '2001:db8::/32']],
  });

const MAX_ADDRESSES = 50;

const allowedAddresses = z
  .array(
    z
      .string()
      .max(50, 'must be at most 50 characters long')
      .transform((given, context) => {
        const range = normalRange(given);
        if (range !== null) return range;
        refuse(context, undefined, 'must be an address or a range, for example 203.0.113.7 or 2001:db8::/32');
        return z.NEVER;
      }),
  )
  .min(1, 'must name at least one range; leave it out, or send null, for every address')
  .max(MAX_ADDRESSES)
  .nullable()
  .optional()
  .meta({
    description:
      "Addresses or ranges that it may be used from; null: every address. Left out: as the request's own key.",
    examples: [['203.0.113.0/24']],
  });

const expiresAt = z
  .string()
  .transform((given, context) => {
    const time = parseTime(given);
    if (time && time.getTime() > Date.now()) return time;
    refuse(context, undefined, 'must be an ISO 8601 date and time in the future, for example 2030-01-01T00:00:00Z');
    return z.NEVER;
  })
  .meta({
    description: "In the future; null never ends. Left out: as the request's own key.",
    examples: ['2036-01-01T00:00:00Z'],
  })
  .nullable()
  .optional();

/** Clients may send `name`, `scopes`, `allowedAddresses` and `expiresAt`; the others are read-only. */
export const apiKeyMembers = membersOf<Omit<ApiKey, 'tokenHash' | 'revokedAt'>>()({
  id: readOnly(idOf('key')),
  name: required(field.name.meta({ examples: ['Deployment'] })),
  scopes: required(z.array(z.enum(SCOPES)).min(1).max(SCOPES.length).default(['read', 'write']), {
    answer: shownScopes,
  }),
  allowedAddresses: { ...readOnly(shownAddresses), create: allowedAddresses },
  tokenHint: readOnly(text('x7Qa', 'Its last four characters.')),
  expiresAt: { ...readOnly(timestamp.nullable()), create: expiresAt },
  lastUsedAt: readOnly(timestamp.nullable()),
  createdAt: readOnly(timestamp),
});

export const createApiKeySchema = z.object(createShape(apiKeyMembers));
export const apiKeyAnswer = z.object(answerShape(apiKeyMembers)).meta({ id: 'ApiKey' });
export const newApiKeyAnswer = z
  .object({ ...answerShape(apiKeyMembers), token: text('whr_...') })
  .meta({ id: 'NewApiKey' });
