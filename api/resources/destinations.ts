// Destinations, flat family (interface.md, "Destinations, flat family").
import { z } from 'zod';
import { AUTH_TYPES } from '../../core/auth-config.ts';
import { redactAuthConfig, redactSecret } from '../../core/redaction.ts';
import type { Destination } from '../../db/entities.ts';
import type { DestinationTotals } from '../../db/history/statistics.ts';
import { readJson } from '../body.ts';
import { type ApiDeps, type ApiRouter, callerOf, type Context, entityManager, param } from '../context.ts';
import { ApiError, invalid } from '../errors.ts';
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
import * as field from './fields.ts';

const WAREHOUSE_TYPES = ['s3', 'r2', 'gcs', 'azure_blob'] as const;
const MAX_RATE_PER_MINUTE = 1_000_000;

const changeable = {
  slug: field.slug.optional(),
  method: z.enum(['POST', 'PUT', 'PATCH']).optional(),
  headers: field.headers.optional(),
  authType: z.enum(AUTH_TYPES).optional(),
  // Its shape depends on authType, which an update may leave out: checked when the record is at hand.
  authConfig: z.record(z.string(), z.unknown()).nullable().optional(),
  signingSecret: z.string().nullable().optional(),
  timeoutMs: z.int().min(1).max(60_000).optional(),
  rateLimitPerMinute: z.int().min(1).max(MAX_RATE_PER_MINUTE).nullable().optional(),
  retryPolicy: field.retryPolicy.optional(),
  enabled: field.enabled.optional(),
};
const typeSchema = z.looseObject({ type: z.enum(['http', ...WAREHOUSE_TYPES]).default('http') });
const createSchema = z.object({ name: field.name, url: field.url, ...changeable });
const updateSchema = z.object({
  name: field.name.optional(),
  url: field.url.optional(),
  type: z.string().optional(),
  ...changeable,
});
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
  const destination = await createDestination(ctx, deps, check(createSchema, body, 'The body'));
  ctx.status = 201;
  ctx.body = await show(deps, destination);
}

function refuseWarehouse(plan: string, type: string): void {
  if (type === 'http') return;
  if (plan === 'free') {
    throw new ApiError(403, undefined, `Destinations of type ${type} need a Pro or Business plan`);
  }
  throw new ApiError(400, undefined, `Destinations of type ${type} are not available yet; the type must be http`);
}

async function get(ctx: Context, deps: ApiDeps): Promise<void> {
  ctx.body = await show(deps, await findDestination(entityManager(ctx, deps), param(ctx, 'id')));
}

async function update(ctx: Context, deps: ApiDeps): Promise<void> {
  const { type, ...patch } = await parseBody(ctx, updateSchema);
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
