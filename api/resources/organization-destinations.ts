// Destinations, organization-scoped family: the http destinations of the same store, with the same members. A warehouse has no
// place in it: its id is unknown here.
// Rules: DEST-38 to DEST-43.
import type { z } from 'zod';
import type { Destination } from '../../db/entities.ts';
import { readJson } from '../body.ts';
import { type ApiDeps, type ApiRouter, type Context, entityManager, organizationId, param } from '../context.ts';
import { findDestination, httpDestinations } from '../records.ts';
import { check } from '../validation.ts';
import {
  changedDestination,
  listDestinations,
  newDestination,
  removeDestination,
  showHealth,
  storeDestination,
  updateDestination,
} from './destination-record.ts';
import { createDestinationSchema, updateDestinationSchema } from './destination-schema.ts';
import { showDestination } from './destination-view.ts';
import { refuseConfig } from './destination-warehouse.ts';
import * as field from './fields.ts';

export function mountOrganizationDestinations(router: ApiRouter, deps: ApiDeps): void {
  const base = '/api/organizations/:orgId/destinations';
  router.get(base, (ctx) => listDestinations(ctx, deps, httpDestinations));
  router.post(base, (ctx) => create(ctx, deps));
  router.get(`${base}/:id`, (ctx) => get(ctx, deps));
  router.patch(`${base}/:id`, (ctx) => update(ctx, deps));
  router.delete(`${base}/:id`, (ctx) => removeDestination(ctx, deps, httpDestinations));
  router.get(`${base}/:id/health`, (ctx) => showHealth(ctx, deps, httpDestinations));
}

async function create(ctx: Context, deps: ApiDeps): Promise<void> {
  const input = await readMembers(ctx, createDestinationSchema);
  const record = newDestination(deps, organizationId(ctx), input);
  const destination = await storeDestination(ctx, deps, input.slug, record);
  ctx.status = 201;
  ctx.body = await showDestination(deps, destination);
}

async function get(ctx: Context, deps: ApiDeps): Promise<void> {
  const destination = await findDestination(entityManager(ctx, deps), param(ctx, 'id'), httpDestinations);
  ctx.body = await showDestination(deps, destination);
}

async function update(ctx: Context, deps: ApiDeps): Promise<void> {
  const { type: _same, ...members } = await readMembers(ctx, updateDestinationSchema);
  const patch = field.sent(members);
  const change = (stored: Destination) => changedDestination(deps, stored, patch);
  const destination = await updateDestination(ctx, deps, httpDestinations, patch.slug, change);
  ctx.body = await showDestination(deps, destination);
}

async function readMembers<Schema extends z.ZodType>(ctx: Context, schema: Schema): Promise<z.output<Schema>> {
  const body = await readJson(ctx);
  const members = check(schema, body, 'The body');
  refuseConfig(body);
  return members;
}
