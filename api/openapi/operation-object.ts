// An operation (api/request/operation.ts) in the form of the library that writes the description.
import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { type Described, isConditional, isRepeatable, scopeOf } from '../request/operation.ts';
import { slug } from '../resources/fields.ts';
import { exampleId, idOf, text } from '../resources/values.ts';
import { errorResponses, ignoredNames, managementErrors, requestId } from './error-responses.ts';

const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/)
  .optional()
  .meta({
    description:
      'For 24 hours, a repeated request with the same key and body gets the first response, unless it was 429 or 5xx.',
    examples: ['3f0c1b1e-8a53-4c0f-9f0e-5d1a2b3c4d5e'],
    param: { in: 'header', name: 'Idempotency-Key', id: 'IdempotencyKey' },
  });
const idempotentReplayed = z
  .literal('true')
  .optional()
  .meta({
    description:
      'Present for a repeated request: this is the response to the first request with this `Idempotency-Key`.',
    header: { id: 'IdempotentReplayed' },
  });

const entityTag = text(
  '"3"',
  "The record's version, for `If-Match`. It increases when fields change, but not when metrics or states change.",
).meta({ header: { id: 'ETag' } });
const ifMatch = z
  .string()
  .optional()
  .meta({
    description:
      "An `ETag` of this record, or several separated by commas. If none matches the record's version, nothing is changed and " +
      'the response is 412.',
    examples: ['"3"'],
    param: { in: 'header', name: 'If-Match', id: 'IfMatch' },
  });

const orgId = text(exampleId('org'), "The ID of the API key's organization, from `GET /api/auth/me`.").meta({
  param: { in: 'path', name: 'orgId', id: 'OrganizationId' },
});

const PATH_EXAMPLES: Record<string, string> = {
  orgSlug: 'default',
  sourceSlug: 'orders',
  token: 'b0FvZ3V0ZW4gTW9yZ2VuIGFsbGUg',
};

/** A parameter of a path. @param prefixes of an `id` */
function pathParameter(name: string, prefixes: readonly string[]): z.ZodType {
  if (name === 'orgId') return orgId;
  if (name === 'slug') return slug.meta({ param: { in: 'path', name } });
  if (name !== 'id') return text(PATH_EXAMPLES[name] ?? 'orders').meta({ param: { in: 'path', name } });
  if (prefixes.length === 0) throw new Error('an operation with {id} must name the kinds of the ID');
  return idOf(...prefixes).meta({ param: { in: 'path', name } });
}

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
      [`${answer.status ?? 200}`]: toResponse(operation, family, isRepeatable(operation)),
      ...(answer.ofNew !== undefined && { '201': toResponse(asNew(operation, answer.ofNew), family, false) }),
      ...(answer.mayBeKnown && { '304': notModified }),
      ...errorResponses(errors),
    },
  };
}

function descriptionOf(operation: Described): string {
  const { description, family = 'management', alsoScope } = operation;
  return [description, family === 'management' && whoMay(scopeOf(operation), alsoScope)].filter(Boolean).join(' ');
}

function whoMay(scope: string | null, also: string | undefined): string {
  if (scope === null) return 'Any API key can call this operation.';
  return also === undefined ? `Requires the \`${scope}\` scope.` : `Requires the \`${scope}\` and \`${also}\` scopes.`;
}

export const MANAGEMENT_SECURITY: Record<string, string[]>[] = [{ apiKey: [] }, { apiKeyHeader: [] }];

// Only OAuth has scopes that linters and generators know, so those of keys stand beside it.
function securityOf(operation: Described): Pick<ZodOpenApiOperationObject, 'security' | `x-${string}`> {
  if (operation.family === 'public') return { security: [] };
  if (operation.family === 'operator') return { security: [{ operatorKey: [] }] };
  const scope = scopeOf(operation);
  return { security: MANAGEMENT_SECURITY, 'x-scopes': scope === null ? [] : [scope] };
}

const notModified: ZodOpenApiResponseObject = {
  description: 'Not modified.',
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
        description: 'The payload, with its `Content-Type`.',
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
