// hookyard import --from: the lists that the APIs of other products answer, as sources, destinations and routes of our
// own import files. The shapes are those of their OpenAPI descriptions in August 2026.
import { nextFreeSlug, slugify } from '../core/text/slugs.ts';

type Item = Record<string, unknown>;
type Filter = Record<string, unknown>;

/** What one entry of a list leads to. */
interface Link {
  /** Where its events come from; undefined: the source of the whole file. */
  source?: { name: string; item?: Item };
  destination: { id: string; name: string; item: Item };
  routeName?: string | null;
  isActive: boolean;
  /** Types of events; null and `*`: all. */
  types?: string[] | null;
  /** By the part of an event, such as `payload`. */
  filters?: Record<string, unknown>;
  /** Changes what is delivered, and has no counterpart: the route is imported disabled. */
  lost?: string[];
  /** Has no counterpart otherwise. */
  left?: (string | false | null | undefined)[];
}
/** An entry that is not imported at all. */
interface Skipped {
  skipped: string;
}

export interface Converted {
  sources: Item[];
  destinations: Item[];
  routes: Item[];
  /** What has no counterpart, by name. */
  left: string[];
}
export interface FromOptions {
  /** The slug of the source of entries that name none. */
  source: string;
  /** The field of an event that holds its type. */
  eventType: string;
}

const DAY_MS = 86_400_000;
const MAX_RETRIES = 50;
// 24 to 64 bytes, as Standard Webhooks has them.
const SIGNING_SECRET = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/;
const OPERATORS: Record<string, string> = {
  ...{ $eq: 'equals', $neq: 'not_equals', $gt: 'gt', $gte: 'gte', $lt: 'lt', $lte: 'lte', $in: 'in', $nin: 'not_in' },
  ...{ $startsWith: 'starts_with', $endsWith: 'ends_with', $regex: 'matches' },
};

const LINKS: Record<string, (list: unknown) => (Link | Skipped)[]> = {
  convoy: (list) => pick<ConvoySubscription>(list, 'data.content').map(ofConvoy),
  hookdeck: (list) => pick<HookdeckConnection>(list, 'models').map(ofHookdeck),
  outpost: (list) => pick<OutpostDestination>(list, '').map(ofOutpost),
  svix: (list) => pick<SvixEndpoint>(list, 'data').map(ofSvix),
};
export const PRODUCTS = Object.keys(LINKS);

/** @throws TypeError when the list does not have the shape that the product's API answers */
export function convert(product: string, list: unknown, { source, eventType }: FromOptions): Converted {
  const slugs = new Map<string, string>();
  const sources = new Map<string, Item>();
  const destinations = new Map<string, Item>();
  const routes: Item[] = [];
  const left = new Set<string>();
  for (const link of LINKS[product]?.(list) ?? []) {
    if ('skipped' in link) {
      left.add(link.skipped);
      continue;
    }
    const { name: sourceName, item: sourceItem } = link.source ?? { name: source };
    const sourceSlug = slugOf('source', sourceName, sourceName);
    sources.set(sourceSlug, { name: sourceName, slug: sourceSlug, ...sourceItem });
    const { id, name, item } = link.destination;
    const slug = slugOf('destination', id, name);
    if (!destinations.has(slug)) destinations.set(slug, { name, slug, type: 'http', ...item });
    const lost = [...(link.lost ?? [])];
    const filterConditions = [
      ...typeConditions(eventType, link.types ?? ['*']),
      ...conditions(link.filters ?? {}, lost),
    ];
    const path = `${sourceName} to ${name}`;
    const given = link.routeName ?? path;
    // An import takes routes of one name for one route.
    const route = routes.some((each) => each.name === given) ? `${given} (${path})` : given;
    for (const each of lost) left.add(`${each} in route "${route}"; the route is disabled`);
    for (const each of link.left ?? []) if (each) left.add(each);
    routes.push({
      name: route,
      sourceSlug,
      destinationSlugs: [slug],
      isActive: link.isActive && lost.length === 0,
      ...(filterConditions.length > 0 && { filterConditions, filterLogic: 'AND' }),
    });
  }
  return { sources: [...sources.values()], destinations: [...destinations.values()], routes, left: [...left] };

  /** One slug for each record, also where names are the same. */
  function slugOf(kind: string, id: string, name: string): string {
    const known = slugs.get(`${kind} ${id}`);
    if (known !== undefined) return known;
    const taken = new Set([...slugs].filter(([key]) => key.startsWith(kind)).map(([, slug]) => slug));
    const slug = nextFreeSlug(slugify(name, kind), (candidate) => taken.has(candidate));
    slugs.set(`${kind} ${id}`, slug);
    return slug;
  }
}

interface ConvoySubscription {
  name: string;
  source_metadata?: { name: string; verifier?: { type: string } } | null;
  endpoint_metadata: ConvoyEndpoint;
  filter_config?: {
    event_types?: string[];
    filter?: { body?: Filter; headers?: Filter; query?: Filter; path?: Filter };
  };
  retry_config?: { type: string; duration: number; retry_count: number } | null;
  function?: string | null;
}
interface ConvoyEndpoint {
  uid: string;
  name: string;
  url: string;
  status: string;
  /** Seconds. */
  http_timeout?: number;
  rate_limit?: number;
  rate_limit_duration?: number;
  secrets?: { value: string }[];
  authentication?: {
    type: string;
    api_key?: { header_name: string; header_value: string };
    basic_auth?: { username: string; password: string };
  } | null;
}

