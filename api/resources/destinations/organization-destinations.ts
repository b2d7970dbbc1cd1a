// Destinations, organization-scoped family: the http destinations of the same store, with the same members. Warehouses are not
// part of this family: their ids are unknown here.
// Rules: DEST-38 to DEST-43.
import type { z } from 'zod';
import type { Destination } from '../../../db/entities.ts';
import { readJson } from '../../request/body.ts';
import { type ApiDeps, type Context, entityManager, organizationId, param } from '../../request/context.ts';
import {
  createDestinationSchema,
  createHttpBody,
  httpDestination,
  httpSummary,
  updateDestinationSchema,
} from './destination-members.ts';
import * as field from '../fields.ts';
import { listOf } from '../values.ts';
import { NO_CODE, type Operation } from '../../request/operation.ts';
import { findDestination, httpDestinations } from '../records.ts';
import { maySeeSecrets } from '../../auth/scopes.ts';
import { check } from '../../request/validation.ts';
import {
  changedDestination,
  healthAnswer,
  listDestinations,
  listSchema,
  newDestination,
  removeDestination,
  showHealth,
  storeDestination,
  updateDestination,
} from './destination-record.ts';
import { showDestination } from './destination-view.ts';
import { refuseConfig } from './destination-warehouse.ts';

const base = '/api/organizations/{orgId}/destinations';
const refused = { 400: ['INVALID_URL', 'INVALID_SLUG', NO_CODE], 409: ['DUPLICATE_SLUG'] };
const common = { tag: 'Organization destinations', idOf: ['dst'] } as const;

export const organizationDestinationOperations: Operation[] = [
  {
    ...common,
    method: 'get',
    path: base,
    operationId: 'listOrganizationDestinations',
    run: (ctx, deps) => listDestinations(ctx, deps, httpDestinations),
    summary: 'List HTTP destinations',
    query: listSchema,
    answer: {
      status: 200,
      description: 'One page, newest first.',
      schema: listOf(httpSummary),
    },
  },
  {
    ...common,
    method: 'post',
    path: base,
    operationId: 'createOrganizationDestination',
    versioned: true,
    run: create,
    summary: 'Create an HTTP destination',
    body: {
      schema: createHttpBody,
      examples: { plain: { name: 'CRM', url: 'https://example.com/hooks', description: 'Of the sales team' } },
    },
    answer: {
      status: 201,
      description: 'The destination.',
      schema: httpDestination,
      leadsTo: ['getOrganizationDestination', 'updateOrganizationDestination', 'deleteOrganizationDestination'],
    },
    errors: refused,
  },
  {
    ...common,
    method: 'get',
    path: `${base}/{id}`,
    operationId: 'getOrganizationDestination',
    versioned: true,
    run: get,
    summary: 'Get an HTTP destination',
    answer: { status: 200, description: 'The destination.', schema: httpDestination },
  },
  {
    ...common,
    method: 'patch',
    path: `${base}/{id}`,
    operationId: 'updateOrganizationDestination',
    versioned: true,
    run: update,
    summary: 'Update an HTTP destination',
    description: 'Members that are not sent stay as they are.',
    body: { schema: updateDestinationSchema, examples: { disable: { enabled: false } } },
    answer: { status: 200, description: 'The destination as it is now.', schema: httpDestination },
    errors: refused,
  },
  {
    ...common,
    method: 'delete',
    path: `${base}/{id}`,
    operationId: 'deleteOrganizationDestination',
    versioned: true,
    run: (ctx, deps) => removeDestination(ctx, deps, httpDestinations),
    summary: 'Delete an HTTP destination',
    description: 'It is taken out of all routes; the history of its deliveries stays.',
    answer: { status: 204, description: 'It is deleted.' },
  },
  {
    ...common,
    method: 'get',
    path: `${base}/{id}/health`,
    operationId: 'getOrganizationDestinationHealth',
    run: (ctx, deps) => showHealth(ctx, deps, httpDestinations),
    summary: "Get an HTTP destination's health",
    answer: { status: 200, description: 'The health.', schema: healthAnswer },
  },
];

async function create(ctx: Context, deps: ApiDeps): Promise<void> {
  const input = await readMembers(ctx, createDestinationSchema);
  const record = newDestination(deps, organizationId(ctx), input);
  const destination = await storeDestination(ctx, deps, input.slug, record);
  ctx.status = 201;
  ctx.body = await showDestination(ctx, deps, destination);
}

async function get(ctx: Context, deps: ApiDeps): Promise<void> {
  const destination = await findDestination(entityManager(ctx, deps), param(ctx, 'id'), httpDestinations);
  ctx.body = await showDestination(ctx, deps, destination);
}

async function update(ctx: Context, deps: ApiDeps): Promise<void> {
  const { type: _same, ...members } = await readMembers(ctx, updateDestinationSchema);
  const patch = field.sent(members);
  const rights = { maySeeSecrets: maySeeSecrets(ctx) };
  const change = (stored: Destination) => changedDestination(deps, stored, patch, rights);
  const destination = await updateDestination(ctx, deps, httpDestinations, patch.slug, change);
  ctx.body = await showDestination(ctx, deps, destination);
}

async function readMembers<Schema extends z.ZodType>(ctx: Context, schema: Schema): Promise<z.output<Schema>> {
  const body = await readJson(ctx);
  const members = check(schema, body, 'The body');
  refuseConfig(body);
  return members;
}
