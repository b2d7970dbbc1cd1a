// Errors as the API answers them, for its description: which codes come with which status.
import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { LIMIT_NAMES } from '../../core/fairness/organization-limits.ts';
import { type Described, type ErrorCodes, isConditional, isRepeatable, NO_CODE } from '../request/operation.ts';
import { component, exampleId, text, withExample } from '../resources/values.ts';

export const requestId = text(
  exampleId('req'),
  'The request ID, which is also in the log: the ID that the client sent, or a new one.',
).meta({ header: { id: 'RequestId' } });

export const ignoredNames = z
  .string()
  .optional()
  .meta({
    description:
      'Unknown query parameters and body fields that were ignored, as a structured list (RFC 9651) of dotted names, each with `in` ' +
      '(query or body) and the `nearest` known name, if any. Special and non-ASCII characters are percent-encoded. Up to 8 are listed; ' +
      '`more;count=` is the number of others.',
    examples: ['"destnationId";in=query;nearest="destinationId"'],
    header: { id: 'Ignored' },
  });

const DESCRIPTIONS: Record<number | string, string> = {
  400: 'The request is invalid. If fields are invalid, `message` names one of them and `details` lists all of them.',
  401: 'The credentials are missing, unknown, expired or revoked.',
  403: 'The API key or the plan of the organization does not allow the request, or the organization is suspended.',
  404: 'The path does not exist, or the record does not exist in this organization.',
  406: 'The `Accept` header does not include `text/event-stream`.',
  408: 'The request body did not arrive in time.',
  409: 'The request conflicts with the current state.',
  410: 'The payload was removed by the retention policy.',
  412: 'The record does not exist, or its version does not match `If-Match`. Nothing was changed.',
  413: 'The body is too large.',
  415: 'The body is not `application/json`, or has a `Content-Encoding`.',
  422: 'The `Idempotency-Key` was used with a different body in the last 24 hours.',
  429: 'A limit was exceeded: an organization limit (named in `limit`), the limit on requests per minute with this API key (`HOOKYARD_API_RATE_LIMIT_PER_MINUTE`), on requests with invalid credentials from this address, or on confirmation emails to an address.',
  500: 'An internal error. Search the log for the request ID.',
  503: 'The service or a dependency is unavailable or overloaded. Retry later.',
  508: 'The webhook has passed through too many Hookyard instances. Nothing was stored.',
  // The errors of ingest that are not about the management API's records and keys.
  INCOMPLETE_BODY: 'The body is incomplete, or the path below the ingest URL is invalid. Nothing was stored.',
  INVALID_SIGNATURE: "The webhook's signature or credentials are missing or invalid. Nothing was stored.",
  SOURCE_DISABLED: 'The source is disabled, or the organization is suspended. Nothing was stored.',
};

const seconds = z.string().regex(/^\d+$/);
const retryAfter = seconds.meta({
  description: 'Seconds to wait before retrying.',
  examples: ['1'],
  header: { id: 'RetryAfter' },
});
/** Where HOOKYARD_API_RATE_LIMIT_PER_MINUTE is set. */
const number = (description: string, id: string) =>
  seconds.optional().meta({ description, examples: ['60'], header: { id } });

const HEADERS: Record<number, Record<string, z.ZodType>> = {
  400: { 'X-Ignored': ignoredNames },
  401: {
    'WWW-Authenticate': z
      .literal('Bearer')
      .optional()
      .meta({
        description: 'The authentication scheme. Present only in management API responses.',
        header: { id: 'WwwAuthenticate' },
      }),
  },
  503: { 'Retry-After': retryAfter },
  429: {
    'Retry-After': retryAfter,
    'X-RateLimit-Limit': number('Maximum requests per minute with this API key.', 'RateLimitLimit').optional(),
    'X-RateLimit-Remaining': number('Requests remaining in this minute.', 'RateLimitRemaining').optional(),
    'X-RateLimit-Reset': number('When this minute ends, as a Unix timestamp in seconds.', 'RateLimitReset').optional(),
  },
};

const detail = component('ErrorDetail', {
  path: withExample(z.string(), 'retryPolicy.maxRetries', "The field's dotted path. Empty for the whole body."),
  message: withExample(z.string(), 'must be at most 50'),
  line: withExample(z.int().optional(), 1, 'The line number in the code, starting at 1.'),
  column: withExample(z.int().optional(), 5),
});

const limitName = z
  .enum(LIMIT_NAMES)
  .meta({ id: 'LimitName', description: 'An organization limit.', examples: ['eventsPerSecond'] });

/** The body of every error: one schema, so that programs have one type for it. */
const errorBody = component(
  'Error',
  {
    error: withExample(z.string(), 'Bad Request', 'The HTTP status text.'),
    message: withExample(z.string(), 'name is required and must be a string', 'What is wrong, and how to fix it.'),
    code: withExample(
      z.string().optional(),
      'VALIDATION_ERROR',
      'A stable, machine-readable code. Each operation lists its codes; more may be added.',
    ),
    details: z.array(detail).optional().describe('The invalid fields. Present only with status 400.'),
    limit: limitName.optional(),
  },
  'All errors have this format.',
);

/** @param codes without NO_CODE */
function exampleError(status: number, codes: string[]): unknown {
  return {
    error: STATUS_CODES[status] ?? 'Error',
    message: exampleMessage(codes.find((code) => code in DESCRIPTIONS) ?? status),
    ...(codes[0] !== undefined && { code: codes[0] }),
  };
}

