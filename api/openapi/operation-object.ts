// An operation (../operation.ts) in the form of the library that writes the description.
import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { type Described, scopeOf } from '../request/operation.ts';
import { errorResponses, isConditional, isRepeatable, managementErrors } from './error-responses.ts';
import {
  entityTag,
  idempotencyKey,
  idempotentReplayed,
  ifMatch,
  ignoredNames,
  pathParameter,
  requestId,
} from './parameters.ts';

export function toOperationObject(operation: Described): ZodOpenApiOperationObject {
  const { family = 'management', query, body, answer } = operation;
  const pathParameters = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) =>
    pathParameter(name, operation.idOf ?? []),
  );
  const parameters = [
    ...pathParameters,
    ...(isRepeatable(operation) ? [idempotencyKey] : []),
    ...(isConditional(operation) ? [ifMatch] : []),
  ];
  const errors = family === 'management' ? managementErrors(operation) : (operation.errors ?? {});
  return {
    operationId: operation.operationId,
    tags: [operation.tag],
    summary: operation.summary,
    description: descriptionOf(operation),
    ...securityOf(operation),
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
      [`${answer.status}`]: toResponse(operation, family, isRepeatable(operation)),
      ...(answer.ofNew !== undefined && { '201': toResponse(asNew(operation, answer.ofNew), family, false) }),
      ...(answer.mayBeKnown && { '304': notModified }),
      ...errorResponses(errors),
    },
  };
}

/** Its own, and who may call it. */
function descriptionOf(operation: Described): string {
  const { description, family = 'management' } = operation;
  return [description, family === 'management' && whoMay(scopeOf(operation))].filter(Boolean).join(' ');
}

const whoMay = (scope: string | null): string => (scope === null ? 'Every key may.' : `Needs the scope \`${scope}\`.`);

/** The same key in either header (AUTH-01). */
export const MANAGEMENT_SECURITY: Record<string, string[]>[] = [{ apiKey: [] }, { apiKeyHeader: [] }];

// Only OAuth has scopes that linters and generators know, so those of keys stand beside it.
function securityOf(operation: Described): Pick<ZodOpenApiOperationObject, 'security' | `x-${string}`> {
  if (operation.family === 'public') return { security: [] };
  if (operation.family === 'operator') return { security: [{ operatorKey: [] }] };
  const scope = scopeOf(operation);
  return { security: MANAGEMENT_SECURITY, 'x-scopes': scope === null ? [] : [scope] };
}

const notModified: ZodOpenApiResponseObject = {
  description: 'It is what `If-None-Match` names.',
  headers: z.object({ 'X-Request-Id': requestId }),
};

// Providers send what they like; to programs that send webhooks it is bytes.
const anything: ZodOpenApiOperationObject['requestBody'] = {
  required: false,
  content: {
    'application/octet-stream': {
      schema: {
        type: 'string',
        format: 'binary',
        description: 'Any bytes, with the `Content-Type` that they have.',
      },
    },
  },
};

const asNew = (operation: Described, description: string): Described => ({
  ...operation,
  answer: { ...operation.answer, status: 201, description },
});

function toResponse(
  { answer: { status, description, schema, content, headers, leadsTo }, versioned }: Described,
  family: Described['family'],
  repeatable: boolean,
): ZodOpenApiResponseObject {
  return {
    description,
    headers: z.object({
      'X-Request-Id': requestId,
      ...(family === 'management' && { 'X-Ignored': ignoredNames }),
      ...(repeatable && { 'Idempotent-Replayed': idempotentReplayed }),
      ...(versioned && status !== 204 && { ETag: entityTag }),
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
