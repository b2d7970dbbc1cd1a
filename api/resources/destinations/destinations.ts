// Destinations in two families of paths: all of them at /api/destinations, and the HTTP destinations of the same store below the
// organization. A warehouse is unknown in the second family.
import { z } from 'zod';
import { WAREHOUSE_TYPES } from '../../../core/warehouse/config.ts';
import { pausesOf } from '../../../db/circuits/pauses.ts';
import { deleteDestinations } from '../../../db/delivery/deletions.ts';
import { Destination } from '../../../db/records/entities.ts';
import { destinationHealth, destinationTotals } from '../../../db/ledger/statistics.ts';
import { noteRecords } from '../../auth/audit-trail.ts';
import { maySeeSecrets } from '../../auth/scopes.ts';
import { type ApiDeps, callerOf, type Context, entityManager, organizationId, param } from '../../request/context.ts';
import { invalid, notFound } from '../../request/errors.ts';
import { NO_CODE, type Operation } from '../../request/operation.ts';
import { booleanParam, containsPattern, listAnswer, newestFirst, pageParams, textParam } from '../../request/query.ts';
import { check, parseChoice, parseQuery, readJson } from '../../request/validation.ts';
import { sent } from '../fields.ts';
import {
  changedMembers,
  despiteConflicts,
  type DestinationIds,
  everyDestination,
  findDestination,
  httpDestinations,
  idsOfBulk,
  isoTime,
  putBySlug,
  requireId,
  requireWanted,
  slugOf,
  transactional,
  updateWithSlug,
  wellFormed,
} from '../records.ts';
import { refuseOwnUrl } from '../routes/route-record.ts';
import { count, exampleId, latency, listOf, percent, timestamp } from '../values.ts';
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
  slugRules,
  storeDestination,
  summarizeDestination,
} from './destination-record.ts';
import { testDestinationOperation } from './destination-test.ts';
import { changedWarehouse, isWarehouse, newWarehouse, refuseConfig, requireAccess } from './destination-warehouse.ts';

const listSchema = z.object({
  ...pageParams,
  enabled: booleanParam,
  search: textParam.meta({ description: 'A part of the name or address, whatever its case.' }),
});

const healthAnswer = z
  .object({
    successRate: percent,
    avgLatency: latency,
    p50Latency: latency,
    p95Latency: latency,
    p99Latency: latency,
    totalDeliveries: count,
    successfulDeliveries: count,
    failedDeliveries: count.meta({ examples: [0] }),
    lastDeliveryAt: timestamp.nullable(),
    lastSuccessAt: timestamp.nullable(),
    lastFailureAt: timestamp.nullable(),
    status: z.enum(['healthy', 'degraded', 'failing', 'unknown']).meta({
      description:
        'By the success rate: `healthy` above 95 %, `degraded` from 80 % on, `failing` below; `unknown` when no delivery ended.',
    }),
  })
  .meta({ id: 'DestinationHealth', description: 'Of the last time (HOOKYARD_HEALTH_WINDOW_HOURS, 24 by default).' });

/** What differs between the two families of paths. */
interface Family {
  ids: DestinationIds;
  base: string;
  tag: Operation['tag'];
  /** In operation ids: `getOrganizationDestination`. */
  name: string;
  /** In summaries: `a destination`. */
  one: string;
  many: string;
  summary: z.ZodType;
  answer: z.ZodType;
  createBody: z.ZodType;
  createDescription?: string;
  createExamples: Record<string, unknown>;
  updateBody: z.ZodType;
  refused: Operation['errors'];
  leadsTo: string[];
}

const refusedHttp = { 400: ['INVALID_URL', 'INVALID_SLUG', NO_CODE], 409: ['DUPLICATE_SLUG'] };
const refusedPut = { 400: ['INVALID_URL', 'INVALID_SLUG', NO_CODE], 403: [NO_CODE] };

