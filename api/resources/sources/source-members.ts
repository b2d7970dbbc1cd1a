import { z } from 'zod';
import { parsePath } from '../../../core/text/dotted-path.ts';
import { checkHeaderName } from '../../../core/http/headers.ts';
import { INGEST_TOKEN_RULES } from '../../../core/ingest/ingest-url.ts';
import {
  PROVIDER_TYPE,
  VERIFICATION_TYPES,
  verificationConfigSchema,
  verificationSchemas,
} from '../../../core/verification/config.ts';
import { SIGNATURE_ALGORITHMS, SIGNATURE_ENCODINGS } from '../../../core/verification/scheme.ts';
import { sourceAnswerSchema } from '../../../core/ingest/source-answer.ts';
import { sourceHandshakeSchema } from '../../../core/verification/handshakes.ts';
import type { Source } from '../../../db/records/entities.ts';
import { PROVIDER_NAMES } from '../../../providers/index.ts';
import * as field from '../fields.ts';
import * as table from '../table.ts';
import { component, count, idOf, text, timestamp, warnings, withExample } from '../values.ts';

const MAX_WINDOW_SECONDS = 604_800;

const keyMembers = {
  header: withExample(
    z
      .string()
      .max(256)
      .refine((header) => checkHeaderName(header) === null, 'must be a header name'),
    'X-Request-Id',
  ).optional(),
  jsonPath: withExample(
    z.string().refine((path) => parsePath(path) !== null, 'must be a path into the payload, for example $.order.id'),
    '$.order.id',
  ).optional(),
  query: withExample(
    z.string().min(1, 'must be the name of a query parameter').max(256, 'must be at most 256 characters long'),
    'delivery',
  ).optional(),
  signature: z
    .literal(true)
    .describe(
      'If true, duplicates are detected by their signature, so a captured request that is sent again is a duplicate.',
    )
    .optional(),
  windowSeconds: z.int().min(1).max(MAX_WINDOW_SECONDS),
};
const idempotencyKey = withExample(
  z
    .object(keyMembers)
    .refine(
      ({ header, jsonPath, query, signature }) =>
        [header, jsonPath, query, signature].filter((way) => way !== undefined).length === 1,
      'must have exactly one of header, jsonPath, query and signature',
    )
    .nullable(),
  { header: 'X-Request-Id', windowSeconds: 3600 },
  'How duplicates are detected, and for how long.',
);

const ingestToken = z
  .enum(INGEST_TOKEN_RULES)
  .describe('Whether the ingest URL has an unguessable token, and whether webhooks must use it.');
const concealed = withExample(
  z.boolean(),
  false,
  'Whether webhooks without a valid signature get a 404, as if the source did not exist.',
);

const allowPaths = withExample(
  z.boolean(),
  false,
  'Whether any path below the ingest URL is accepted. Events store it as `path`.',
);

// Checked in full once the record is loaded: an update may omit the secret (resources/sources.ts).
const verificationConfig = z
  .looseObject({ type: z.string().optional(), provider: z.enum(PROVIDER_NAMES).nullish() })
  .nullable()
  .optional();

// The members of every scheme but its secret, by name: several have some of one name.
const publicMembers = Map.groupBy(
  verificationSchemas.flatMap(({ shape }) =>
    Object.entries<z.ZodType>(shape).filter(([name]) => name !== 'type' && name !== 'secret'),
  ),
  ([name]) => name,
);

function shownMember(types: readonly z.ZodType[]): z.ZodType {
  const [first = z.never(), ...others] = types.map(table.withoutDefault);
  if (others.length === 0 || !(first instanceof z.ZodEnum)) return first;
  const values = [first, ...others].flatMap((each) => (each instanceof z.ZodEnum ? each.options.map(String) : []));
  return z.enum([...new Set(values)]);
}

const shownVerificationConfig = z
  .object({
    type: z.enum([...VERIFICATION_TYPES, PROVIDER_TYPE]),
    ...Object.fromEntries(
      [...publicMembers].map(([name, all]) => [name, shownMember(all.map(([, type]) => type)).optional()]),
    ),
    confirmSubscriptions: z.boolean().optional(),
  })
  .meta({
    id: 'VerificationConfig',
    description:
      "How webhooks are verified. The secret is never shown. `provider` uses the built-in verification of the source's provider. `confirmSubscriptions` is present only for Amazon SNS; the other fields depend on the type.",
    examples: [{ type: 'github' }],
  });

const provider = withExample(
  z.enum(PROVIDER_NAMES).nullable(),
  'github',
  'The provider that sends the webhooks. Determines how signatures are verified and which handshakes are supported.',
);

export const shownAnswer = z
  .object({ status: z.int(), body: z.string(), contentType: z.string() })
  .meta({ id: 'SourceAnswer', examples: [{ status: 200, body: '<Response/>', contentType: 'text/xml' }] });