function ofConvoy(subscription: ConvoySubscription): Link {
  const { name, source_metadata: source, endpoint_metadata: endpoint, retry_config: retry } = subscription;
  const { body, headers, query, path } = subscription.filter_config?.filter ?? {};
  const { type: authType, api_key: key, basic_auth: basic } = endpoint.authentication ?? {};
  const verifier = source?.verifier?.type;
  const isVerified = verifier !== undefined && !['', 'noop'].includes(verifier);
  const perSecond = (endpoint.rate_limit ?? 0) / (endpoint.rate_limit_duration || 1);
  return {
    ...(source && { source: { name: source.name, item: { enabled: !isVerified } } }),
    destination: {
      id: endpoint.uid,
      name: endpoint.name,
      item: {
        url: endpoint.url,
        ...(endpoint.http_timeout && { timeoutMs: Math.min(endpoint.http_timeout, 60) * 1000 }),
        ...perMinute(60 * perSecond),
        ...(retry && retryPolicy(retry.retry_count, 1000 * retry.duration, retry.type === 'exponential')),
        ...(key && { authType: 'api_key', authConfig: { headerName: key.header_name, key: key.header_value } }),
        ...(basic?.username && { authType: 'basic', authConfig: basic }),
      },
    },
    routeName: name,
    isActive: endpoint.status === 'active',
    types: subscription.filter_config?.event_types,
    filters: { payload: body, headers, query, 'request.path': path },
    lost: subscription.function ? ['function (replace it with a transform)'] : [],
    left: [
      isVerified && unverified(source?.name, verifier),
      authType === 'oauth2' && `authentication of destination "${endpoint.name}" (oauth2)`,
      (endpoint.secrets?.length ?? 0) > 0 && `signatures of destination "${endpoint.name}" (X-Convoy-Signature)`,
    ],
  };
}

interface HookdeckConnection {
  name?: string | null;
  disabled_at?: string | null;
  paused_at?: string | null;
  source: { name: string; type?: string; config?: { auth_type?: string | null } | null };
  destination: { id: string; name: string; type: string; config: HookdeckConfig };
  rules?: ({ type: string; strategy?: string; interval?: number; count?: number } & Filter)[] | null;
}
interface HookdeckConfig {
  url?: string;
  http_method?: string | null;
  path_forwarding_disabled?: boolean;
  rate_limit?: number | null;
  rate_limit_period?: 'second' | 'minute' | 'hour' | 'concurrent' | null;
  auth_type?: string | null;
  auth?: Record<string, string>;
}

const PER_MINUTE = { second: 60, minute: 1, hour: 1 / 60 };

function ofHookdeck({ name, source, destination, rules, disabled_at, paused_at }: HookdeckConnection): Link | Skipped {
  const { config } = destination;
  if (destination.type !== 'HTTP' || config.url === undefined)
    return { skipped: `destination "${destination.name}" (${destination.type})` };
  const { auth = {}, auth_type: authType, rate_limit: rate, rate_limit_period: period, http_method: method } = config;
  const retry = rules?.find(({ type }) => type === 'retry');
  const filter: Filter = rules?.find(({ type }) => type === 'filter') ?? {};
  const { body: payload, headers, query, path } = filter;
  const others = rules?.filter(({ type }) => !['retry', 'filter'].includes(type)) ?? [];
  const given = {
    BASIC_AUTH: auth.username !== undefined && { authType: 'basic', authConfig: auth },
    BEARER_TOKEN: auth.token !== undefined && { authType: 'bearer', authConfig: { token: auth.token } },
    API_KEY: auth.api_key !== undefined &&
      auth.to !== 'query' && { authType: 'api_key', authConfig: { headerName: auth.key, key: auth.api_key } },
  }[authType ?? ''];
  const isVerified = Boolean(source.config?.auth_type) || !['WEBHOOK', 'HTTP', undefined].includes(source.type);
  return {
    source: { name: source.name, item: { allowPaths: true, enabled: !isVerified } },
    destination: {
      id: destination.id,
      name: destination.name,
      item: {
        url: config.url,
        forwardPath: config.path_forwarding_disabled !== true,
        forwardQuery: true,
        ...(['PUT', 'PATCH'].includes(method ?? '') && { method }),
        ...(rate &&
          (period === 'concurrent' ? { maxConcurrency: rate } : perMinute(rate * PER_MINUTE[period ?? 'second']))),
        ...(retry && retryPolicy(retry.count ?? 0, retry.interval ?? 0, retry.strategy === 'exponential')),
        ...given,
      },
    },
    routeName: name,
    isActive: !disabled_at && !paused_at,
    filters: { payload, headers, query, 'request.path': path },
    lost: others.map(({ type }) => `rule "${type}"`),
    left: [
      isVerified && unverified(source.name, source.type),
      authType && !given && `authentication of destination "${destination.name}" (${authType})`,
      ['GET', 'DELETE'].includes(method ?? '') &&
        `method of destination "${destination.name}" (${method}; POST is used)`,
    ],
  };
}