const all: Family = {
  ids: everyDestination,
  base: '/api/destinations',
  tag: 'Destinations',
  name: 'Destination',
  one: 'a destination',
  many: 'destinations',
  summary: z.discriminatedUnion('type', [httpSummary, warehouseSummary]).meta({ id: 'DestinationSummary' }),
  answer: z.discriminatedUnion('type', [httpDestination, warehouseDestination]).meta({ id: 'Destination' }),
  createBody: z.union([createHttpBody, ...createWarehouseBodies]),
  createDescription: `Warehouses (${WAREHOUSE_TYPES.map((type) => `\`${type}\``).join(', ')}) need a Pro or Business plan.`,
  createExamples: {
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
  updateBody: z.union([updateDestinationSchema, updateWarehouseBody]),
  refused: { ...refusedHttp, 403: [NO_CODE] },
  leadsTo: [
    'getDestination',
    'updateDestination',
    'getDestinationHealth',
    'pauseDestination',
    'resumeDestination',
    'getOrganizationDestination',
    'deleteDestination',
  ],
};

const ofOrganization: Family = {
  ids: httpDestinations,
  base: '/api/organizations/{orgId}/destinations',
  tag: 'Organization destinations',
  name: 'OrganizationDestination',
  one: 'an HTTP destination',
  many: 'HTTP destinations',
  summary: httpSummary,
  answer: httpDestination,
  createBody: createHttpBody,
  createExamples: { plain: { name: 'CRM', url: 'https://example.com/hooks', description: 'Of the sales team' } },
  updateBody: updateDestinationSchema,
  refused: refusedHttp,
  leadsTo: ['getOrganizationDestination', 'updateOrganizationDestination', 'deleteOrganizationDestination'],
};

export const destinationOperations: Operation[] = [
  ...operationsOf(all),
  {
    tag: all.tag,
    idOf: all.ids,
    method: 'put',
    path: `${all.base}/by-slug/{slug}`,
    operationId: 'putDestination',
    versioned: true,
    run: put,
    summary: 'Create or replace the destination of a slug',
    description:
      'The destination becomes what a create would make of the body: what is left out goes back to its default. Credentials (`authType`, `authConfig`, `signingSecret`, the secret of a `config`) that are left out, or sent back masked, stay: the `authType` `none` and a `signingSecret` of null remove them. The `type` cannot be changed.',
    body: {
      schema: z.union([createHttpBody, putWarehouseBody]),
      examples: { plain: { name: 'CRM', url: 'https://example.com/hooks' } },
    },
    answer: {
      status: 200,
      description: 'The destination as it is now.',
      ofNew: 'The destination, which is new.',
      schema: all.answer,
    },
    errors: refusedPut,
  },
  testDestinationOperation(all.base),
];

const bulkSchema = z.strictObject({ ids: idsOfBulk });

export const deleteDestinationsOperation: Operation = {
  tag: all.tag,
  method: 'delete',
  path: `${all.base}/bulk`,
  operationId: 'deleteDestinations',
  run: removeMany,
  summary: 'Delete many destinations',
  description: 'Ids that do not exist are passed over.',
  body: { schema: bulkSchema, examples: { one: { ids: [exampleId('dst')] } } },
  answer: {
    status: 200,
    description: 'How many there were.',
    schema: z.object({ success: z.literal(true), deleted: count.meta({ examples: [1] }) }),
  },
};

export const organizationDestinationOperations: Operation[] = operationsOf(ofOrganization);

function operationsOf(family: Family): Operation[] {
  const { base, tag, name, one, many, answer } = family;
  const common = { tag, idOf: family.ids };
  const shown = { status: 200, description: 'The destination, secrets masked.', schema: answer } as const;
  return [
    {
      ...common,
      method: 'get',
      path: base,
      operationId: `list${name}s`,
      run: (ctx, deps) => list(ctx, deps, family),
      summary: `List ${many}`,
      query: listSchema,
      answer: { status: 200, description: 'One page, newest first.', schema: listOf(family.summary) },
    },
    {
      ...common,
      method: 'post',
      path: base,
      operationId: `create${name}`,
      versioned: true,
      run: (ctx, deps) => create(ctx, deps, family),
      summary: `Create ${one}`,
      ...(family.createDescription && { description: family.createDescription }),
      body: { schema: family.createBody, examples: family.createExamples },
      answer: { ...shown, status: 201, leadsTo: family.leadsTo },
      errors: family.refused,
    },
    {
      ...common,
      method: 'get',
      path: `${base}/{id}`,
      operationId: `get${name}`,
      versioned: true,
      run: (ctx, deps) => get(ctx, deps, family),
      summary: `Get ${one}`,
      answer: shown,
    },
    {
      ...common,
      method: 'patch',
      path: `${base}/{id}`,
      operationId: `update${name}`,
      versioned: true,
      run: (ctx, deps) => update(ctx, deps, family),
      summary: `Update ${one}`,
      description: 'Members that are not sent stay as they are; so does a secret that is sent back masked.',
      body: {
        schema: family.updateBody,
        examples: { disable: { enabled: false }, 'fewer retries': { retryPolicy: { maxRetries: 3 } } },
      },
      answer: { ...shown, description: 'The destination as it is now.' },
      errors: family.refused,
    },
    {
      ...common,
      method: 'delete',
      path: `${base}/{id}`,
      operationId: `delete${name}`,
      versioned: true,
      run: (ctx, deps) => remove(ctx, deps, family),
      summary: `Delete ${one}`,
      description: 'It is taken out of all routes; the history of its deliveries stays.',
      answer: { status: 204, description: 'It is deleted.' },
    },
    {
      ...common,
      method: 'get',
      path: `${base}/{id}/health`,
      operationId: `get${name}Health`,
      run: (ctx, deps) => showHealth(ctx, deps, family),
      summary: `Get ${one}'s health`,
      answer: { status: 200, description: 'The health.', schema: healthAnswer },
    },
  ];
}

