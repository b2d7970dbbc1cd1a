// What an HTTP destination holds, in both families (DEST-01 to DEST-15, DEST-35, PAUSE-01 to PAUSE-04). What warehouses have instead is in warehouses.ts.
import { z } from 'zod';
import { AUTH_TYPES, authConfigSchemas } from '../../../core/delivery/auth-config.ts';
import { METHODS } from '../../../core/http/methods.ts';
import { DESTINATION_TYPES, type DestinationType } from '../../../core/warehouse/config.ts';
import type { Destination } from '../../../db/entities.ts';
import { ApiError } from '../../request/errors.ts';
import * as field from '../fields.ts';
import { pauseMembers } from '../routes/pause-members.ts';
import {
  answerShape,
  computed,
  converted,
  createShape,
  defaultsOf,
  importShape,
  membersOf,
  only,
  optional,
  readOnly,
  required,
  sealed,
  updateShape,
} from '../table.ts';
import { idOf, REDACTED, recentTotals, text, timestamp } from '../values.ts';

const MAX_RATE_PER_MINUTE = 1_000_000;
const MAX_CONCURRENCY = 1000;

/** Of a type other than the stored one. */
export const UNCHANGEABLE = 'cannot be changed after creation';

// Its shape depends on authType, which an update may omit: checked once the record is loaded (destination-record.ts).
const authConfig = z.record(z.string(), z.unknown()).nullable();
const shownAuthConfig = z
  .record(z.string(), z.string())
  .nullable()
  .meta({ description: 'Its secrets are shown as •••• and their last four characters.', examples: [{}] });
const authConfigInFile = z
  .union([z.literal(REDACTED), z.record(z.string(), z.string())])
  .meta({ description: 'In clear only with `includeSensitive=true`.', examples: [REDACTED] });
const signingSecret = z.string().nullable();
const shownSigningSecret = text(
  '••••aLSw',
  'Of Standard Webhooks signatures; null: deliveries are not signed.',
).nullable();

/** The type of an HTTP destination may be sent; it has no effect. */
const httpType = {
  create: z.literal('http', 'must be http; a warehouse is made at /api/destinations').optional(),
  update: z.literal('http', UNCHANGEABLE).optional(),
  answer: z.literal('http'),
  file: z.enum(DESTINATION_TYPES),
  fileName: undefined,
  isStored: true,
} as const;

/** Clients may send what is `required` or `optional`, with its default, or `converted`; the others are read-only. */
export const destinationMembers = membersOf<Omit<Destination, 'config' | 'fieldMapping' | 'previousSigningSecret'>>()({
  id: readOnly(idOf('dst')),
  name: required(field.name.meta({ examples: ['CRM'] })),
  type: httpType,
  // Warehouses have none, and are in the same files.
  url: required(field.url, { answer: field.shownUrl }),
  enabled: optional(field.enabled, true, { fileName: 'isActive' }),
  ...pauseMembers,
  successRate: computed(recentTotals.successRate),
  avgLatency: computed(recentTotals.avgLatency),
  deliveriesCount: computed(recentTotals.deliveriesCount),
  slug: converted(field.slug.meta({ examples: ['crm'] })),
  description: optional(field.description.meta({ examples: ['Of the sales team'] }), null),
  method: optional(z.enum(METHODS), 'POST'),
  headers: optional(field.headers, {}),
  forwardHeaders: optional(field.forwardHeaders, null),
  forwardQuery: optional(field.forwardQuery, false),
  forwardPath: optional(field.forwardPath, false),
  authType: optional(z.enum(AUTH_TYPES), 'none'),
  authConfig: sealed(authConfig, { answer: shownAuthConfig, file: authConfigInFile }),
  signingSecret: sealed(signingSecret, {
    answer: shownSigningSecret,
    file: signingSecret.meta({ examples: [null] }),
  }),
  previousSigningSecretUntil: readOnly(
    timestamp.nullable().meta({ description: 'Until then deliveries are signed with the secret before this one too.' }),
  ),
  timeoutMs: optional(
    z
      .int()
      .min(1)
      .max(60_000)
      .meta({ description: 'ms', examples: [30_000] }),
    30_000,
  ),
  rateLimitPerMinute: optional(
    z
      .int()
      .min(1)
      .max(MAX_RATE_PER_MINUTE)
      .nullable()
      .meta({ description: 'Null: unlimited.', examples: [null] }),
    null,
  ),
  maxConcurrency: optional(
    z
      .int()
      .min(1)
      .max(MAX_CONCURRENCY)
      .nullable()
      .meta({
        description: 'Most attempts at a time. Null: as many as the destination copes with.',
        examples: [null],
      }),
    null,
  ),
  retryPolicy: converted(field.retryPolicy, { answer: field.shownRetryPolicy }),
  lastDeliveryAt: computed(timestamp.nullable()),
  createdAt: readOnly(timestamp),
  updatedAt: readOnly(timestamp),
});

/** Defaults of a new destination. */
export const destinationDefaults = defaultsOf(destinationMembers);

export const createDestinationSchema = z.object(createShape(destinationMembers));
export const updateDestinationSchema = z.object(updateShape(destinationMembers));
export const destinationImportItem = z.object(importShape(destinationMembers));
export const httpDestination = z.object(answerShape(destinationMembers)).meta({ id: 'HttpDestination' });

/** The members of a new destination as a client sends them. */
export type DestinationInput = Omit<z.output<typeof createDestinationSchema>, 'type'>;

/** What lists show. */
export const summaryMembers = only(
  destinationMembers,
  'id',
  'name',
  'slug',
  'type',
  'url',
  'enabled',
  'paused',
  'pausedUntil',
  'successRate',
  'avgLatency',
  'deliveriesCount',
);
export const httpSummary = z.object(answerShape(summaryMembers)).meta({ id: 'HttpDestinationSummary' });

/** The discriminator of the create body. */
export const typeSchema = z.looseObject({ type: z.enum(DESTINATION_TYPES).default('http') });

/** The body of a create, its credentials described by their type. */
export const createHttpBody = createDestinationSchema.extend({
  authConfig: z
    .union(Object.values(authConfigSchemas))
    .nullable()
    .optional()
    .meta({ description: 'What it holds depends on `authType`.', examples: [{ token: 'the token of the CRM' }] }),
});

/** Requires a plan that has warehouses (AUTH-12). @throws ApiError 403 */
export function requirePlan(plan: string, type: DestinationType): void {
  if (type === 'http' || plan === 'pro' || plan === 'business') return;
  throw new ApiError(403, undefined, `Destinations of type ${type} need a Pro or Business plan`);
}
