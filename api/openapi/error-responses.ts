// Errors as the API answers them, for its description: which codes come with which status.
import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { LIMIT_NAMES } from '../../core/fairness/limits.ts';
import { type Described, type ErrorCodes, isConditional, isRepeatable, NO_CODE } from '../request/operation.ts';
import { component, exampleId, text, withExample } from '../resources/values.ts';

export const requestId = text(
  exampleId('req'),
  'The id under which the log knows the request: the one it came with, or a new one.',
).meta({ header: { id: 'RequestId' } });

export const ignoredNames = z
  .string()
  .optional()
  .meta({
    description:
      'Which query parameters and members of the body were ignored because nothing of their name is known here, as a list of ' +
      'RFC 9651: the dotted name, `in` which it was, and the known name that is `nearest`, if any. Names are percent-encoded ' +
      'where they are not plain ASCII. At most 8 are named; `more;count=` is how many others there were.',
    examples: ['"destnationId";in=query;nearest="destinationId"'],
    header: { id: 'Ignored' },
  });

const DESCRIPTIONS: Record<number, string> = {
  400: 'The request is not as it must be; `message` names the first offending member, `details` all of them.',
  401: 'The credentials are missing, unknown, expired or revoked.',
  403: 'The key or the plan of the organization does not allow this, or the organization is suspended.',
  404: 'There is no such record in this organization.',
  408: 'The body did not arrive in time.',
  409: 'It is in conflict with what there is.',
  410: 'The payload was removed by the retention policy.',
  412: 'The record is at another version than `If-Match` names; nothing was changed.',
  413: 'The body is too large.',
  415: 'The body is not sent as plain `application/json`.',
  422: 'The `Idempotency-Key` was used with another body in the last 24 hours.',
  429: 'A limit of the organization, which `limit` names; too many requests of this key in this minute (`HOOKYARD_API_RATE_LIMIT_PER_MINUTE`); or too many with wrong credentials from this address.',
  500: 'A fault of the service; its log has the details under the request id.',
  503: 'Something that this request needs is away or overloaded; try again.',
  508: 'The webhook has been through too many Hookyards; nothing was stored.',
};

const seconds = z.string().regex(/^\d+$/);
const retryAfter = seconds.meta({
  description: 'Seconds.',
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
      .meta({ description: 'On the management API.', header: { id: 'WwwAuthenticate' } }),
  },
  503: { 'Retry-After': retryAfter },
  429: {
    'Retry-After': retryAfter,
    'X-RateLimit-Limit': number('Requests a minute.', 'RateLimitLimit').optional(),
    'X-RateLimit-Remaining': number('What is left of them.', 'RateLimitRemaining').optional(),
    'X-RateLimit-Reset': number('When the minute ends, in seconds since 1970.', 'RateLimitReset').optional(),
  },
};

const detail = component('ErrorDetail', {
  path: withExample(z.string(), 'retryPolicy.maxRetries', 'Dotted; empty for the whole.'),
  message: withExample(z.string(), 'must be at most 50'),
  line: withExample(z.int().optional(), 1, 'In a member that is code, from 1 on.'),
  column: withExample(z.int().optional(), 5),
});

const limitName = z
  .enum(LIMIT_NAMES)
  .meta({ id: 'LimitName', description: 'A limit of the organization.', examples: ['eventsPerSecond'] });

/** The body of every error: one schema, so that programs have one type for it. */
const errorBody = component(
  'Error',
  {
    error: withExample(z.string(), 'Bad Request', 'The name of the status.'),
    message: withExample(z.string(), 'name is required and must be a string', 'What is wrong and what to do.'),
    code: withExample(
      z.string().optional(),
      'VALIDATION_ERROR',
      'Stable, for programs. Each answer of an operation says which ones it has; more may be added.',
    ),
    details: z.array(detail).optional().describe('Of a 400: what is wrong with single members.'),
    limit: limitName.optional(),
  },
  'Every error is like this.',
);

/** @param codes without NO_CODE */
function exampleError(status: number, codes: string[]): unknown {
  return {
    error: STATUS_CODES[status] ?? 'Error',
    message: exampleMessage(status),
    ...(codes[0] !== undefined && { code: codes[0] }),
  };
}

function exampleMessage(status: number): string {
  const messages: Record<number, string> = {
    400: 'name is required and must be a string',
    401: 'Missing or invalid credentials',
    404: 'There is no route with id rte_06f3k2v8q0e7x1c5b9m4n6p8qr in this organization; look for it in the list',
  };
  return messages[status] ?? DESCRIPTIONS[status] ?? 'It does not work';
}

// Each answer is written once, as a component.
const shared = new Map<string, ZodOpenApiResponseObject>();

/** The error answers of an operation, in the form that the library takes. */
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
  const tells = DESCRIPTIONS[status] ?? 'An error.';
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

// Codes that come together, and what they are called: what a body may be answered, what a query may be, what a repeated POST may be.
const TOGETHER: [codes: string[], word: string][] = [
  [['INVALID_JSON', 'VALIDATION_ERROR'], 'InvalidBody'],
  [['VALIDATION_ERROR'], 'InvalidQuery'],
  [['IDEMPOTENCY_ANSWER_LOST', 'IDEMPOTENCY_KEY_IN_USE'], 'RepeatRefused'],
  [['LIMIT_EXCEEDED', 'RATE_LIMITED'], 'TooManyRequests'],
  [['FORBIDDEN', 'ORGANIZATION_SUSPENDED'], 'ForbiddenOrSuspended'],
  [['RESOURCE_NOT_FOUND'], 'NotFound'],
];

/** The name of the answer with these codes, in words: `DuplicateSlugOrRepeatRefused`. */
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