async function list(ctx: Context, deps: ApiDeps, { ids }: Family): Promise<void> {
  const query = parseQuery(ctx, listSchema);
  const pattern = query.search && containsPattern(query.search);
  const [destinations, total] = await entityManager(ctx, deps).findAndCount(
    Destination,
    {
      ...(ids === httpDestinations && { type: 'http' }),
      ...(query.enabled !== undefined && { enabled: query.enabled }),
      ...(pattern && { $or: [{ name: { $ilike: pattern } }, { url: { $ilike: pattern } }] }),
    },
    newestFirst(query),
  );
  const listed = destinations.map(({ id }) => id);
  const [totals, pauses] = await Promise.all([
    destinationTotals(deps.pool, listed, deps.settings.HOOKYARD_HEALTH_WINDOW_HOURS),
    pausesOf(deps.pool, organizationId(ctx), listed),
  ]);
  const shown = destinations.map((destination) => {
    const { id } = destination;
    return summarizeDestination(deps, destination, { totals: totals.get(id), pause: pauses.get(id) });
  });
  ctx.body = listAnswer(shown, total, query);
}

async function create(ctx: Context, deps: ApiDeps, family: Family): Promise<void> {
  const { slug, record } = newRecord(ctx, deps, family, await readJson(ctx));
  const destination = await storeDestination(ctx, deps, slug, record);
  ctx.status = 201;
  ctx.body = await showDestination(ctx, deps, destination);
}

