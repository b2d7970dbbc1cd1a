// Destinations in two families of paths: all of them at /api/destinations, and the HTTP destinations of the same store
// below the organization. A warehouse is unknown in the second family.
import { z } from 'zod';
import type { IdPrefix } from '../../../core/text/ids.ts';
import { WAREHOUSE_TYPES } from '../../../core/warehouse/config.ts';
import { pausesOf } from '../../../db/circuits/pauses.ts';
import { deleteDestinations } from '../../../db/delivery/deletions.ts';
import { Destination } from '../../../db/records/entities.ts';
import type { EntityManager } from '../../../db/records/orm.ts';
import { destinationHealth, destinationTotals } from '../../../db/ledger/statistics.ts';
import { noteRecords } from '../../auth/audit-trail.ts';
import { maySeeSecrets } from '../../auth/scopes.ts';
import { callerOf, type Context, entityManager, organizationId, param } from '../../request/context.ts';
import { invalid, notFound } from '../../request/errors.ts';
import { type ErrorCodes, NO_CODE, type Operation, operation, type RequestBody } from '../../request/operation.ts';
import { booleanParam } from '../../request/query.ts';
import { check, readJson } from '../../request/validation.ts';
import { crudOperations, oneOf, type Resource } from '../crud.ts';
import { sent } from '../fields.ts';
import {
  changedMembers,
  changeRecord,
  despiteConflicts,
  findDestination,
  findHttpDestination,
  idsOfBulk,
  matching,
  orDuplicateSlug,
  putBySlug,
  requireId,
  requireWanted,
  searchParams,
  slugOf,
} from '../records.ts';
import { refuseOwnUrl } from '../routes/route-record.ts';
import { component, count, exampleId, latency, percent, timestamp, withExample } from '../values.ts';
import {
  createDestinationSchema,
  createHttpBody,
  createWarehouseBodies,
  createWarehouseSchema,
  httpDestination,
  httpSummary,
  putWarehouseBody,
  requirePlan,
  typeSchema,
  UNCHANGEABLE,
  updateDestinationSchema,
  updateWarehouseBody,
  updateWarehouseSchema,
  warehouseDestination,
  warehouseExample,
  warehouseSummary,
} from './destination-members.ts';
import {
  changedDestination,
  type NewDestination,
  newDestination,
  replacedDestination,
  showDestination,
  storeDestination,
  summarizeDestination,
} from './destination-record.ts';
import { changedWarehouse, isWarehouse, newWarehouse, refuseConfig, requireAccess } from './destination-warehouse.ts';

const healthAnswer = component(
  'DestinationHealth',
  {
    successRate: percent,
    avgLatency: latency,
    p50Latency: latency,
    p95Latency: latency,
    p99Latency: latency,
    totalDeliveries: count,
    successfulDeliveries: count,
    failedDeliveries: withExample(count, 0),
    lastDeliveryAt: timestamp.nullable(),
    lastSuccessAt: timestamp.nullable(),
    lastFailureAt: timestamp.nullable(),
    status: z
      .enum(['healthy', 'degraded', 'failing', 'unknown'])
      .describe(
        'Health by success rate: `healthy` above 95%, `degraded` from 80% to 95%, `failing` below 80%. `unknown` if there are no finished deliveries.',
      ),
  },
  'Health over the last `HOOKYARD_HEALTH_WINDOW_HOURS` hours (24 by default); the timestamps may be older. Without finished deliveries, the numbers are 0.',
);

const refused = { 400: ['INVALID_URL', 'INVALID_SLUG', NO_CODE], 409: ['DUPLICATE_SLUG'] };
const base = '/api/destinations';
const answer = z.discriminatedUnion('type', [httpDestination, warehouseDestination]).meta({ id: 'Destination' });

