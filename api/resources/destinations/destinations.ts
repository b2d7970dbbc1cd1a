// Destinations of both kinds, at /api/destinations.
// Rules: DEST-29 to DEST-31, DEST-35.
import { z } from 'zod';
import { WAREHOUSE_TYPES } from '../../../core/warehouse/config.ts';
import type { Destination } from '../../../db/entities.ts';
import { readJson } from '../../request/body.ts';
import { type ApiDeps, type Context, callerOf, entityManager, param } from '../../request/context.ts';
import { invalid } from '../../request/errors.ts';
import {
  createDestinationSchema,
  createHttpBody,
  httpDestination,
  httpSummary,
  requirePlan,
  typeSchema,
  UNCHANGEABLE,
  updateDestinationSchema,
} from './destination-members.ts';
import * as field from '../fields.ts';
import { listOf } from '../values.ts';
import {
  createWarehouseBodies,
  createWarehouseSchema,
  putWarehouseBody,
  updateWarehouseBody,
  updateWarehouseSchema,
  warehouseDestination,
  warehouseExample,
  warehouseSummary,
} from './warehouse-members.ts';
import { NO_CODE, type Operation } from '../../request/operation.ts';
import { everyDestination, findDestination } from '../records.ts';
import { maySeeSecrets } from '../../auth/scopes.ts';
import { check } from '../../request/validation.ts';
import {
  changedDestination,
  healthAnswer,
  listDestinations,
  listSchema,
  type NewDestination,
  newDestination,
  removeDestination,
  showHealth,
  storeDestination,
  updateDestination,
} from './destination-record.ts';
import { showDestination } from './destination-view.ts';
import { putDestinationOperation } from './destination-put.ts';
import { testDestinationOperation } from './destination-test.ts';
import { changedWarehouse, isWarehouse, newWarehouse, refuseConfig } from './destination-warehouse.ts';
import { requireAccess } from './warehouse-access.ts';

const summary = z.discriminatedUnion('type', [httpSummary, warehouseSummary]).meta({ id: 'DestinationSummary' });
const destinationAnswer = z
  .discriminatedUnion('type', [httpDestination, warehouseDestination])
  .meta({ id: 'Destination' });
const createBody = z.union([createHttpBody, ...createWarehouseBodies]);
const putBody = z.union([createHttpBody, putWarehouseBody]);
const updateBody = z.union([updateDestinationSchema, updateWarehouseBody]);

const base = '/api/destinations';
const common = { tag: 'Destinations', idOf: ['dst', 'dst_wh'] } as const;
const refusedPut = { 400: ['INVALID_URL', 'INVALID_SLUG', NO_CODE], 403: [NO_CODE] };
const refused = { ...refusedPut, 409: ['DUPLICATE_SLUG'] };

