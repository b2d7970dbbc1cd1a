// A route's circuit breaker and statistics (interface.md, "Circuit status object", "Route statistics object").
import { z } from 'zod';
import { routeStatistics } from '../../db/history/statistics.ts';
import { type ApiDeps, type ApiRouter, type Context, entityManager, param } from '../context.ts';
import { findRoute } from '../records.ts';
import { choiceParam } from '../query.ts';
import { parseBody, parseQuery } from '../validation.ts';
import * as field from './fields.ts';
import { circuitConfigSchema } from './route-schema.ts';

const PERIOD_HOURS = { '1h': 1, '24h': 24, '7d': 168, '30d': 720 } as const;
const statsSchema = z.object({ period: choiceParam(['1h', '24h', '7d', '30d']) });

export function mountRouteCircuit(router: ApiRouter, deps: ApiDeps): void {
  const base = '/api/routes/:id';
  router.get(`${base}/stats`, (ctx) => stats(ctx, deps));
  router.get(`${base}/circuit-status`, (ctx) => circuitStatus(ctx, deps));
  router.post(`${base}/reset-circuit`, (ctx) => resetCircuit(ctx, deps));
  router.patch(`${base}/circuit-config`, (ctx) => configureCircuit(ctx, deps));
}

async function stats(ctx: Context, deps: ApiDeps): Promise<void> {
  const { period = '24h' } = parseQuery(ctx, statsSchema);
  const { id } = await findRoute(entityManager(ctx, deps), param(ctx, 'id'));
  ctx.body = { ...(await routeStatistics(deps.pool, id, PERIOD_HOURS[period])), period };
}

// The breaker does not open yet: its state is always closed and nothing has been counted.
async function circuitStatus(ctx: Context, deps: ApiDeps): Promise<void> {
  const route = await findRoute(entityManager(ctx, deps), param(ctx, 'id'));
  ctx.body = {
    circuitState: 'closed',
    failureCount: 0,
    failureThreshold: route.circuitFailureThreshold,
    cooldownSeconds: route.circuitCooldownSeconds,
    lastFailureAt: null,
    lastSuccessAt: null,
    openedAt: null,
    probeSuccessCount: 0,
    probeSuccessThreshold: route.circuitProbeSuccessThreshold,
  };
}

async function resetCircuit(ctx: Context, deps: ApiDeps): Promise<void> {
  await findRoute(entityManager(ctx, deps), param(ctx, 'id'));
  ctx.body = { message: 'Circuit breaker reset successfully', circuitState: 'closed' };
}

async function configureCircuit(ctx: Context, deps: ApiDeps): Promise<void> {
  const patch = await parseBody(ctx, circuitConfigSchema);
  const id = param(ctx, 'id');
  const route = await entityManager(ctx, deps).transactional(async (em) => {
    const stored = await findRoute(em, id, 'lock');
    em.assign(stored, field.sent(patch));
    return stored;
  });
  ctx.body = {
    circuitCooldownSeconds: route.circuitCooldownSeconds,
    circuitFailureThreshold: route.circuitFailureThreshold,
    circuitProbeSuccessThreshold: route.circuitProbeSuccessThreshold,
    message: 'Circuit breaker configuration updated',
  };
}
