// How long requests take, by method, path and status (semantic conventions of OpenTelemetry for HTTP servers).
import { httpServerDuration } from '../../core/metrics/process.ts';
import type { AppContext, Next } from '../request/context.ts';

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
