// An operation of the API is one definition: its input, its answers and its handler. The routers and the API's
// description are made of the same lists (operations.ts).
import { z } from 'zod';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { isSingleScope, type Resource, type SingleScope } from '../../core/config/plans-and-scopes.ts';
import type { IdPrefix } from '../../core/text/ids.ts';
import type { ApiRouter, AppContext, Context, Next } from './context.ts';
import { ApiError, missing } from './errors.ts';
import { check, parseQuery, readJson } from './validation.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The codes of each status; `NO_CODE` for an error without one. */
export type ErrorCodes = Partial<Record<number, string[]>>;

/** Stands for an error for which the contract names no code. */
export const NO_CODE = '';

/**
 * One method of one path, with its handler, which returns the body of the answer; undefined: it has none, or is in
 * `ctx` already.
 */
export interface Operation extends Described {
  run: (ctx: Context) => unknown;
}

/** What the `{id}` of a path may name. */
export interface RecordKind<Found> {
  /** Of the ids; a record with another one is not found. */
  prefixes: readonly IdPrefix[];
  /** @throws ApiError 404 */
  ofPath: (ctx: Context) => Promise<Found>;
}

type Definition<Query extends z.ZodObject, Body extends z.ZodType, Found> = Omit<
  Described,
  'operationId' | 'method' | 'path' | 'query' | 'body'
> & {
  query?: Query;
  body?: RequestBody<Body>;
  /** The kind of record that the operation is about: it is found before `run`, and after the rest of the request. */
  of?: RecordKind<Found>;
  run: (ctx: Context, input: { query: z.output<Query>; body: z.output<Body>; record: Found }) => unknown;
};

export function operation<Query extends z.ZodObject, Body extends z.ZodType, Found>(
  operationId: string,
  method: Method,
  path: string,
  { run, of, ...described }: Definition<Query, Body, Found>,
): Operation {
  const { query, body } = described;
  return {
    ...described,
    ...(of && { idOf: of.prefixes }),
    ...{ operationId, method, path },
    async run(ctx) {
      if (body?.selects) parseQuery(ctx, z.strictObject({}));
      return run(ctx, {
        query: (query && parseQuery(ctx, query)) as z.output<Query>,
        body: (body && check(body.schema, (await readJson(ctx)) ?? (body.optional && {}))) as z.output<Body>,
        record: (await of?.ofPath(ctx)) as Found,
      });
    },
  };
}

export interface Described {
  method: Method;
  /** With its parameters in braces: `/api/routes/{id}`. */
  path: string;
  operationId: string;
  tag: Tag;
  /** The scope that a key needs, where it is not that of the tag's records and the method; null: every key may. */
  scope?: SingleScope | null;
  /** A second scope that its handler requires. */
  alsoScope?: SingleScope;
  /** Whether it only computes: nothing is stored, sent or recorded in the audit log. */
  changesNothing?: true;
  summary: string;
  description?: string;
  idOf?: readonly string[];
  query?: z.ZodObject;
  body?: RequestBody;
  answer: Answer;
  /**
   * Whether it is about one record that has a version: answers carry its `ETag`, changes take `If-Match`
   * (api/resources/records.ts).
   */
  versioned?: true;
  /** Whether it takes a body of any type. */
  takesAnything?: true;
  errors?: ErrorCodes;
  /** Who may call it, and so which shared errors it has: keys of organizations (default), everyone, or the operator. */
  family?: 'management' | 'public' | 'operator';
}

export interface RequestBody<Schema extends z.ZodType = z.ZodType> {
  schema: Schema;
  /** Keyed by a name that says what it shows; each is valid. */
  examples: Record<string, unknown>;
  /** Whether the request may go without a body, which counts as `{}`. */
  optional?: true;
  /**
   * Whether it selects the records that the request acts on. Its schema is strict, and a query is refused too: with a
   * misspelt name, or a filter in the wrong place, it would act on more records than intended.
   */
  selects?: true;
}

interface Answer {
  /** 200 by default. */
  status?: 201 | 204;
  description: string;
  /** What a 201 with the same body says: the record was made. */
  ofNew?: string;
  schema?: z.ZodType;
  content?: ZodOpenApiResponseObject['content'];
  headers?: Record<string, z.ZodType>;
  /** Operations that accept the id in this answer as their `{id}` (OpenAPI links). */
  leadsTo?: string[];
  /** Whether it supports conditional requests (304). */
  mayBeKnown?: true;
}

interface TagOf {
  about: string;
  /** The records that its operations are about, as scopes name them; null for paths without credentials. */
  records: Resource | null;
}

