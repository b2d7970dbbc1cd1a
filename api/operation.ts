// An operation of the API is one definition: its input, its answers and its handler. The routers and the API's description are
// made of the same lists (operations.ts).
import type { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import type { ApiDeps, ApiRouter, Context } from './context.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The codes of each status; `NO_CODE` for an error without one. */
export type ErrorCodes = Partial<Record<number, string[]>>;

/** Stands for an error for which the contract names no code. */
export const NO_CODE = '';

/** One method of one path, with its handler. */
export interface Operation extends Described {
  run: (ctx: Context, deps: ApiDeps) => void | Promise<void>;
}

/** The description of one method of one path. */
export interface Described {
  method: Method;
  /** With its parameters in braces: `/api/routes/{id}`. */
  path: string;
  operationId: string;
  tag: Tag;
  summary: string;
  description?: string;
  /** Prefix of the ids that the path's `{id}` takes. */
  idOf?: readonly string[];
  /** The schema by which the handler checks the query. */
  query?: z.ZodObject;
  body?: RequestBody;
  answer: Answer;
  /** Whether it takes a body of any type. */
  takesAnything?: true;
  /** Its own errors; the shared ones are added. */
  errors?: ErrorCodes;
  /** Which shared errors it has: those of the management API (default), or none. */
  family?: 'management' | 'public';
}

export interface RequestBody {
  /** The schema by which the handler checks the body. */
  schema: z.ZodType;
  /** Keyed by a name that says what it shows; each is valid. */
  examples: Record<string, unknown>;
  /** Whether the request may go without a body. */
  optional?: true;
}

export interface Answer {
  status: 200 | 201 | 204;
  description: string;
  /** Of a JSON answer; other answers set `content`. */
  schema?: z.ZodType;
  content?: ZodOpenApiResponseObject['content'];
  headers?: Record<string, z.ZodType>;
  /** Operations that accept the id in this answer as their `{id}` (OpenAPI links). */
  leadsTo?: string[];
  /** Whether it supports conditional requests (304). */
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
  Usage: 'What the organization uses, and what it may.',
  Access: 'API keys, and whom a key belongs to.',
  Service: 'Whether the service is well, and this description.',
} as const;
export type Tag = keyof typeof TAGS;

/** Mounts operations of the management API, each on its path. */
export function mountOperations(router: ApiRouter, operations: readonly Operation[], deps: ApiDeps): void {
  // The router takes the first path that matches. A brace sorts after every letter, so fixed words ("bulk", "export") come before
  // `{id}`.
  for (const { method, path, run } of operations.toSorted(
    (one, other) => Number(one.path > other.path) - Number(one.path < other.path),
  )) {
    router[method](path.replace(/\{(\w+)\}/g, ':$1'), (ctx) => run(ctx, deps));
  }
}
