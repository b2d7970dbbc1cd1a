// The Koa app: what every request passes, then ingest, probes and the management API.
import Koa from 'koa';
import { authenticate, requireOwnOrganization } from './auth.ts';
import { type ApiDeps, type ApiRouter, type ApiState, type AppContext, newRouter } from './context.ts';
import { ApiError, renderErrors } from './errors.ts';
import { mountDestinationExchange } from './exchange/destinations.ts';
import { mountRouteExchange } from './exchange/routes.ts';
import { rateLimit } from './rate-limit.ts';
import { requestLog } from './request-log.ts';
import { mountApiKeys } from './resources/api-keys.ts';
import { mountAuth } from './resources/auth-me.ts';
import { mountBulk } from './resources/bulk.ts';
import { mountDeliveries } from './resources/deliveries.ts';
import { mountDestinations } from './resources/destinations.ts';
import { mountEventReplays } from './resources/event-replays.ts';
import { mountEvents } from './resources/events.ts';
import { mountFilters } from './resources/filters.ts';
import { mountHealth } from './resources/health.ts';
import { mountOrganizationDestinations } from './resources/organization-destinations.ts';
import { mountReplays } from './resources/replays.ts';
import { mountRouteCircuit } from './resources/route-circuit.ts';
import { mountRoutes } from './resources/routes.ts';
import { mountSchemas } from './resources/schemas.ts';
import { mountSources } from './resources/sources.ts';
import { mountTransforms } from './resources/transforms.ts';

export interface AppDeps extends ApiDeps {
  /** Answers `/ingest/...` and passes everything else on. */
  ingest: Koa.Middleware;
  /** What `/readyz` asks: a name and a request that fails when the server is away. */
  requiredServers: Record<string, () => Promise<unknown>>;
}

/** Puts the app together; it holds no state besides the counters of the rate limit. */
export function createApp(deps: AppDeps): Koa<ApiState> {
  const app = new Koa<ApiState>();
  const probes = newRouter();
  mountHealth(probes, deps.requiredServers);
  const management = managementRouter(deps);
  app.use(requestLog(deps.log));
  app.use(renderErrors);
  app.use(deps.ingest);
  app.use(probes.routes());
  app.use(management.routes());
  app.use((ctx) => refuseUnmatched(ctx, [probes, management]));
  // Errors outside the middleware above: a connection that broke while the answer was being sent.
  app.on('error', (error: unknown) => deps.log.debug({ err: error }, 'a response could not be sent'));
  return app;
}

/** Every path of the management API; all of it needs an API key. */
export function managementRouter(deps: ApiDeps): ApiRouter {
  const router = newRouter();
  router.use(authenticate(deps.pool));
  const perMinute = deps.settings.HOOKYARD_API_RATE_LIMIT_PER_MINUTE;
  if (perMinute !== undefined) router.use(rateLimit(perMinute));
  router.use('/api/organizations/:orgId', requireOwnOrganization);
  mountAuth(router);
  mountApiKeys(router, deps);
  mountSources(router, deps);
  // Before the records' own paths: "bulk", "export" and "import" are fixed words, not ids.
  mountBulk(router, deps);
  mountDestinationExchange(router, deps);
  mountRouteExchange(router, deps);
  mountDestinations(router, deps);
  mountOrganizationDestinations(router, deps);
  mountRoutes(router, deps);
  mountRouteCircuit(router, deps);
  mountFilters(router, deps);
  mountSchemas(router, deps);
  mountTransforms(router, deps);
  mountReplays(router, deps);
  mountEventReplays(router, deps);
  mountEvents(router, deps);
  mountDeliveries(router, deps);
  return router;
}

/** 405 for a path that exists with other methods, else 404. */
function refuseUnmatched(ctx: AppContext, routers: ApiRouter[]): never {
  const layers = routers.flatMap((router) => router.match(ctx.path, ctx.method).path);
  const methods = [...new Set(layers.flatMap((layer) => layer.methods))].toSorted();
  if (methods.length === 0) throw new ApiError(404, 'RESOURCE_NOT_FOUND', `There is nothing at ${ctx.path}`);
  throw new ApiError(405, 'METHOD_NOT_ALLOWED', `${ctx.path} answers ${methods.join(', ')} only`, undefined, {
    Allow: methods.join(', '),
  });
}
