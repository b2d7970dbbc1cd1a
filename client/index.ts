// The client of the management API: a method per operation of docs/openapi.json, typed by it. Needs nothing but fetch.
// What api.ts has is made by npm run prepare.
import { type CursorPagination, cursorLists, type Operations, operations, type Pagination, streams } from './api.ts';
import { type CallOptions, type ClientOptions, type Settings, send } from './http.ts';
import { follow, type Streamed, type StreamOptions } from './stream.ts';

export type * from './api.ts';
export { operations } from './api.ts';
export { type Detail, HookyardError } from './errors.ts';
export type { CallOptions, ClientOptions, RawAnswer } from './http.ts';
export type { Ignored, IgnoredName } from './errors.ts';
export type { Streamed, StreamOptions } from './stream.ts';
export { type VerifiedWebhook, verifyWebhook, WebhookVerificationError } from './webhooks.ts';

type Page<Item> = { data: Item[]; pagination: Pagination };
type Part = { data: unknown[]; pagination: CursorPagination };
/** The operations that return a page of a list. */
export type ListName = {
  [Name in keyof Operations]: Awaited<ReturnType<Operations[Name]>> extends Page<unknown> ? Name : never;
}[keyof Operations];
type Input<Name extends keyof Operations> = Parameters<Operations[Name]>[0];
type Item<Name extends ListName> = Awaited<ReturnType<Operations[Name]>>['data'][number];

/** A method for each operation, and `each` for the items of all pages of a list. */
export interface Client extends Operations {
  /**
   * All items of a list, newest first. Each page is requested when it is needed. Lists that support cursors use them,
   * so that new items do not shift the pages. Other lists use page numbers: records that are created or deleted in the
   * meantime shift the pages, but no item is returned twice.
   * @param input the filters of the operation; `page` is where to begin, by page then; `pageSize` defaults to 100
   */
  each<Name extends ListName>(name: Name, input?: Input<Name>, options?: CallOptions): AsyncGenerator<Item<Name>, void>;
}

/**
 * Creates a client. Nothing is sent until you call a method. Methods throw HookyardError.
 * @throws TypeError if the URL is not valid
 */
export function createClient(options: ClientOptions): Client {
  // Programs in JavaScript also say null for what they leave out.
  const given = Object.entries(options).filter(([, value]) => value !== undefined && value !== null);
  const settings: Settings = {
    timeoutMs: 30_000,
    maxRetries: 4,
    maxWaitMs: 60_000,
    fetch: (...args) => fetch(...args),
    parseJson: (text) => JSON.parse(text),
    ...Object.fromEntries(given),
    url: baseOf(options.url),
  };
  let organization: Promise<string> | undefined;
  /** The organization of the key, asked for once; a failed question is asked again. */
  function organizationId(callOptions?: CallOptions): Promise<string> {
    organization ??= client.getCaller({}, callOptions).then(({ organization: { id } }) => id);
    organization.catch(() => {
      organization = undefined;
    });
    return organization;
  }

  async function requestOf(name: keyof Operations, input: Record<string, unknown> = {}, callOptions?: CallOptions) {
    const { body, ...parameters } = input;
    const [method = '', template = ''] = operations[name].split(' ');
    if (template.includes('{orgId}')) parameters.orgId ??= await organizationId(callOptions);
    return { method, path: pathOf(template, parameters), body };
  }

  async function call(name: keyof Operations, input?: Record<string, unknown>, callOptions?: CallOptions) {
    return send(settings, await requestOf(name, input, callOptions), callOptions);
  }

  async function* stream(
    name: keyof Operations,
    input?: Record<string, unknown>,
    options?: StreamOptions,
  ): AsyncGenerator<Streamed, void> {
    const { path } = await requestOf(name, input, options);
    yield* follow(settings, path, options);
  }

  const methods = (Object.keys(operations) as (keyof Operations)[]).map((name) => {
    const run = streams.has(name) ? stream : call;
    return [name, (input?: Record<string, unknown>, options?: CallOptions) => run(name, input, options)];
  });
  const client = { ...Object.fromEntries(methods), each } as Client;
  async function* each(name: ListName, input: object = {}, callOptions?: CallOptions): AsyncGenerator<never, void> {
    const filters = { pageSize: 100, ...input } as Record<string, unknown>;
    const ask: Ask = (at) => call(name, { ...filters, ...at }, callOptions);
    if (cursorLists.has(name) && filters.page === undefined) yield* eachByCursor(ask);
    else yield* eachByPage(ask, Number(filters.page ?? 1));
  }
  return client;
}

type Ask = (at: { cursor: string } | { page: number }) => Promise<unknown>;

async function* eachByCursor(ask: Ask): AsyncGenerator<never, void> {
  for (let cursor: string | null = 'first'; cursor !== null; ) {
    const { data, pagination } = (await ask({ cursor })) as Part;
    for (const item of data) yield item as never;
    cursor = pagination.nextCursor;
  }
}

async function* eachByPage(ask: Ask, first: number): AsyncGenerator<never, void> {
  let before = new Set<unknown>();
  for (let page = first; ; page++) {
    const { data, pagination } = (await ask({ page })) as Page<{ id?: string }>;
    for (const item of data) if (!before.has(identityOf(item))) yield item as never;
    if (data.length === 0 || page * pagination.pageSize >= pagination.total) return;
    before = new Set(data.map(identityOf));
  }
}

/** Not all items have an id. */
const identityOf = (item: { id?: string }): string => item.id ?? JSON.stringify(item);

function baseOf(url: string): string {
  const { protocol, origin, pathname } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new TypeError(`"${url}" must start with http:// or https://`);
  return origin + pathname.replace(/\/+$/, '');
}

/**
 * Fills the path; what is left of the parameters is the query.
 * @throws TypeError when the path needs one that is not given
 */
function pathOf(template: string, parameters: Record<string, unknown>): string {
  const rest = new Map(Object.entries(parameters));
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest.get(name);
    if (typeof value !== 'string' || value === '') throw new TypeError(`${name} must be a non-empty string`);
    rest.delete(name);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams();
  for (const [name, value] of rest) if (value !== undefined && value !== null) query.set(name, String(value));
  return query.size === 0 ? path : `${path}?${query}`;
}