export const destinationOperations: Operation[] = operationsOf({
  tag: 'Destinations',
  base,
  name: 'Destination',
  noun: 'destination',
  item: z.discriminatedUnion('type', [httpSummary, warehouseSummary]).meta({ id: 'DestinationSummary' }),
  answer,
  createBody: {
    schema: z.union([createHttpBody, ...createWarehouseBodies]),
    examples: {
      plain: { name: 'CRM', url: 'https://example.com/hooks' },
      'with credentials and limits': {
        name: 'ERP',
        url: 'https://erp.example.com/in',
        method: 'PUT',
        headers: { 'X-Tenant': 'acme' },
        authType: 'bearer',
        authConfig: { token: 'the ERP token' },
        timeoutMs: 10_000,
        rateLimitPerMinute: 600,
        retryPolicy: { maxRetries: 8, maxDelay: 600_000 },
      },
      warehouse: warehouseExample,
    },
  },
  description: `Warehouses (${WAREHOUSE_TYPES.map((type) => `\`${type}\``).join(', ')}) require a Pro or Business plan.`,
  updateBody: z.union([updateDestinationSchema, updateWarehouseBody]),
  errors: { ...refused, 403: [NO_CODE] },
  leadsTo: ['getDestinationHealth', 'pauseDestination', 'resumeDestination', 'getOrganizationDestination'],
  put: {
    run: put,
    description:
      'Credentials (`authType`, `authConfig`, `signingSecret`, the secret in `config`) that are omitted or sent back masked are kept. An `authType` of `none` removes the `authConfig`; a `signingSecret` of null removes the signing secret. The `type` cannot be changed.',
    body: {
      schema: z.union([createHttpBody, putWarehouseBody]),
      examples: { plain: { name: 'CRM', url: 'https://example.com/hooks' } },
    },
    errors: { 400: refused[400], 403: [NO_CODE] },
  },
});

export const organizationDestinationOperations: Operation[] = operationsOf({
  type: 'http',
  tag: 'Organization destinations',
  base: '/api/organizations/{orgId}/destinations',
  name: 'OrganizationDestination',
  noun: 'HTTP destination',
  item: httpSummary,
  answer: httpDestination,
  createBody: {
    schema: createHttpBody,
    examples: { plain: { name: 'CRM', url: 'https://example.com/hooks', description: 'Sales team' } },
  },
  updateBody: updateDestinationSchema,
  errors: refused,
});

interface Family extends Pick<Resource<Destination, z.ZodObject>, 'tag' | 'base' | 'name' | 'noun' | 'answer' | 'put'> {
  /** The only type that it has; undefined: every type. */
  type?: 'http';
  item: z.ZodType;
  createBody: RequestBody;
  description?: string;
  updateBody: z.ZodType;
  errors: ErrorCodes;
  leadsTo?: string[];
}

function operationsOf(family: Family): Operation[] {
  const { type, item, createBody, description, updateBody, errors, leadsTo = [], ...common } = family;
  const find = type === 'http' ? findHttpDestination : findDestination;
  return [
    ...crudOperations({
      ...common,
      entity: Destination,
      find,
      show: (ctx, records) => Promise.all(records.map((each) => showDestination(ctx, each))),
      list: {
        query: z.object({ ...searchParams('name or URL'), enabled: booleanParam }),
        where: (query) => ({ ...(type && { type }), ...matching(query, 'name', 'url') }),
        item,
        show: summarizeAll,
      },
      create: {
        async run(ctx) {
          const { slug, record } = newRecord(ctx, await readJson(ctx), type);
          return storeDestination(ctx, slug, record);
        },
        ...(description && { description }),
        body: createBody,
        errors,
        leadsTo,
      },
      update: {
        run: (ctx) => update(ctx, find),
        description: 'Secrets that are sent back masked keep their values.',
        body: {
          schema: updateBody,
          examples: { disable: { enabled: false }, 'fewer retries': { retryPolicy: { maxRetries: 3 } } },
        },
        errors,
      },
      remove: {
        run: (ctx) => remove(ctx, find.prefixes),
        description:
          'Also removes the destination from all routes and cancels its open deliveries. Its delivery history is kept.',
      },
    }),
    operation(`get${common.name}Health`, 'get', `${common.base}/{id}/health`, {
      tag: common.tag,
      of: find,
      summary: `Get ${oneOf(common.noun)}'s health`,
      answer: { description: 'The success rate, latencies and status.', schema: healthAnswer },
      run: (ctx, { record: { id } }) =>
        destinationHealth(ctx.deps.pool, id, ctx.deps.settings.HOOKYARD_HEALTH_WINDOW_HOURS),
    }),
  ];
}

