// A line in the log for each request, and how long requests take; a flood of refused requests is one line a second.
import { httpServerDuration } from '../../core/metrics/process.ts';
import type { Log } from '../../core/process/log.ts';
import { newId } from '../../core/text/ids.ts';
import type { AppContext, Next } from '../request/context.ts';
import { clientAddressOf, type ProxyTrust } from './client-addresses.ts';

const EVERY_MS = 1000;
// Of each list in a line; what is beyond has one entry together. The codes are our own, and the organizations and
// sources exist, so no stranger chooses what is written.
const MOST_LISTED = 20;
const OTHERS = 'others';

interface Refusal {
  status: number;
  code: string;
  requestId: string;
  client: string;
  organizationId?: string | undefined;
  /** Only of a source that exists. */
  sourceId?: string | undefined;
}

interface Cause extends Omit<Refusal, 'organizationId' | 'sourceId'> {
  count: number;
}

// Strangers and floods decide how many there are. Other refusals are of somebody with a key, whose requests are
// limited.
const STATUSES = new Set([401, 403, 408, 413, 429, 503, 508]);

/** Whether an answer is only counted. @param isKnown whether the sender has shown a valid key */
export function isRefusal(status: number, isKnown: boolean): boolean {
  return STATUSES.has(status) || (!isKnown && status >= 400 && status < 500);
}

export class RefusedRequests {
  readonly #log: Pick<Log, 'info'>;
  #causes = new Map<string, Cause>();
  #organizations = new Map<string, number>();
  #sources = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Pick<Log, 'info'>) {
    this.#log = log;
  }

  note({ status, code, requestId, client, organizationId, sourceId }: Refusal): void {
    const place = placeIn(this.#causes, `${status} ${code}`);
    const count = (this.#causes.get(place)?.count ?? 0) + 1;
    const isNamed = place !== OTHERS;
    this.#causes.set(place, { status: isNamed ? status : 0, code: isNamed ? code : OTHERS, count, requestId, client });
    if (organizationId !== undefined) countIn(this.#organizations, organizationId);
    if (sourceId !== undefined) countIn(this.#sources, sourceId);
    this.#timer ??= setTimeout(() => this.flush(), EVERY_MS).unref();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#causes.size === 0) return;
    const causes = [...this.#causes.values()];
    const refused = causes.reduce((sum, { count }) => sum + count, 0);
    const organizations = Object.fromEntries(this.#organizations);
    const sources = Object.fromEntries(this.#sources);
    this.#log.info({ refused, causes, organizations, sources }, 'requests were refused');
    this.#causes = new Map();
    this.#organizations = new Map();
    this.#sources = new Map();
  }
}

function placeIn(counts: ReadonlyMap<string, unknown>, name: string): string {
  return counts.has(name) || counts.size < MOST_LISTED ? name : OTHERS;
}

function countIn(counts: Map<string, number>, name: string): void {
  const place = placeIn(counts, name);
  counts.set(place, (counts.get(place) ?? 0) + 1);
}

// Gives every request an id and its client's address, and writes one line about it: never its query, payload,
// credentials or ingest token. Probes and refused requests have their line at level `debug` only; the refused are
// counted.

const PROBES = ['/healthz', '/readyz', '/metrics'];
const isProbe = ({ path }: { path: string }): boolean => PROBES.includes(path);
const SANE_REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/**
 * Middleware: `X-Request-Id` on the response (the sender's own when it is valid), and the request's line.
 * @param proxies the operator's own, which say whom a request comes from
 */
export function requestLog(
  log: Log,
  proxies: ProxyTrust,
  refused: RefusedRequests,
): (ctx: AppContext, next: Next) => Promise<void> {
  return async (ctx, next) => {
    const began = performance.now();
    const received = ctx.get('x-request-id');
    const requestId = SANE_REQUEST_ID.test(received) ? received : newId('req');
    ctx.state.requestId = requestId;
    ctx.state.client = clientAddressOf(ctx.req, proxies);
    ctx.state.log = log;
    ctx.set('X-Request-Id', requestId);
    await next();
    const { caller, client } = ctx.state;
    const isRefused = !isProbe(ctx) && isRefusal(ctx.status, caller !== undefined);
    if (isRefused) refused.note(refusalOf(ctx));
    const line = {
      requestId,
      method: ctx.method,
      path: withoutToken(ctx.path),
      status: ctx.status,
      ms: Math.round(performance.now() - began),
      client: client.address,
      organizationId: caller?.organization.id,
    };
    if (isProbe(ctx) || isRefused) log.debug(line, 'request');
    else log.info(line, 'request');
  };
}

function refusalOf({ status, state }: AppContext): Refusal {
  const { requestId, client, caller, source, errorCode = 'NONE' } = state;
  const organizationId = caller?.organization.id ?? source?.organizationId;
  return { status, code: errorCode, requestId, client: client.address, organizationId, sourceId: source?.sourceId };
}

function withoutToken(path: string): string {
  return path.replace(/^(\/ingest\/[^/]*\/[^/]*\/|\/notifications\/confirm\/).+/, '$1****');
}

const INGEST = '/ingest/:organization/:source';
const INGEST_PREFIX = '/ingest/';
/** A path that the API does not have: what was asked for is a stranger's. */
const NONE = '';

interface Layer {
  methods: string[];
  path: string | RegExp;
}

export async function httpMetrics(ctx: AppContext, next: Next): Promise<void> {
  const began = performance.now();
  try {
    await next();
  } finally {
    const labels = {
      http_request_method: ctx.method as 'GET',
      http_response_status_code: String(ctx.status),
      http_route: routeOf(ctx),
      url_scheme: 'http',
    } as const;
    httpServerDuration.observe(labels, (performance.now() - began) / 1000);
  }
}

function routeOf(ctx: AppContext): string {
  if (ctx.path.startsWith(INGEST_PREFIX)) return INGEST;
  const { matched = [] } = ctx as { matched?: Layer[] };
  const layer = matched.findLast(({ methods }) => methods.includes(ctx.method));
  return typeof layer?.path === 'string' ? layer.path : NONE;
}