/** Checks a body as a create does. */
function newRecord(
  ctx: Context,
  deps: ApiDeps,
  { ids }: Family,
  body: unknown,
): { slug?: string; record: NewDestination } {
  const { organization } = callerOf(ctx);
  const type = ids === httpDestinations ? 'http' : check(typeSchema, body, 'The body').type;
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

async function get(ctx: Context, deps: ApiDeps, { ids }: Family): Promise<void> {
  ctx.body = await showDestination(ctx, deps, await findDestination(entityManager(ctx, deps), param(ctx, 'id'), ids));
}

async function update(ctx: Context, deps: ApiDeps, { ids }: Family): Promise<void> {
  const id = param(ctx, 'id');
  const body = await readJson(ctx);
  const found = await findDestination(entityManager(ctx, deps), id, ids);
  const schema = isWarehouse(found) ? updateWarehouseSchema : updateDestinationSchema;
  const { type, ...members } = check(schema, body, 'The body');
  if (type !== undefined && type !== found.type) throw invalid('type', UNCHANGEABLE);
  if (!isWarehouse(found)) refuseConfig(body);
  const patch = sent(members);
  const rights = { maySeeSecrets: maySeeSecrets(ctx) };
  const columns = (stored: Destination) => {
    if (!isWarehouse(stored)) return changedDestination(deps, stored, patch, rights);
    const changed = changedWarehouse(deps, stored, patch, rights);
    requireAccess(deps, callerOf(ctx).organization, { id, type: stored.type, config: changed.config });
    return changed;
  };
  const destination = await updateWithSlug(slugRules, patch.slug, () =>
    entityManager(ctx, deps).transactional(async (em) => {
      const stored = await findDestination(em, id, ids, 'lock');
      requireWanted(ctx, 'destination', stored);
      em.assign(stored, columns(stored));
      await refuseOwnUrl(em, deps, stored);
      return stored;
    }),
  );
  ctx.body = await showDestination(ctx, deps, destination);
}

const keySchema = typeSchema.extend({ slug: z.string().optional() });

async function put(ctx: Context, deps: ApiDeps): Promise<void> {
  const body = await readJson(ctx);
  const { type, slug: sentSlug } = check(keySchema, body, 'The body');
  const slug = slugOf(ctx, sentSlug);
  const destination = await putBySlug(ctx, deps, slug, {
    kind: 'destination',
    entity: Destination,
    create: async () => storeDestination(ctx, deps, slug, newRecord(ctx, deps, all, body).record),
    replace: (id) =>
      transactional(ctx, deps, async (em) => {
        const stored = await findDestination(em, id, undefined, 'lock');
        requireWanted(ctx, 'destination', stored);
        if (type !== stored.type) throw invalid('type', UNCHANGEABLE);
        em.assign(stored, changedMembers(stored, replacedDestination(ctx, deps, stored, body)));
        await refuseOwnUrl(em, deps, stored);
        return stored;
      }),
  });
  ctx.body = await showDestination(ctx, deps, destination);
}

/** Deletes a destination and signals the workflows of its open deliveries. */
async function remove(ctx: Context, deps: ApiDeps, { ids }: Family): Promise<void> {
  const id = param(ctx, 'id');
  requireId('destination', ids, id);
  const { deleted, cancelled } = await despiteConflicts(() =>
    deleteDestinations(deps.pool, organizationId(ctx), [id], ([removed], routeIds) => {
      if (removed) requireWanted(ctx, 'destination', removed);
      // They lead there no longer.
      noteRecords(ctx, routeIds);
    }),
  );
  if (deleted.length === 0) throw notFound('destination', id);
  deps.signals.cancelAll(cancelled);
  ctx.status = 204;
}

async function removeMany(ctx: Context, deps: ApiDeps): Promise<void> {
  const body = await parseChoice(ctx, bulkSchema);
  const ids = wellFormed(body.ids, everyDestination);
  const { deleted, cancelled } = await despiteConflicts(() =>
    deleteDestinations(deps.pool, organizationId(ctx), ids, (removed, routeIds) =>
      noteRecords(ctx, [...removed.map(({ id }) => id), ...routeIds]),
    ),
  );
  deps.signals.cancelAll(cancelled);
  ctx.body = { success: true, deleted: deleted.length };
}

async function showHealth(ctx: Context, deps: ApiDeps, { ids }: Family): Promise<void> {
  const { id } = await findDestination(entityManager(ctx, deps), param(ctx, 'id'), ids);
  const health = await destinationHealth(deps.pool, id, deps.settings.HOOKYARD_HEALTH_WINDOW_HOURS);
  ctx.body = {
    ...health,
    lastDeliveryAt: isoTime(health.lastDeliveryAt),
    lastSuccessAt: isoTime(health.lastSuccessAt),
    lastFailureAt: isoTime(health.lastFailureAt),
  };
}
