// An operation of the API is one definition: what it takes and answers, and the handler that does it. The routers and the API's
// description are made of the same lists (operations.ts).
import type { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import type { ApiDeps, ApiRouter, Context } from './context.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The codes of each status; `NO_CODE` for an error without one. */
export type ErrorCodes = Partial<Record<number, string[]>>;

/** Stands for an error without a code: the interface names none for it. */
export const NO_CODE = '';

/** One method of one path, and what does it. */
export interface Operation extends Described {
  run: (ctx: Context, deps: ApiDeps) => void | Promise<void>;
}

/** What is said of one method of one path. */
export interface Described {
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

/** Mounts operations of the management API, each on its path. */
export function mountOperations(router: ApiRouter, operations: readonly Operation[], deps: ApiDeps): void {
  // The router takes the first path that fits. A brace sorts after every letter, so that fixed words ("bulk", "export") come before
  // the ids that could stand in their place.
  for (const { method, path, run } of operations.toSorted(
    (one, other) => Number(one.path > other.path) - Number(one.path < other.path),
  )) {
    router[method](path.replace(/\{(\w+)\}/g, ':$1'), (ctx) => run(ctx, deps));
  }
}