interface OutpostDestination {
  id: string;
  type: string;
  topics: '*' | string[];
  filter?: Filter | null;
  disabled_at: string | null;
  config: { url?: string; custom_headers?: string };
  credentials: { secret?: string };
}

function ofOutpost({ id, type, topics, filter, disabled_at, config, credentials }: OutpostDestination): Link | Skipped {
  if (type !== 'webhook' || config.url === undefined) return { skipped: `destination "${id}" (${type})` };
  const { data, ...others } = filter ?? {};
  const { secret = '' } = credentials;
  return {
    destination: {
      id,
      name: `${new URL(config.url).host} ${id}`,
      item: {
        url: config.url,
        ...(config.custom_headers && { headers: JSON.parse(config.custom_headers) }),
        ...(SIGNING_SECRET.test(secret) && { signingSecret: secret }),
      },
    },
    isActive: disabled_at === null,
    types: topics === '*' ? null : topics,
    filters: { payload: data },
    lost: Object.keys(others).map((each) => `filter on "${each}"`),
    left: [
      secret !== '' && !SIGNING_SECRET.test(secret) && `secret of destination "${id}" (not whsec_ followed by base64)`,
    ],
  };
}

interface SvixEndpoint {
  id: string;
  url: string;
  description: string;
  disabled?: boolean;
  channels?: string[] | null;
  /** Before, and now. */
  filterTypes?: string[] | null;
  eventTypes?: string[] | null;
  rateLimit?: number | null;
  throttleRate?: number | null;
}

function ofSvix({ id, url, description, disabled, channels, ...endpoint }: SvixEndpoint): Link {
  return {
    destination: {
      id,
      name: description || `${new URL(url).host} ${id}`,
      item: { url, ...perMinute(60 * (endpoint.throttleRate ?? endpoint.rateLimit ?? 0)) },
    },
    isActive: disabled !== true,
    types: endpoint.eventTypes ?? endpoint.filterTypes,
    lost: channels ? [`channels (${channels.join(', ')})`] : [],
    left: [`secret, headers and transformation of destination "${id}" (this list does not include them)`],
  };
}

const unverified = (source = '', kind = '') => `verification of source "${source}" (${kind}); the source is disabled`;

function perMinute(rate: number): Item {
  return rate > 0 ? { rateLimitPerMinute: Math.max(1, Math.round(rate)) } : {};
}

function retryPolicy(count: number, delayMs: number, isExponential: boolean): Item {
  const initialDelay = Math.min(delayMs, DAY_MS);
  const growth = isExponential
    ? { maxDelay: DAY_MS, backoffMultiplier: 2 }
    : { maxDelay: initialDelay, backoffMultiplier: 1 };
  return { retryPolicy: { maxRetries: Math.min(count, MAX_RETRIES), initialDelay, ...growth } };
}

function typeConditions(field: string, types: string[]): Item[] {
  if (types.length === 0 || types.includes('*')) return [];
  if (!types.some((type) => type.includes('*'))) return [{ field, operator: 'in', value: types }];
  const patterns = types.map((type) => type.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('\\*', '.*'));
  return [{ field, operator: 'matches', value: `^(${patterns.join('|')})$` }];
}

/** @param lost gets the filters that have no counterpart */
function conditions(filters: Record<string, unknown>, lost: string[]): Item[] {
  return Object.entries(filters).flatMap(([part, filter]) => {
    try {
      return filter == null ? [] : conditionsOn(part, filter);
    } catch (error) {
      lost.push(`filter on ${(error as Error).message}`);
      return [];
    }
  });
}

/** The language of Hookdeck, Outpost and Convoy: members, or operators that start with `$`. */
function conditionsOn(field: string, filter: unknown): Item[] {
  if (Array.isArray(filter)) throw new Error(`"${field}" (a list)`);
  if (typeof filter !== 'object' || filter === null) return [{ field, operator: 'equals', value: filter }];
  return Object.entries(filter).flatMap(([key, value]) => {
    if (!key.startsWith('$')) return conditionsOn(`${field}.${key}`, value);
    if (key === '$and' && Array.isArray(value)) return value.flatMap((each) => conditionsOn(field, each));
    if (key === '$exist') return [{ field, operator: value ? 'exists' : 'not_exists' }];
    const operator = OPERATORS[key];
    const isList = key === '$in' || key === '$nin';
    if (operator === undefined || Array.isArray(value) !== isList) throw new Error(`"${field}" (${key})`);
    return [{ field, operator, value }];
  });
}

/** @param path of the list in the answer; empty: the answer is the list */
function pick<T>(answer: unknown, path: string): T[] {
  const keys = path === '' ? [] : path.split('.');
  const list = keys.reduce<unknown>((at, key) => (at as Item | null | undefined)?.[key], answer);
  if (!Array.isArray(list)) throw new TypeError(path === '' ? 'no list found' : `no list found in "${path}"`);
  return list as T[];
}