export const deleteDestinationsOperation = operation('deleteDestinations', 'delete', `${base}/bulk`, {
  tag: 'Destinations',
  summary: 'Delete multiple destinations',
  description: 'Also removes them from all routes and cancels their open deliveries. Unknown IDs are skipped.',
  body: { selects: true, schema: z.strictObject({ ids: idsOfBulk }), examples: { one: { ids: [exampleId('dst')] } } },
  answer: {
    description: 'The number of deleted destinations.',
    schema: z.object({ success: z.literal(true), deleted: withExample(count, 1) }),
  },
  async run(ctx, { body }) {
    const { deleted, cancelled } = await despiteConflicts(() =>
      deleteDestinations(ctx.deps.pool, organizationId(ctx), body.ids, (removed, routeIds) =>
        noteRecords(ctx, [...removed.map(({ id }) => id), ...routeIds]),
      ),
    );
    ctx.deps.signals.cancelAll(cancelled);
    return { success: true, deleted: deleted.length };
  },
});

async function summarizeAll(ctx: Context, destinations: Destination[]) {
  const ids = destinations.map(({ id }) => id);
  const [totals, pauses] = await Promise.all([
    destinationTotals(ctx.deps.pool, ids, ctx.deps.settings.HOOKYARD_HEALTH_WINDOW_HOURS),
    pausesOf(ctx.deps.pool, organizationId(ctx), ids),
  ]);
  return destinations.map((each) => summarizeDestination(ctx.deps, each, totals.get(each.id), pauses.get(each.id)));
}

function newRecord(ctx: Context, body: unknown, only?: 'http'): { slug?: string; record: NewDestination } {
  const { organization } = callerOf(ctx);
  const type = only ?? check(typeSchema, body).type;
  requirePlan(organization.plan, type);
  if (type === 'http') {
    const input = check(createDestinationSchema, body);
    refuseConfig(body);
    return { slug: input.slug, record: newDestination(ctx.deps, organization.id, input) };
  }
  const input = check(createWarehouseSchema, body);
  const record = newWarehouse(ctx.deps, organization.id, type, input);
  requireAccess(ctx.deps, organization, record);
  return { slug: input.slug, record };
}

async function update(ctx: Context, find: typeof findDestination): Promise<Destination> {
  const id = param(ctx, 'id');
  const body = await readJson(ctx);
  const found = await find(entityManager(ctx), id);
  const schema = isWarehouse(found) ? updateWarehouseSchema : updateDestinationSchema;
  const { type, ...members } = check(schema, body);
  if (type !== undefined && type !== found.type) throw invalid('type', UNCHANGEABLE);
  if (!isWarehouse(found)) refuseConfig(body);
  const patch = sent(members);
  const rights = { maySeeSecrets: maySeeSecrets(ctx) };
  const columns = (stored: Destination) => {
    if (!isWarehouse(stored)) return changedDestination(ctx.deps, stored, patch, rights);
    const changed = changedWarehouse(ctx.deps, stored, patch, rights);
    requireAccess(ctx.deps, callerOf(ctx).organization, { id, type: stored.type, config: changed.config });
    return changed;
  };
  return orDuplicateSlug('destination', patch.slug, () =>
    changeRecord(ctx, find, async (stored, em) => {
      em.assign(stored, columns(stored));
      await refuseOwnUrl(em, ctx.deps, stored);
    }),
  );
}

const keySchema = typeSchema.extend({ slug: z.string().optional() });

async function put(ctx: Context): Promise<Destination> {
  const body = await readJson(ctx);
  const { type, slug: sentSlug } = check(keySchema, body);
  const slug = slugOf(ctx, sentSlug);
  const replace = async (stored: Destination, em: EntityManager) => {
    if (type !== stored.type) throw invalid('type', UNCHANGEABLE);
    em.assign(stored, changedMembers(stored, replacedDestination(ctx, stored, body)));
    await refuseOwnUrl(em, ctx.deps, stored);
  };
  return putBySlug(ctx, slug, {
    ...{ kind: 'destination', entity: Destination },
    create: async () => storeDestination(ctx, slug, newRecord(ctx, body).record),
    replace: (id) => changeRecord(ctx, findDestination, replace, id),
  });
}

async function remove(ctx: Context, prefixes: readonly IdPrefix[]): Promise<void> {
  const id = param(ctx, 'id');
  requireId('destination', prefixes, id);
  const { deleted, cancelled } = await despiteConflicts(() =>
    deleteDestinations(ctx.deps.pool, organizationId(ctx), [id], ([removed], routeIds) => {
      if (removed) requireWanted(ctx, 'destination', removed);
      // They lead there no longer.
      noteRecords(ctx, routeIds);
    }),
  );
  if (deleted.length === 0) throw notFound('destination', id);
  ctx.deps.signals.cancelAll(cancelled);
}
