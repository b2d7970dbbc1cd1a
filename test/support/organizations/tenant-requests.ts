// Requests of one organization that name records of another: made of the API's description, so that a new operation,
// parameter or member that takes an id cannot be forgotten. One that this file does not know how to fill is an error.
import { apiDocument } from '../../../api/openapi/document.ts';
import { targets } from '../requests/right-bodies.ts';
import type { TenantRecords } from './tenant-records.ts';

/** What a member or parameter refers to, by its name, or by path and name; `id` and `ids` depend on the path. */
const REFERS_TO: Record<string, keyof TenantRecords> = {
  orgId: 'organization',
  sourceId: 'source',
  sourceIds: 'source',
  destinationId: 'destination',
  destinationIds: 'destination',
  failoverDestinationIds: 'failover',
  routeId: 'route',
  routeIds: 'route',
  keyId: 'apiKey',
  recordId: 'source',
  eventId: 'event',
  key: 'orderKey',
  eventIds: 'event',
  filterId: 'filter',
  transformId: 'transform',
  schemaId: 'schema',
  orgSlug: 'organizationSlug',
  sourceSlug: 'sourceSlug',
  token: 'ingestToken',
  destinationSlug: 'destinationSlug',
  destinationSlugs: 'destinationSlug',
  failoverDestinationSlugs: 'failoverSlug',
  filterSlug: 'filterSlug',
  transformSlug: 'transformSlug',
  schemaSlug: 'schemaSlug',
};
/** What `id`, `ids` and `bulk` are of, by the word before them in the path. */
export const OF_PATH: Record<string, keyof TenantRecords> = {
  sources: 'source',
  destinations: 'destination',
  routes: 'route',
  events: 'event',
  replays: 'replay',
  deliveries: 'delivery',
  issues: 'issue',
  'api-keys': 'apiKey',
  'alert-channels': 'alertChannel',
  filters: 'filter',
  transforms: 'transform',
  schemas: 'schema',
};

export interface TenantRequest {
  /** Where the other organization's record is named. */
  where: string;
  kind: 'path' | 'query' | 'body' | 'own';
  path: string;
  body: unknown;
  /** The texts of the other organization that the request itself holds. */
  named: string[];
}

export interface Operation {
  method: string;
  /** As described, `/api/routes/{id}`. */
  path: string;
  /** @param own ids of the caller. @param other ids of the other organization */
  requests(own: TenantRecords, other: TenantRecords): TenantRequest[];
  /**
   * The same bodies with nothing but the caller's own ids, which must be taken: so that the others are refused for
   * theirs.
   */
  controls(own: TenantRecords): TenantRequest[];
}

interface Schema {
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  $ref?: string;
}
interface Described {
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}
type Filled = Record<string, unknown>;

const document = apiDocument() as unknown as {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
};
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Every operation of the description. */
export function operations(): Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => method in item).map((method) => operationOf(method.toUpperCase(), path, item[method])),
  );
}

function operationOf(method: string, path: string, described: Described = {}): Operation {
  return {
    method,
    path,
    controls: (own) => bodyRequests(path, described, bodyOf(method, path, described, own), own, own),
    requests(own, other) {
      const body = bodyOf(method, path, described, own);
      return [
        ...pathRequests(path, body, own, other),
        ...queryRequests(path, described, body, own, other),
        ...bodyRequests(path, described, body, own, other),
        // Nothing of another organization is named, and nothing of it is to be seen.
        ...(method === 'GET'
          ? [{ where: 'nowhere', kind: 'own' as const, path: fill(path, own), body, named: [] }]
          : []),
      ];
    },
  };
}

// Names at a cloud, not in Hookyard.
const ELSEWHERE = ['accessKeyId', 'accountId', 'projectId', 'kmsKeyId'];

// What senders or schemas call so, which names no record.
const CONTENT = ['payload', 'schema'];

const isReference = (name: string): boolean => /(?:^id|Id|Slug)s?$/.test(name) && !ELSEWHERE.includes(name);

function referenceOf(name: string, path: string): keyof TenantRecords {
  const before = { id: '{id}', ids: '(?:bulk|export)' }[name] ?? '$^';
  const word = new RegExp(`/([a-z-]+)/${before.replaceAll(/[{}]/g, '\\$&')}`).exec(path)?.[1] ?? '';
  const kind = OF_PATH[word] ?? REFERS_TO[`${path} ${name}`] ?? REFERS_TO[name];
  if (kind === undefined) throw new Error(`${path}: the test of tenants must be told what "${name}" refers to`);
  return kind;
}

// What a record is to be called: each organization has names of its own (test/api/by-slug.test.ts).
const DECLARED = 'declared';
const isOwnName = (name: string): boolean => name === 'slug' || name === 'name';

