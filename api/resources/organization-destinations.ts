// Destinations, organization-scoped family: the http destinations of the same store, with this family's members. A
// warehouse has no place in it: its id is unknown here (decisions, "The two destination families").
import { z } from 'zod';
import type { Destination } from '../../db/entities.ts';
import type { DestinationTotals } from '../../db/history/statistics.ts';
import { type ApiDeps, type ApiRouter, type Context, entityManager, organizationId, param } from '../context.ts';
import { findDestination, httpDestinations, isoTime } from '../records.ts';
import { parseBody } from '../validation.ts';
import {
  changedDestination,
  listDestinations,
  newDestination,
  removeDestination,
  showHealth,
  storeDestination,
  totalsOf,
  updateDestination,
} from './destination-record.ts';
import * as field from './fields.ts';

const changeable = {
  description: field.description.optional(),
  headers: field.headers.optional(),
  retryPolicy: field.retryPolicy.optional(),
  enabled: field.enabled.optional(),
};
export const createSchema = z.object({ name: field.name, url: field.url, ...changeable });
export const updateSchema = z.object({ name: field.name.optional(), url: field.url.optional(), ...changeable });

export function mountOrganizationDestinations(router: ApiRouter, deps: ApiDeps): void {
  const base = '/api/organizations/:orgId/destinations';
  router.get(base, (ctx) => listDestinations(ctx, deps, httpDestinations, summary));
  router.post(base, (ctx) => create(ctx, deps));
  router.get(`${base}/:id`, (ctx) => get(ctx, deps));
  router.patch(`${base}/:id`, (ctx) => update(ctx, deps));
  router.delete(`${base}/:id`, (ctx) => removeDestination(ctx, deps, httpDestinations));
  router.get(`${base}/:id/health`, (ctx) => showHealth(ctx, deps, httpDestinations));
}

async function create(ctx: Context, deps: ApiDeps): Promise<void> {
  const record = newDestination(deps, organizationId(ctx), await parseBody(ctx, createSchema));
  const destination = await storeDestination(ctx, deps, undefined, record);
  ctx.status = 201;
  ctx.body = await show(deps, destination);
}

async function get(ctx: Context, deps: ApiDeps): Promise<void> {
  ctx.body = await show(deps, await findDestination(entityManager(ctx, deps), param(ctx, 'id'), httpDestinations));
}

async function update(ctx: Context, deps: ApiDeps): Promise<void> {
  const patch = field.sent(await parseBody(ctx, updateSchema));
  const change = (stored: Destination) => changedDestination(deps, stored, patch);
  ctx.body = await show(deps, await updateDestination(ctx, deps, httpDestinations, undefined, change));
}

async function show(deps: ApiDeps, destination: Destination) {
  const totals = await totalsOf(deps, destination);
  return {
    ...summary(destination, totals),
    description: destination.description ?? null,
    headers: destination.headers,
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
    url: destination.url,
    enabled: destination.enabled,
    successRate: totals.successRate,
    avgLatency: totals.avgLatency,
    deliveriesCount: totals.deliveriesCount,
  };
}
