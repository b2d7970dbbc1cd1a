// Destinations, flat family (interface.md, "Destinations, flat family").
import { z } from 'zod';
import { redactAuthConfig, redactSecret } from '../../core/redaction.ts';
import type { Destination } from '../../db/entities.ts';
import type { DestinationTotals } from '../../db/history/statistics.ts';
import { readJson } from '../body.ts';
import { type ApiDeps, type ApiRouter, callerOf, type Context, entityManager, param } from '../context.ts';
import { invalid } from '../errors.ts';
import { findDestination, isoTime } from '../records.ts';
import { check, parseBody, parseOptionalBody } from '../validation.ts';
import {
  createDestination,
  listDestinations,
  openAuthConfig,
  openSigningSecret,
  removeDestination,
  showHealth,
  totalsOf,
  updateDestination,
} from './destination-record.ts';
import { createDestinationSchema, refuseWarehouse, typeSchema, updateDestinationSchema } from './destination-schema.ts';
import * as field from './fields.ts';

const testSchema = z.object({ payload: z.record(z.string(), z.unknown()).optional() });

export function mountDestinations(router: ApiRouter, deps: ApiDeps): void {
  const base = '/api/destinations';
  router.get(base, (ctx) => listDestinations(ctx, deps, summary));
  router.post(base, (ctx) => create(ctx, deps));
  router.get(`${base}/:id`, (ctx) => get(ctx, deps));
  router.patch(`${base}/:id`, (ctx) => update(ctx, deps));
  router.delete(`${base}/:id`, (ctx) => removeDestination(ctx, deps));
  router.get(`${base}/:id/health`, (ctx) => showHealth(ctx, deps));
  router.post(`${base}/:id/test`, (ctx) => test(ctx, deps));
}

async function create(ctx: Context, deps: ApiDeps): Promise<void> {
  const body = await readJson(ctx);
  refuseWarehouse(callerOf(ctx).organization.plan, check(typeSchema, body, 'The body').type);
  const destination = await createDestination(ctx, deps, check(createDestinationSchema, body, 'The body'));
  ctx.status = 201;
  ctx.body = await show(deps, destination);
}

async function get(ctx: Context, deps: ApiDeps): Promise<void> {
  ctx.body = await show(deps, await findDestination(entityManager(ctx, deps), param(ctx, 'id')));
}

async function update(ctx: Context, deps: ApiDeps): Promise<void> {
  const { type, ...patch } = await parseBody(ctx, updateDestinationSchema);
  const { type: storedType } = await findDestination(entityManager(ctx, deps), param(ctx, 'id'));
  if (type !== undefined && type !== storedType) throw invalid('type', 'cannot be changed after creation');
  ctx.body = await show(deps, await updateDestination(ctx, deps, field.sent(patch)));
}

async function test(ctx: Context, deps: ApiDeps): Promise<void> {
  const { payload } = await parseOptionalBody(ctx, testSchema);
  const destination = await findDestination(entityManager(ctx, deps), param(ctx, 'id'));
  ctx.body = await deps.testSender.send(
    {
      ...destination,
      authConfig: openAuthConfig(deps, destination),
      signingSecret: openSigningSecret(deps, destination),
    },
    payload,
  );
}

async function show(deps: ApiDeps, destination: Destination) {
  const totals = await totalsOf(deps, destination);
  const signingSecret = openSigningSecret(deps, destination);
  return {
    ...summary(destination, totals),
    slug: destination.slug,
    method: destination.method,
    headers: destination.headers,
    authType: destination.authType,
    authConfig: redactAuthConfig(destination.authType, openAuthConfig(deps, destination)),
    signingSecret: signingSecret === null ? null : redactSecret(signingSecret),
    timeoutMs: destination.timeoutMs,
    rateLimitPerMinute: destination.rateLimitPerMinute ?? null,
    retryPolicy: destination.retryPolicy,
    lastDeliveryAt: isoTime(totals.lastDeliveryAt),
    createdAt: isoTime(destination.createdAt),
    updatedAt: isoTime(destination.updatedAt),
  };
}

function summary(destination: Destination, totals: DestinationTotals) {
  return {
    id: destination.id,
    name: destination.name,
    type: destination.type,
    url: destination.url,
    enabled: destination.enabled,
    successRate: totals.successRate,
    avgLatency: totals.avgLatency,
    deliveriesCount: totals.deliveriesCount,
  };
}