function fill(path: string, own: TenantRecords, others: Partial<Record<string, string>> = {}): string {
  return path.replaceAll(
    /\{(\w+)\}/g,
    (_all, name: string) => others[name] ?? (isOwnName(name) ? DECLARED : (own[referenceOf(name, path)][0] ?? '')),
  );
}

/** Each parameter with each of the other's ids, the others being the caller's own; and all of them at once. */
function pathRequests(path: string, body: unknown, own: TenantRecords, other: TenantRecords): TenantRequest[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name).filter((name) => !isOwnName(name));
  const requests = names.flatMap((name) =>
    other[referenceOf(name, path)].map((value) => ({
      ...{ where: `{${name}}`, kind: 'path' as const, body, named: [value] },
      path: fill(path, own, { [name]: value }),
    })),
  );
  // Anyone who knows the address of a source may send to it.
  if (names.length < 2 || path.startsWith('/ingest/')) return requests;
  const all = Object.fromEntries(names.map((name) => [name, other[referenceOf(name, path)][0] ?? '']));
  return [
    ...requests,
    { where: 'all of the path', kind: 'path', path: fill(path, own, all), body, named: Object.values(all) },
  ];
}

function queryRequests(
  path: string,
  { parameters = [] }: Described,
  body: unknown,
  own: TenantRecords,
  other: TenantRecords,
): TenantRequest[] {
  return parameters
    .filter((parameter) => parameter.in === 'query')
    .flatMap(({ name }) => {
      const values = name === 'search' ? other.words : isReference(name) ? other[referenceOf(name, path)] : [];
      return values.map((value) => ({
        ...{ where: `?${name}`, kind: 'query' as const, body, named: [value] },
        path: `${fill(path, own)}?${name}=${encodeURIComponent(value)}`,
      }));
    });
}

function bodyRequests(
  path: string,
  { requestBody }: Described,
  body: unknown,
  own: TenantRecords,
  other: TenantRecords,
): TenantRequest[] {
  const schema = requestBody?.content['application/json']?.schema;
  if (!schema) return [];
  return referencesIn(schema).flatMap((at) => {
    const name = at.at(-1) ?? '';
    return other[referenceOf(name, path)].map((value) => ({
      ...{ where: at.join('.'), kind: 'body' as const, path: fill(path, own), named: [value] },
      body: withMember(body, at, name.endsWith('s') ? [value] : value),
    }));
  });
}

/** Where a body has members that refer to records; `[]` stands for the items of a list. */
function referencesIn(schema: Schema, at: string[] = []): string[][] {
  const alternatives = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  if (schema.$ref) alternatives.push(document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  const found = [
    ...alternatives.flatMap((alternative) => referencesIn(alternative, at)),
    ...(schema.items && at.length < 4 ? referencesIn(schema.items, [...at, '[]']) : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
      isReference(name) ? [[...at, name]] : referencesIn(member, [...at, name]),
    ),
  ];
  return [...new Map(found.map((each) => [each.join('.'), each])).values()];
}

function withMember(body: unknown, [name = '', ...rest]: string[], value: unknown): unknown {
  if (name === '[]') return (body as unknown[]).map((item) => withMember(item, rest, value));
  const members = { ...(body as Filled) };
  // A route has conditions or a filter, and is to one destination or to several.
  if (name.startsWith('filter')) delete members.filterConditions;
  if (name === 'destinationSlugs') delete members.destinationSlug;
  if (name === 'destinationSlug') delete members.destinationSlugs;
  return { ...members, [name]: rest.length === 0 ? value : withMember(members[name], rest, value) };
}

/** A body that would do what the operation is for, with the caller's own records in it. */
function bodyOf(method: string, path: string, { requestBody }: Described, own: TenantRecords): unknown {
  if (path.startsWith('/ingest/')) return {};
  const endpoint = path.replaceAll(/\{(\w+)\}/g, ':$1');
  const body = targets.find((target) => target.method === method && target.path === endpoint)?.body ?? undefined;
  if (requestBody && !body)
    throw new Error(`${method} ${path}: test/support/requests/right-bodies.ts must have a right body`);
  if (path.endsWith('/events/replay'))
    return { sourceId: own.source[0], destinationIds: [own.destination[0]], dryRun: true };
  const named = [...path.matchAll(/\{(\w+)\}/g)].flatMap(([, name = '']) =>
    isOwnName(name) && body && name in (body as Filled) ? [[name, DECLARED]] : [],
  );
  return body && { ...(withOwn(body, path, own) as Filled), ...Object.fromEntries(named) };
}

function withOwn(value: unknown, path: string, own: TenantRecords): unknown {
  if (Array.isArray(value)) return value.map((item) => withOwn(item, path, own));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (CONTENT.includes(name)) return [name, member];
      if (!isReference(name)) return [name, withOwn(member, path, own)];
      // A route to the first destination is there already.
      const id = own[referenceOf(name, path)].at(path.startsWith('/api/routes') ? -1 : 0);
      return [name, Array.isArray(member) ? [id] : id];
    }),
  );
}
