// What an API key holds. Its token is shown once, in the answer to its creation.
import { z } from 'zod';
import { SCOPES } from '../../core/access.ts';
import type { ApiKey } from '../../db/entities.ts';
import { parseTime } from '../query.ts';
import { refuse } from '../validation.ts';
import * as field from './fields.ts';
import { answerShape, createShape, membersOf, readOnly, required } from './table.ts';
import { idOf, text, timestamp } from './values.ts';

export const shownScopes = z.array(z.enum(SCOPES)).meta({ examples: [['read', 'write']] });

const expiresAt = z
  .string()
  .transform((given, context) => {
    const time = parseTime(given);
    if (time && time.getTime() > Date.now()) return time;
    refuse(context, undefined, 'must be an ISO 8601 date and time in the future, for example 2030-01-01T00:00:00Z');
    return z.NEVER;
  })
  .meta({
    description: 'In the future; null never ends.',
    examples: ['2036-01-01T00:00:00Z'],
  })
  .nullable()
  .optional();

/** Clients may send `name`, `scopes` and `expiresAt`; the others are read-only. */
export const apiKeyMembers = membersOf<Omit<ApiKey, 'tokenHash' | 'revokedAt'>>()({
  id: readOnly(idOf('key')),
  name: required(field.name.meta({ examples: ['Deployment'] })),
  scopes: required(
    z
      .array(z.enum(SCOPES))
      .min(1)
      .max(2)
      .default([...SCOPES]),
    { answer: shownScopes },
  ),
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
