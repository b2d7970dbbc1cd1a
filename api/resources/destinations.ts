// Destinations of both kinds, at /api/destinations.
// Rules: DEST-29 to DEST-31, DEST-34, DEST-35.
import { z } from 'zod';
import type { Destination } from '../../db/entities.ts';
import { readJson } from '../body.ts';
import { type ApiDeps, type ApiRouter, callerOf, type Context, entityManager, param } from '../context.ts';
import { invalid } from '../errors.ts';
import { everyDestination, findDestination } from '../records.ts';
import { check, parseOptionalBody } from '../validation.ts';
import {
  changedDestination,
  listDestinations,
  type NewDestination,
  newDestination,
  openAuthConfig,
  openSigningSecret,
  removeDestination,
  showHealth,
  storeDestination,
  updateDestination,
} from './destination-record.ts';
import {
  createDestinationSchema,
  createWarehouseSchema,
  requirePlan,
  typeSchema,
  UNCHANGEABLE,
  updateDestinationSchema,
  updateWarehouseSchema,
} from './destination-schema.ts';
import { showDestination } from './destination-view.ts';
import { changedWarehouse, isWarehouse, newWarehouse, refuseConfig, testWarehouse } from './destination-warehouse.ts';
import * as field from './fields.ts';

export const testSchema = z.object({ payload: z.record(z.string(), z.unknown()).optional() });

export function mountDestinations(router: ApiRouter, deps: ApiDeps): void {
  const base = '/api/destinations';
  router.get(base, (ctx) => listDestinations(ctx, deps, everyDestination));
  router.post(base, (ctx) => create(ctx, deps));
  router.get(`${base}/:id`, (ctx) => get(ctx, deps));
  router.patch(`${base}/:id`, (ctx) => update(ctx, deps));
  router.delete(`${base}/:id`, (ctx) => removeDestination(ctx, deps, everyDestination));
  router.get(`${base}/:id/health`, (ctx) => showHealth(ctx, deps, everyDestination));
  router.post(`${base}/:id/test`, (ctx) => test(ctx, deps));
}

async function create(ctx: Context, deps: ApiDeps): Promise<void> {
  const { slug, record } = newRecord(ctx, deps, await readJson(ctx));
  const destination = await storeDestination(ctx, deps, slug, record);
  ctx.status = 201;
  ctx.body = await showDestination(deps, destination);
}

function newRecord(ctx: Context, deps: ApiDeps, body: unknown): { slug?: string; record: NewDestination } {
  const { type } = check(typeSchema, body, 'The body');
  const { id, plan } = callerOf(ctx).organization;
  requirePlan(plan, type);
  if (type === 'http') {
    const input = check(createDestinationSchema, body, 'The body');
    refuseConfig(body);
    return { slug: input.slug, record: newDestination(deps, id, input) };
  }
  const input = check(createWarehouseSchema, body, 'The body');
  return { slug: input.slug, record: newWarehouse(deps, id, type, input) };
}

async function get(ctx: Context, deps: ApiDeps): Promise<void> {
  ctx.body = await showDestination(deps, await findDestination(entityManager(ctx, deps), param(ctx, 'id')));
}

async function update(ctx: Context, deps: ApiDeps): Promise<void> {
  const body = await readJson(ctx);
  const found = await findDestination(entityManager(ctx, deps), param(ctx, 'id'));
  const { type, ...sent } = check(
    isWarehouse(found) ? updateWarehouseSchema : updateDestinationSchema,
    body,
    'The body',
  );
  if (type !== undefined && type !== found.type) throw invalid('type', UNCHANGEABLE);
  if (!isWarehouse(found)) refuseConfig(body);
  const patch = field.sent(sent);
  const change = (stored: Destination) =>
    isWarehouse(stored) ? changedWarehouse(deps, stored, patch) : changedDestination(deps, stored, patch);
  ctx.body = await showDestination(deps, await updateDestination(ctx, deps, everyDestination, patch.slug, change));
}

async function test(ctx: Context, deps: ApiDeps): Promise<void> {
  const { payload } = await parseOptionalBody(ctx, testSchema);
  const destination = await findDestination(entityManager(ctx, deps), param(ctx, 'id'));
  if (isWarehouse(destination)) {
    ctx.body = await testWarehouse(deps, destination, payload);
    return;
  }
  ctx.body = await deps.testSender.send(
    {
      ...destination,
      authConfig: openAuthConfig(deps, destination),
      signingSecret: openSigningSecret(deps, destination),
    },
    payload,
  );
}
