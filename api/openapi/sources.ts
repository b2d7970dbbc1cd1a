// Sources in the API's description; their handlers and request schemas are in ../resources/sources.ts.
import { z } from 'zod';
import { VERIFICATION_TYPES, verificationConfigSchema, verificationSchemas } from '../../core/signatures/index.ts';
import { withoutDefault } from '../members/table.ts';
import * as sources from '../resources/sources.ts';
import { count, flag, idOf, listOf, stamps, text, timestamp } from '../members/values.ts';
import type { Operation } from './operation.ts';

// The members of every scheme but its secret.
const publicMembers = verificationSchemas.flatMap(({ shape }) =>
  Object.entries<z.ZodType>(shape).filter(([name]) => name !== 'type' && name !== 'secret'),
);
const verificationConfig = z
  .object({
    type: z.enum(VERIFICATION_TYPES),
    ...Object.fromEntries(publicMembers.map(([name, type]) => [name, withoutDefault(type).optional()])),
  })
  .meta({
    id: 'VerificationConfig',
    description: 'How webhooks are verified; the secret is never shown. All but the type are of hmac.',
    examples: [{ type: 'github' }],
  });

const source = z
  .object({
    id: idOf('src'),
    name: text('Orders'),
    slug: text('orders'),
    description: text('Orders of the shop').nullable(),
    webhookUrl: text('http://localhost:3000/ingest/default/orders', 'Where the provider sends its webhooks.'),
    verificationConfig,
    idempotencyKey: z
      .object({
        header: text('X-Request-Id').optional(),
        jsonPath: text('$.order.id').optional(),
        windowSeconds: z.int().min(1),
      })
      .nullable()
      .meta({
        description: 'By what a repeated webhook is known, and for how long.',
        examples: [{ header: 'X-Request-Id', windowSeconds: 3600 }],
      }),
    enabled: flag(true),
    eventsCount: count,
    lastEventAt: timestamp.nullable(),
    ...stamps,
  })
  .meta({ id: 'Source' });

// The handler checks it by this schema once it knows what is stored: an update may leave the secret out.
const createBody = sources.createSchema.extend({ verificationConfig: verificationConfigSchema.nullable().optional() });

const base = '/api/organizations/{orgId}/sources';
const common = { tag: 'Sources', idOf: ['src'] } as const;

export const sourceOperations: Operation[] = [
  {
    ...common,
    method: 'get',
    path: base,
    operationId: 'listSources',
    summary: 'List sources',
    query: sources.listSchema,
    answer: { status: 200, description: 'One page, newest first.', schema: listOf(source) },
  },
  {
    ...common,
    method: 'post',
    path: base,
    operationId: 'createSource',
    summary: 'Create a source',
    body: {
      schema: createBody,
      examples: {
        plain: { name: 'Orders', slug: 'orders' },
        github: {
          name: 'GitHub',
          slug: 'github',
          verificationConfig: { type: 'github', secret: 'the secret that GitHub has, too' },
        },
        hmac: {
          name: 'Shop',
          slug: 'shop',
          description: 'Signed, and each webhook once',
          verificationConfig: {
            type: 'hmac',
            secret: 'shared with the shop',
            algorithm: 'sha256',
            header: 'X-Shop-Signature',
            encoding: 'base64',
          },
          idempotencyKey: { jsonPath: '$.order.id', windowSeconds: 3600 },
        },
      },
    },
    answer: {
      status: 201,
      description: 'The source; `verificationConfig` has only its type.',
      schema: source,
      leadsTo: ['getSource', 'updateSource', 'deleteSource'],
    },
    errors: { 400: ['INVALID_SLUG'], 409: ['DUPLICATE_SLUG'] },
  },
  {
    ...common,
    method: 'get',
    path: `${base}/{id}`,
    operationId: 'getSource',
    summary: 'Get a source',
    answer: { status: 200, description: 'The source.', schema: source },
  },
  {
    ...common,
    method: 'patch',
    path: `${base}/{id}`,
    operationId: 'updateSource',
    summary: 'Update a source',
    description: 'Members that are not sent stay as they are. The slug cannot be changed.',
    body: {
      schema: sources.updateSchema,
      examples: { pause: { enabled: false }, rename: { name: 'Orders of the shop' } },
    },
    answer: { status: 200, description: 'The source as it is now.', schema: source },
  },
  {
    ...common,
    method: 'delete',
    path: `${base}/{id}`,
    operationId: 'deleteSource',
    summary: 'Delete a source',
    description: 'Also deletes its events and deliveries.',
    answer: { status: 204, description: 'It is deleted.' },
  },
];