/** The tags in the order of the page. */
export const TAGS = {
  Ingest: { about: 'The ingest URLs that senders post webhooks to.', records: null },
  Sources: { about: 'Each source receives webhooks at its ingest URL.', records: 'sources' },
  Destinations: { about: 'Where events are delivered: HTTP endpoints and warehouses.', records: 'destinations' },
  'Organization destinations': {
    about: 'HTTP destinations, with the same fields as in Destinations, at paths with the organization ID.',
    records: 'destinations',
  },
  Routes: { about: 'Routes connect a source to destinations.', records: 'routes' },
  Filters: { about: 'Conditions that routes can share.', records: 'filters' },
  Transforms: { about: 'Code that turns an event into the body that is sent.', records: 'transforms' },
  Schemas: { about: "JSON Schemas that a route's payloads must match.", records: 'schemas' },
  Events: { about: 'Accepted webhooks and their replays.', records: 'events' },
  Deliveries: { about: 'Deliveries of events to destinations.', records: 'deliveries' },
  Issues: { about: 'Failures, with their cause, start time and number of occurrences.', records: 'issues' },
  Metrics: { about: "Time series of the organization's traffic.", records: 'deliveries' },
  Alerts: { about: 'Channels for messages about issues.', records: 'alerts' },
  Usage: { about: "The organization's usage and limits.", records: 'organization' },
  Access: { about: 'API keys and the current organization.', records: 'keys' },
  Audit: { about: 'The audit log of changes and of reads of payloads and secrets.', records: 'audit' },
  Service: { about: 'Health checks and the API description.', records: null },
} as const satisfies Record<string, TagOf>;
export type Tag = keyof typeof TAGS;

/**
 * The scope that a key needs for an operation; null when every key may, or none is needed.
 * @throws Error for an operation of which no scope can be derived: it must name one
 */
export function scopeOf({ operationId, method, tag, scope, family }: Described): SingleScope | null {
  if (scope !== undefined || family === 'public' || family === 'operator') return scope ?? null;
  const derived = `${TAGS[tag].records}:${method === 'get' ? 'read' : 'write'}`;
  if (!isSingleScope(derived))
    throw new Error(`The operation ${operationId} requires the scope "${derived}", which does not exist`);
  return derived;
}

/** Whether an operation of the management API takes an `Idempotency-Key` (idempotency.ts). */
export function isRepeatable({ method, family = 'management' }: Pick<Described, 'method' | 'family'>): boolean {
  return method === 'post' && family === 'management';
}

export function isConditional({ method, versioned }: Pick<Described, 'method' | 'versioned'>): boolean {
  return versioned === true && method !== 'get' && method !== 'post';
}

export type Around = (ctx: Context, next: Next) => Promise<void>;

/** Mounts operations of the management API. @param around makes the middleware of one, the outermost first */
export function mountOperations(
  router: ApiRouter,
  operations: readonly Operation[],
  around: (operation: Operation) => Around[],
): void {
  // The router takes the first path that matches. A brace sorts after every letter, so fixed words ("bulk", "export")
  // come before `{id}`.
  const mounted = operations.flatMap((operation) => {
    const short = shortPath(operation.path);
    return [{ operation, path: operation.path }, ...(short === null ? [] : [{ operation, path: short }])];
  });
  for (const { operation, path } of mounted.toSorted(
    (one, other) => Number(one.path > other.path) - Number(one.path < other.path),
  )) {
    router[operation.method](path.replace(/\{(\w+)\}/g, ':$1'), ...around(operation), async (ctx) => {
      const answer = await operation.run(ctx);
      if (operation.answer.status) ctx.status = operation.answer.status;
      if (answer !== undefined) ctx.body = answer;
    });
  }
}

/**
 * The path of sources and events without their organization, which the key names anyway. It is not in the description:
 * it would double what generators make. @returns null for all others
 */
export function shortPath(path: string): string | null {
  const [, rest] = /^\/api\/organizations\/[^/]+\/((?:sources|events)(?:\/.*)?)$/.exec(path) ?? [];
  return rest === undefined ? null : `/api/${rest}`;
}

/**
 * Middleware, the last one: OPTIONS lists the methods of a path (RFC 9110, section 9.3.7), without credentials because
 * they are public documentation; 405 for another method of such a path, else 404.
 */
export function answerUnmatched(routers: ApiRouter[]): (ctx: AppContext) => void {
  return (ctx) => {
    const layers = routers.flatMap((router) => router.match(ctx.path, ctx.method).path);
    const methods = layers.flatMap((layer) => layer.methods);
    if (methods.length === 0) throw missing(`No such endpoint: ${ctx.path}; /docs lists all endpoints`);
    answerMethods(ctx, methods);
  };
}

/**
 * Middleware before a router: a fixed word in the place of an id ("bulk", "export") has only its own methods. The
 * router alone would treat the word as an id for the other methods (OpenAPI 3.1, "Path Templating Matching").
 */
export function keepFixedWords(router: ApiRouter): (ctx: AppContext, next: Next) => Promise<void> {
  const routes = router.stack.filter(({ methods }) => methods.length > 0);
  const fixed = routes
    .filter(({ path }) => !String(path).split('/').at(-1)?.startsWith(':'))
    .map(({ path, regexp }) => ({
      regexp,
      methods: routes.filter((other) => other.path === path).flatMap((other) => other.methods),
      others: routes.filter((other) => other.path !== path && other.regexp.test(String(path).replace(/:\w+/g, 'x'))),
    }))
    .filter(({ others }) => others.length > 0);
  return async (ctx, next) => {
    const word = fixed.find(({ regexp }) => regexp.test(ctx.path));
    if (!word || word.methods.includes(ctx.method)) return next();
    answerMethods(ctx, word.methods);
  };
}

function answerMethods(ctx: AppContext, methods: string[]): void {
  const allow = [...new Set([...methods, 'OPTIONS'])].toSorted().join(', ');
  if (ctx.method !== 'OPTIONS')
    throw new ApiError(405, 'METHOD_NOT_ALLOWED', `${ctx.path} accepts only ${allow}`, undefined, { Allow: allow });
  ctx.status = 204;
  ctx.set('Allow', allow);
}
