// A route's circuit breaker and statistics.
// Rules: ROUTE-39 to ROUTE-42.
import { z } from 'zod';
import { loadCircuits, resetCircuit as closeCircuit } from '../../db/circuits/circuits.ts';
import { lastAttempts, routeStatistics } from '../../db/history/statistics.ts';
import { type ApiDeps, type ApiRouter, type Context, entityManager, param } from '../context.ts';
import { notFound } from '../errors.ts';
import { findRoute, isoTime } from '../records.ts';
import { choiceParam } from '../query.ts';
import { parseBody, parseQuery } from '../validation.ts';
import * as field from './fields.ts';
import { circuitConfigSchema } from './route-schema.ts';

const PERIOD_HOURS = { '1h': 1, '24h': 24, '7d': 168, '30d': 720 } as const;
export const statsSchema = z.object({ period: choiceParam(['1h', '24h', '7d', '30d']) });

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

async function circuitStatus(ctx: Context, deps: ApiDeps): Promise<void> {
  const { id, destinationIds } = await findRoute(entityManager(ctx, deps), param(ctx, 'id'));
  const [circuits, attempts] = await Promise.all([
    loadCircuits(deps.pool, [id]),
    lastAttempts(deps.pool, id, destinationIds),
  ]);
  const found = circuits.get(id);
  if (!found) throw notFound('route', id);
  const { circuit, rule } = found;
  ctx.body = {
    circuitState: circuit.state,
    failureCount: circuit.failureCount,
    failureThreshold: rule.failureThreshold,
    cooldownSeconds: rule.cooldownSeconds,
    lastFailureAt: isoTime(attempts.lastFailureAt),
    lastSuccessAt: isoTime(attempts.lastSuccessAt),
    openedAt: circuit.openedAt === null ? null : new Date(circuit.openedAt).toISOString(),
    probeSuccessCount: circuit.probeSuccessCount,
    probeSuccessThreshold: rule.probeSuccessThreshold,
  };
}

/** Closes the circuit at once; its workflow hears of it and releases what was held. */
async function resetCircuit(ctx: Context, deps: ApiDeps): Promise<void> {
  const { id } = await findRoute(entityManager(ctx, deps), param(ctx, 'id'));
  await closeCircuit(deps.pool, id);
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