const answer = withExample(
  sourceAnswerSchema.nullable(),
  { status: 200, body: '<Response/>', contentType: 'text/xml' },
  'The response to accepted webhooks. If null, the response contains `success` and `eventId`.',
);

const handshake = withExample(
  sourceHandshakeSchema.nullable(),
  { type: 'echo', parameter: 'challenge' },
  'The response when the sender checks the ingest URL with a `GET` or `HEAD` request: status 200, the value of a query parameter, or the HMAC of that value. If null, the response is 405 unless the provider sends such requests.',
);
const shownHandshake = z
  .object({
    type: z.enum(['ok', 'echo', 'hmac']),
    parameter: z.string().optional(),
    member: z.string().optional(),
    verifyToken: z.string().optional(),
    echoMember: z.string().optional(),
    algorithm: z.enum(SIGNATURE_ALGORITHMS).optional(),
    encoding: z.enum(SIGNATURE_ENCODINGS).optional(),
    prefix: z.string().optional(),
  })
  .meta({ id: 'SourceHandshake', examples: [{ type: 'echo', parameter: 'challenge' }] });

const lastHandshake = z
  .object({
    kind: text('challenge', 'The kind of handshake.'),
    at: timestamp,
    shown: text(
      'https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription',
      'The URL to visit, or the token to enter at the provider, to complete the handshake. Null if none. Masked for API keys without the `sources:write` or `secrets:read` scope.',
    ).nullable(),
  })
  .nullable()
  .describe("The sender's last handshake. Null if none.");

type Hidden =
  | 'verification'
  | 'verificationSecret'
  | 'previousVerificationSecret'
  | 'ingestTokenValue'
  | 'previousTokenValue'
  | 'handshakeToken'
  | 'lastHandshakeKind'
  | 'lastHandshakeAt'
  | 'lastHandshakeShown';
export const sourceMembers = table.membersOf<Omit<Source, Hidden>>()({
  id: table.readOnly(idOf('src')),
  name: table.required(field.name),
  // Part of the URL that the provider sends to, so an update may not change it.
  slug: { ...table.required(field.slug), update: z.string().optional() },
  description: table.optional(field.description, null),
  webhookUrl: table.computed(
    text(
      'http://localhost:3000/ingest/default/orders',
      'The ingest URL that the sender posts webhooks to. Its token is masked for API keys without the `sources:write` or `secrets:read` scope.',
    ),
  ),
  provider: table.optional(provider, null),
  verificationConfig: {
    create: verificationConfig,
    update: verificationConfig,
    answer: shownVerificationConfig,
    isStored: false,
  },
  previousSecretUntil: table.readOnly(
    timestamp
      .nullable()
      .describe(
        'When the previous secret expires. Until then, webhooks that can be verified with it are also accepted. Null if none.',
      ),
  ),
  idempotencyKey: table.optional(idempotencyKey, null),
  ingestToken: table.optional(ingestToken, 'none'),
  previousTokenUntil: table.readOnly(
    timestamp.nullable().describe('When the previous ingest URL expires. Null if none.'),
  ),
  concealed: table.optional(concealed, false),
  allowPaths: table.optional(allowPaths, false),
  answer: table.optional(answer, null, { answer: shownAnswer.nullable() }),
  handshake: table.converted(handshake, { answer: shownHandshake.nullable() }),
  lastHandshake: table.computed(lastHandshake),
  enabled: table.optional(field.enabled, true),
  eventsCount: table.computed(count),
  lastEventAt: table.computed(timestamp.nullable()),
  warnings: table.computed(warnings),
  createdAt: table.readOnly(timestamp),
  updatedAt: table.readOnly(timestamp),
});

export const sourceDefaults = table.defaultsOf(sourceMembers);

export const createSourceSchema = z.object(table.createShape(sourceMembers));
/** The slug is that of the path. */
export const putSourceSchema = createSourceSchema.extend({ slug: createSourceSchema.shape.slug.optional() });
export const updateSourceSchema = z.object(table.updateShape(sourceMembers));
export const sourceAnswer = component('Source', table.answerShape(sourceMembers));

const providerConfig = component(
  'ProviderConfig',
  {
    type: z.literal(PROVIDER_TYPE).optional(),
    provider: z.enum(PROVIDER_NAMES).optional().describe("The same as the source's `provider`."),
    secret: z
      .string()
      .nullish()
      .describe(
        'The secret that `GET /api/providers` describes. If null, a secret that the provider sent in its handshake is removed.',
      ),
    verifyToken: z.string().optional().describe('The verify token, for providers that use one.'),
    confirmSubscriptions: z
      .boolean()
      .optional()
      .describe(
        'For Amazon SNS: whether to confirm subscriptions automatically. If false (the default), the confirmation URL is returned in `lastHandshake.shown`.',
      ),
  },
  "Uses the built-in verification of the source's provider.",
);

export const createSourceBody = createSourceSchema.extend({
  verificationConfig: z.union([verificationConfigSchema, providerConfig]).nullable().optional(),
});
