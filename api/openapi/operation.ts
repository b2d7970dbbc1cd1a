// How the files beside this one say what an operation takes and answers, and what all operations have in common.
// Rules: HTTP-25.
import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { type ErrorCodes, errorResponses, isRepeatable, managementErrors } from './errors.ts';
import { idempotencyKey, idempotentReplayed, ignoredNames, pathParameter, requestId } from './members.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** One method of one path. */
export interface Operation {
  method: Method;
  /** With its parameters in braces: `/api/routes/{id}`. */
  path: string;
  operationId: string;
  tag: Tag;
  summary: string;
  description?: string;
  /** What the path's `{id}` is of: the prefix of the ids. */
  idOf?: readonly string[];
  /** The schema by which the handler checks the query. */
  query?: z.ZodObject;
  body?: RequestBody;
  answer: Answer;
  /** Whether it takes a body of any type. */
  takesAnything?: true;
  /** Errors of its own; those that all operations share are added. */
  errors?: ErrorCodes;
  /** Which errors it shares with others: all of the management API (default), or none. */
  family?: 'management' | 'public';
}

export interface RequestBody {
  /** The schema by which the handler checks the body. */
  schema: z.ZodType;
  /** By a name that says what it is good for; each is valid. */
  examples: Record<string, unknown>;
  /** Whether the request may go without a body. */
  optional?: true;
}

export interface Answer {
  status: 200 | 201 | 204;
  description: string;
  /** Of a JSON answer; answers of another kind say their `content`. */
  schema?: z.ZodType;
  content?: ZodOpenApiResponseObject['content'];
  headers?: Record<string, z.ZodType>;
  /** Operations that take the id of the answer as their `{id}`. */
  leadsTo?: string[];
  /** Whether it is not sent again to who has it (304). */
  mayBeKnown?: true;
}

/** The tags in the order of the page, with what they are about. */
export const TAGS = {
  Ingest: 'Where providers send webhooks.',
  Sources: 'Each source has a public address that receives webhooks.',
  Destinations: 'Where webhooks are delivered: HTTP endpoints and warehouses (flat family).',
  'Organization destinations':
    'The HTTP destinations of the same store, with the same members (organization-scoped family).',
  Routes: 'Which source goes to which destinations, and how.',
  Leases: 'Records that are removed unless somebody renews them.',
  Filters: 'Conditions that several routes share.',
  Transforms: 'Code that makes of an event what is sent.',
  Schemas: 'JSON Schemas that payloads must match.',
  Events: 'Webhooks as they were received, and their replay.',
  Deliveries: 'What happened to an event on its way to one destination.',
  Access: 'API keys, and whom a key belongs to.',
  Service: 'Whether the service is well, and this description.',
} as const;
export type Tag = keyof typeof TAGS;

/** An operation in the form that the library takes. */
export function toOperationObject(operation: Operation): ZodOpenApiOperationObject {
  const { family = 'management', query, body, answer } = operation;
  const pathParameters = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) =>
    pathParameter(name, operation.idOf ?? []),
  );
  const parameters = [...pathParameters, ...(isRepeatable(operation) ? [idempotencyKey] : [])];
  const errors = family === 'management' ? managementErrors(operation) : (operation.errors ?? {});
  return {
    operationId: operation.operationId,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.description !== undefined && { description: operation.description }),
    ...(family === 'public' && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(query && { requestParams: { query } }),
    ...(body && {
      requestBody: {
        required: !body.optional,
        content: {
          'application/json': {
            schema: body.schema,
            examples: Object.fromEntries(Object.entries(body.examples).map(([name, value]) => [name, { value }])),
          },
        },
      },
    }),
    ...(operation.takesAnything && { requestBody: anything }),
    responses: {
      [`${answer.status}`]: toResponse(answer, family, isRepeatable(operation)),
      ...(answer.mayBeKnown && { '304': notModified }),
      ...errorResponses(errors),
    },
  };
}

const notModified: ZodOpenApiResponseObject = {
  description: 'It is what `If-None-Match` names.',
  headers: z.object({ 'X-Request-Id': requestId }),
};

const anything: ZodOpenApiOperationObject['requestBody'] = {
  required: false,
  content: {
    'application/json': { schema: {}, examples: { 'an order': { value: { kind: 'order.paid', order: { id: 42 } } } } },
    'application/octet-stream': { schema: {} },
  },
};

function toResponse(
  { description, schema, content, headers, leadsTo }: Answer,
  family: Operation['family'],
  repeatable: boolean,
): ZodOpenApiResponseObject {
  return {
    description,
    headers: z.object({
      'X-Request-Id': requestId,
      ...(family === 'management' && { 'X-Ignored': ignoredNames }),
      ...(repeatable && { 'Idempotent-Replayed': idempotentReplayed }),
      ...headers,
    }),
    ...(schema && { content: { 'application/json': { schema } } }),
    ...(content && { content }),
    ...(leadsTo && {
      links: Object.fromEntries(
        leadsTo.map((operationId) => [operationId, { operationId, parameters: { id: '$response.body#/id' } }]),
      ),
    }),
  };
}
