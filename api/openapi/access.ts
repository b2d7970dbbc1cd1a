// API keys, the caller, the probes and this description itself, in the API's description.
import { z } from 'zod';
import { PLANS, SCOPES } from '../../core/access.ts';
import * as apiKeys from '../resources/api-keys.ts';
import { readySchema } from '../resources/health.ts';
import { idOf, listOf, text, timestamp } from '../members/values.ts';
import type { Operation } from './operation.ts';

const scopes = z.array(z.enum(SCOPES)).meta({ examples: [['read', 'write']] });

const keyMembers = {
  id: idOf('key'),
  name: text('Deployment'),
  scopes,
  tokenHint: text('x7Qa', 'Its last four characters.'),
  expiresAt: timestamp.nullable(),
  lastUsedAt: timestamp.nullable(),
  createdAt: timestamp,
};

const caller = z
  .object({
    organization: z.object({
      id: idOf('org'),
      name: text('Acme'),
      slug: text('acme'),
      plan: z.enum(PLANS).meta({ examples: ['business'] }),
    }),
    key: z.object({ id: idOf('key'), name: text('Deployment'), scopes }),
  })
  .meta({ id: 'Caller' });

const well = z.object({ status: z.literal('ok') }).meta({ id: 'Well' });

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
  })
  .meta({ id: 'Ready' });

export const accessOperations: Operation[] = [
  {
    tag: 'Access',
    method: 'get',
    path: '/api/auth/me',
    operationId: 'getCaller',
    summary: 'Get the organization and the key of the request',
    answer: { status: 200, description: 'Whom the key belongs to.', schema: caller },
  },
  {
    tag: 'Access',
    method: 'get',
    path: '/api/api-keys',
    operationId: 'listApiKeys',
    summary: 'List API keys',
    query: apiKeys.listSchema,
    answer: {
      status: 200,
      description: 'One page of those that were not revoked, newest first.',
      schema: listOf(z.object(keyMembers).meta({ id: 'ApiKey' })),
    },
  },
  {
    tag: 'Access',
    method: 'post',
    path: '/api/api-keys',
    operationId: 'createApiKey',
    summary: 'Create an API key',
    body: {
      schema: apiKeys.createSchema,
      examples: { 'to look only': { name: 'Dashboard', scopes: ['read'], expiresAt: '2036-01-01T00:00:00Z' } },
    },
    answer: {
      status: 201,
      description: 'The key, with its token, which is shown this once.',
      schema: z.object({ ...keyMembers, token: text('whr_...') }).meta({ id: 'NewApiKey' }),
      leadsTo: ['revokeApiKey'],
    },
  },
  {
    tag: 'Access',
    idOf: ['key'],
    method: 'delete',
    path: '/api/api-keys/{id}',
    operationId: 'revokeApiKey',
    summary: 'Revoke an API key',
    description: 'Requests with it are refused from now on.',
    answer: { status: 204, description: 'It is revoked.' },
  },
  {
    tag: 'Service',
    family: 'public',
    method: 'get',
    path: '/healthz',
    operationId: 'isAlive',
    summary: 'Whether the process lives',
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
