// The Koa app: middleware for every request, then ingest, probes and the management API.
import Koa from 'koa';
import { ownTurn } from '../../core/process/event-loop.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { actingFor } from '../../db/connections/by-organization.ts';
import { auditTrail, FirstOfMinute } from '../auth/audit-trail.ts';
import { authenticate, requireOwnOrganization } from '../auth/auth.ts';
import { keyRateLimit, organizationRateLimit } from '../auth/request-and-record-limits.ts';
import { permit } from '../auth/scopes.ts';
import { mountConsole } from '../console/serve-console.ts';
import { mountSignIn } from '../console/sign-in.ts';
import type { ProxyTrust } from '../http/client-addresses.ts';
import { cors, renderErrors } from '../http/middleware.ts';
import { BodyMemory, bufferedBytes } from '../http/receive-body.ts';
import { httpMetrics, type RefusedRequests, requestLog } from '../http/request-log.ts';
import { mountDescription, mountPage } from '../openapi/serve-description.ts';
import {
  type ApiDeps,
  type ApiRouter,
  type ApiState,
  newRouter,
  organizationId,
  type Provided,
} from '../request/context.ts';
import { idempotency } from '../request/idempotency.ts';
import { nameIgnored } from '../request/ignored.ts';
import { answerUnmatched, keepFixedWords, mountOperations } from '../request/operation.ts';
import { managementOperations } from '../request/operations.ts';
import { mountRecipientPages } from '../resources/alerts/recipient-pages.ts';
import { type HealthDeps, mountHealth, mountStatus, type StatusDeps } from '../resources/organization/status.ts';

export interface AppDeps extends ApiDeps {
  slowPool: StatusDeps['slowPool'];
  /** Answers `/ingest/...` and passes everything else on. */
  ingest: Koa.Middleware;
  proxies: ProxyTrust;
  refused: RefusedRequests;
  health: HealthDeps;
}

/** Puts the app together; it holds no state besides the counters of the rate limits. */
export function createApp(deps: AppDeps): Koa<ApiState, Provided> {
  const app = new Koa<ApiState, Provided>();
  app.context.deps = deps;
  const open = openRouter(deps);
  const operator = operatorRouter(deps);
  const page = newRouter();
  mountPage(page);
  mountRecipientPages(page, deps);
  if (deps.settings.HOOKYARD_CONSOLE) {
    mountConsole(page);
    mountSignIn(page, deps);
  }
  const management = managementRouter(deps);
  app.use(httpMetrics);
  app.use(requestLog(deps.log, deps.proxies, deps.refused));
  app.use(cors(deps.settings.HOOKYARD_CORS_ORIGINS ?? []));
  app.use(renderErrors(deps.log));
  app.use(bodyMemory(deps));
  app.use(deps.ingest);
  app.use(open.routes());
  app.use(operator.routes());
  app.use(page.routes());
  app.use(keepFixedWords(management));
  app.use(management.routes());
  app.use(answerUnmatched([open, operator, page, management]));
  // Errors outside the middleware above: a connection that broke while the answer was being sent.
  app.on('error', (error: unknown) => deps.log.debug({ cause: causeOf(error) }, 'failed to send a response'));
  return app;
}

function bodyMemory({ settings, tuning }: Pick<AppDeps, 'settings' | 'tuning'>): Koa.Middleware<ApiState> {
  const memory = new BodyMemory(bufferedBytes(tuning.bufferedBytes, settings.HOOKYARD_MAX_PAYLOAD_BYTES));
  return async (ctx, next) => {
    ctx.state.memory = memory;
    try {
      await next();
    } finally {
      ctx.state.room?.free();
    }
  };
}

/** Paths without credentials: the probes and the description of the API. */
export function openRouter({ health }: Pick<AppDeps, 'health'>): ApiRouter {
  const router = newRouter();
  mountHealth(router, health);
  mountDescription(router);
  return router;
}

/** Paths for the operator of the installation, with a key of their own. */
export function operatorRouter(deps: StatusDeps): ApiRouter {
  const router = newRouter();
  mountStatus(router, deps);
  return router;
}

// Of one organization in a minute; each read beyond is recorded.
const MOST_READS = 1000;

export function managementRouter(deps: ApiDeps): ApiRouter {
  const router = newRouter();
  const firsts = new FirstOfMinute();
  const reads = new FirstOfMinute(MOST_READS);
  router.use(authenticate(deps, firsts));
  router.use(organizationRateLimit(deps.requests));
  // One begins in each turn of the loop: an answer takes it milliseconds, and webhooks come between two of them.
  router.use((_ctx, next) => ownTurn().then(next));
  router.use((ctx, next) => actingFor(organizationId(ctx), next));
  const perMinute = deps.settings.HOOKYARD_API_RATE_LIMIT_PER_MINUTE;
  if (perMinute !== undefined) router.use(keyRateLimit(perMinute));
  router.use('/api/organizations/:orgId', requireOwnOrganization);
  mountOperations(router, managementOperations, (operation) => [
    auditTrail(deps.pool, operation, { refused: firsts, reads }),
    permit(operation),
    idempotency(deps, operation),
    // Inside `idempotency`, which stores the header with the answer.
    nameIgnored,
  ]);
  return router;
}
