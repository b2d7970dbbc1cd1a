// The probes and this description itself, in the API's description; their handlers are in ../resources/health.ts and serve-description.ts.
import { z } from 'zod';
import { text } from '../resources/values.ts';
import type { Described } from '../request/operation.ts';
import { readySchema } from '../resources/organization/health.ts';

const well = z.object({ status: z.literal('ok') }).meta({ id: 'Well' });

const count = z.int().min(0);

const ready = z
  .object({
    status: z.literal('ok'),
    ingest: z.enum(['open', 'partly_full', 'full']).meta({
      description:
        'Whether webhooks are accepted: `full` refuses all with 503, `partly_full` those for destinations that have most of the backlog.',
      examples: ['open'],
    }),
    temporal: z.enum(['ok', 'away']).meta({
      description: 'Whether Temporal can be reached. While it is away, webhooks are accepted and wait for it.',
      examples: ['ok'],
    }),
    lanes: z
      .object({ workflow: count.meta({ examples: [1] }), express: count.meta({ examples: [0] }) })
      .meta({
        description:
          'Only with `deep`: how many workers take deliveries in each lane now, where the route names none. With `HOOKYARD_LANE=adaptive`, `express` are those whose workflows fall behind.',
      })
      .optional(),
  })
  .meta({ id: 'Ready' });

export const serviceOperations: Described[] = [
  {
    tag: 'Service',
    family: 'public',
    method: 'get',
    path: '/healthz',
    operationId: 'isAlive',
    summary: 'Whether the process lives',
    description: 'It asks neither PostgreSQL nor Temporal.',
    answer: { status: 200, description: 'It does.', schema: well },
    errors: { 500: ['INTERNAL_ERROR'] },
  },
  {
    tag: 'Service',
    family: 'public',
    method: 'get',
    path: '/readyz',
    operationId: 'isReady',
    summary: 'Whether webhooks should be sent to this process',
    description:
      'It is ready when PostgreSQL can be reached and takes writes, and when the process was not told to end. What it finds holds for half a second.',
    query: readySchema,
    answer: { status: 200, description: 'They should.', schema: ready },
    errors: { 400: ['VALIDATION_ERROR'], 500: ['INTERNAL_ERROR'], 503: ['NOT_READY'] },
  },
  {
    tag: 'Service',
    family: 'public',
    method: 'get',
    path: '/openapi.json',
    operationId: 'getDescription',
    summary: 'This description',
    description: 'Of this instance: another version may have other operations.',
    answer: {
      status: 200,
      description: 'An OpenAPI document; `/docs` shows it as a page.',
      schema: z.looseObject({ openapi: text('3.1.0') }),
      headers: { ETag: text('"0123456789abcdef"'), 'Cache-Control': text('no-cache') },
      mayBeKnown: true,
    },
    errors: { 500: ['INTERNAL_ERROR'] },
  },
];