function exampleMessage(status: number | string): string {
  const messages: Record<number | string, string> = {
    400: 'name is required and must be a string',
    401: 'Missing or invalid credentials',
    404: 'There is no route with ID rte_06f3k2v8q0e7x1c5b9m4n6p8qr in this organization; check the ID',
    INCOMPLETE_BODY: 'The request ended before its body was complete; nothing was stored',
    INVALID_SIGNATURE: 'The X-Hub-Signature-256 header is missing; nothing was stored',
  };
  return messages[status] ?? DESCRIPTIONS[status] ?? 'The request failed';
}

// Each answer is written once, as a component.
const shared = new Map<string, ZodOpenApiResponseObject>();

export function errorResponses(errors: ErrorCodes): Record<`${number}`, ZodOpenApiResponseObject> {
  const statuses = Object.entries(errors).filter((entry): entry is [`${number}`, string[]] => entry[1] !== undefined);
  return Object.fromEntries(statuses.map(([status, codes]) => [status, errorResponse(Number(status), codes)]));
}

function errorResponse(status: number, codes: string[]): ZodOpenApiResponseObject {
  const sorted = codes.toSorted();
  const id = nameOfErrors(sorted);
  const key = `${status} ${id}`;
  const known = shared.get(key);
  if (known) return known;
  const named = sorted.filter((code) => code !== NO_CODE);
  const list = named.map((code) => `\`${code}\``).join(', ');
  const tells = DESCRIPTIONS[sorted.find((code) => code in DESCRIPTIONS) ?? status] ?? 'An error.';
  const response: ZodOpenApiResponseObject = {
    description: list === '' ? tells : `${tells} Codes: ${list}${sorted.length > named.length ? ', or none' : ''}.`,
    headers: z.object({ 'X-Request-Id': requestId, ...HEADERS[status] }),
    content: { 'application/json': { schema: errorBody, example: exampleError(status, named) } },
    'x-codes': sorted.map((code) => (code === NO_CODE ? null : code)),
    id,
  };
  shared.set(key, response);
  return response;
}

// Codes that come together, and what they are called: what a body may be answered, what a query may be, what a repeated
// POST may be.
const TOGETHER: [codes: string[], word: string][] = [
  [['INVALID_JSON', 'VALIDATION_ERROR'], 'InvalidBody'],
  [['VALIDATION_ERROR'], 'InvalidQuery'],
  [['IDEMPOTENCY_ANSWER_LOST', 'IDEMPOTENCY_KEY_IN_USE'], 'RepeatRefused'],
  [['LIMIT_EXCEEDED', 'RATE_LIMITED'], 'TooManyRequests'],
  [['FORBIDDEN', 'ORGANIZATION_SUSPENDED'], 'ForbiddenOrSuspended'],
  [['RESOURCE_NOT_FOUND'], 'NotFound'],
];

function nameOfErrors(codes: string[]): string {
  let left = codes;
  const words: string[] = [];
  for (const [together, word] of TOGETHER) {
    if (!together.every((code) => left.includes(code))) continue;
    left = left.filter((code) => !together.includes(code));
    words.push(word);
  }
  return [...words, ...left.map((code) => (code === NO_CODE ? 'Other' : pascal(code)))].join('Or');
}

const pascal = (code: string): string =>
  code.toLowerCase().replaceAll(/(?:^|_)([a-z])/g, (_all, letter: string) => letter.toUpperCase());

/** The errors of an operation of the management API: its own, and those that follow from its input. */
export function managementErrors({ method, path, query, body, versioned, errors = {} }: Described): ErrorCodes {
  const merged: ErrorCodes = {
    401: ['UNAUTHORIZED'],
    403: ['FORBIDDEN'],
    429: ['RATE_LIMITED', 'LIMIT_EXCEEDED'],
    500: ['INTERNAL_ERROR'],
    503: ['UNAVAILABLE'],
  };
  const add = (status: number, ...codes: string[]) => {
    merged[status] = [...new Set([...(merged[status] ?? []), ...codes])];
  };
  if (method !== 'get') add(403, 'ORGANIZATION_SUSPENDED');
  if (query) add(400, 'VALIDATION_ERROR');
  if (body) {
    add(400, 'VALIDATION_ERROR', 'INVALID_JSON');
    add(408, 'REQUEST_TIMEOUT');
    add(413, 'PAYLOAD_TOO_LARGE');
    add(415, 'UNSUPPORTED_MEDIA_TYPE');
  }
  if (isRepeatable({ method })) {
    add(400, 'VALIDATION_ERROR', 'INVALID_JSON');
    add(408, 'REQUEST_TIMEOUT');
    add(409, 'IDEMPOTENCY_KEY_IN_USE', 'IDEMPOTENCY_ANSWER_LOST');
    add(413, 'PAYLOAD_TOO_LARGE');
    add(415, 'UNSUPPORTED_MEDIA_TYPE');
    add(422, 'IDEMPOTENCY_KEY_REUSED');
  }
  if (isConditional({ method, versioned })) add(412, 'PRECONDITION_FAILED');
  if (path.includes('{')) add(404, 'RESOURCE_NOT_FOUND');
  for (const [status, codes] of Object.entries(errors)) if (codes) add(Number(status), ...codes);
  return merged;
}