export const destinationOperations: Operation[] = [
  {
    ...common,
    method: 'get',
    path: base,
    operationId: 'listDestinations',
    run: (ctx, deps) => listDestinations(ctx, deps, everyDestination),
    summary: 'List destinations',
    query: listSchema,
    answer: { status: 200, description: 'One page, newest first.', schema: listOf(summary) },
  },
  {
    ...common,
    method: 'post',
    path: base,
    operationId: 'createDestination',
    versioned: true,
    run: create,
    summary: 'Create a destination',
    description: `Warehouses (${WAREHOUSE_TYPES.map((type) => `\`${type}\``).join(', ')}) need a Pro or Business plan.`,
    body: {
      schema: createBody,
      examples: {
        plain: { name: 'CRM', url: 'https://example.com/hooks' },
        'with credentials and limits': {
          name: 'ERP',
          url: 'https://erp.example.com/in',
          method: 'PUT',
          headers: { 'X-Tenant': 'acme' },
          authType: 'bearer',
          authConfig: { token: 'the token of the ERP' },
          timeoutMs: 10_000,
          rateLimitPerMinute: 600,
          retryPolicy: { maxRetries: 8, maxDelay: 600_000 },
        },
        warehouse: warehouseExample,
      },
    },
    answer: {
      status: 201,
      description: 'The destination, secrets masked.',
      schema: destinationAnswer,
      leadsTo: [
        'getDestination',
        'updateDestination',
        'getDestinationHealth',
        'pauseDestination',
        'resumeDestination',
        'getOrganizationDestination',
        'deleteDestination',
      ],
    },
    errors: refused,
  },
  {
    ...common,
    method: 'get',
    path: `${base}/{id}`,
    operationId: 'getDestination',
    versioned: true,
    run: get,
    summary: 'Get a destination',
    answer: { status: 200, description: 'The destination, secrets masked.', schema: destinationAnswer },
  },
  {
    ...common,
    method: 'patch',
    path: `${base}/{id}`,
    operationId: 'updateDestination',
    versioned: true,
    run: update,
    summary: 'Update a destination',
    description: 'Members that are not sent stay as they are; so does a secret that is sent back masked.',
    body: {
      schema: updateBody,
      examples: { disable: { enabled: false }, 'fewer retries': { retryPolicy: { maxRetries: 3 } } },
    },
    answer: { status: 200, description: 'The destination as it is now.', schema: destinationAnswer },
    errors: refused,
  },
  putDestinationOperation({ ...common, base, body: putBody, answer: destinationAnswer, errors: refusedPut }, newRecord),
  {
    ...common,
    method: 'delete',
    path: `${base}/{id}`,
    operationId: 'deleteDestination',
    versioned: true,
    run: (ctx, deps) => removeDestination(ctx, deps, everyDestination),
    summary: 'Delete a destination',
    description: 'It is taken out of all routes; the history of its deliveries stays.',
    answer: { status: 204, description: 'It is deleted.' },
  },
  {
    ...common,
    method: 'get',
    path: `${base}/{id}/health`,
    operationId: 'getDestinationHealth',
    run: (ctx, deps) => showHealth(ctx, deps, everyDestination),
    summary: "Get a destination's health",
    answer: { status: 200, description: 'The health.', schema: healthAnswer },
  },
  testDestinationOperation(base),
];

async function create(ctx: Context, deps: ApiDeps): Promise<void> {
  const { slug, record } = newRecord(ctx, deps, await readJson(ctx));
  const destination = await storeDestination(ctx, deps, slug, record);
  ctx.status = 201;
  ctx.body = await showDestination(ctx, deps, destination);
}

function newRecord(ctx: Context, deps: ApiDeps, body: unknown): { slug?: string; record: NewDestination } {
  const { type } = check(typeSchema, body, 'The body');
  const { organization } = callerOf(ctx);
  requirePlan(organization.plan, type);
  if (type === 'http') {
    const input = check(createDestinationSchema, body, 'The body');
    refuseConfig(body);
    return { slug: input.slug, record: newDestination(deps, organization.id, input) };
  }
  const input = check(createWarehouseSchema, body, 'The body');
  const record = newWarehouse(deps, organization.id, type, input);
  requireAccess(deps, organization, record);
  return { slug: input.slug, record };
}

async function get(ctx: Context, deps: ApiDeps): Promise<void> {
  ctx.body = await showDestination(ctx, deps, await findDestination(entityManager(ctx, deps), param(ctx, 'id')));
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
  const rights = { maySeeSecrets: maySeeSecrets(ctx) };
  const change = (stored: Destination) => {
    if (!isWarehouse(stored)) return changedDestination(deps, stored, patch, rights);
    const changed = changedWarehouse(deps, stored, patch, rights);
    requireAccess(deps, callerOf(ctx).organization, { id: stored.id, type: stored.type, config: changed.config });
    return changed;
  };
  ctx.body = await showDestination(ctx, deps, await updateDestination(ctx, deps, everyDestination, patch.slug, change));
}
