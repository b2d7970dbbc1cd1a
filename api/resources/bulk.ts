// Many destinations or routes in one request (interface.md, "Destinations, flat family" and "Routes (flat family)").
// Each request is one transaction and counts what existed; ids of nothing, and of other organizations, are passed over
// (decisions, "Bulk and import limits").
import { z } from 'zod';
import { type IdPrefix, isId } from '../../core/ids.ts';
import { deleteDestinations } from '../../db/delivery-commands.ts';
import { type ApiDeps, type Context, organizationId } from '../context.ts';
import { count, exampleId, flag, named } from '../members/values.ts';
import type { Operation } from '../operation.ts';
import { parseChoice } from '../validation.ts';

const MAX_IDS = 100;
const ids = z.array(z.string()).min(1).max(MAX_IDS);
const destinationsSchema = z.strictObject({ ids });
const routesSchema = z.strictObject({ routeIds: ids });
const pauseSchema = z.strictObject({ routeIds: ids, isActive: z.boolean() });

export const bulkOperations: Operation[] = [
  {
    tag: 'Destinations',
    method: 'delete',
    path: '/api/destinations/bulk',
    operationId: 'deleteDestinations',
    run: removeDestinations,
    summary: 'Delete many destinations',
    description: 'Ids that do not exist are passed over.',
    body: { schema: destinationsSchema, examples: { one: { ids: [exampleId('dst')] } } },
    answer: {
      status: 200,
      description: 'How many there were.',
      schema: z.object({ success: z.literal(true), deleted: count.meta({ examples: [1] }) }),
    },
  },
  {
    tag: 'Routes',
    method: 'post',
    path: '/api/routes/bulk-pause',
    operationId: 'pauseRoutes',
    run: pauseRoutes,
    summary: 'Pause or resume many routes',
    description: 'Ids that do not exist are passed over.',
    body: { schema: pauseSchema, examples: { pause: { routeIds: [exampleId('rte')], isActive: false } } },
    answer: {
      status: 200,
      description: 'The routes that there are.',
      schema: z.object({
        updated: count.meta({ examples: [1] }),
        routes: z.array(named('rte', 'Orders to the CRM').extend({ isActive: flag(false) })),
      }),
    },
  },
  {
    tag: 'Routes',
    method: 'post',
    path: '/api/routes/bulk-delete',
    operationId: 'deleteRoutes',
    run: removeRoutes,
    summary: 'Delete many routes',
    description: 'Irreversible. Ids that do not exist are passed over.',
    body: { schema: routesSchema, examples: { one: { routeIds: [exampleId('rte')] } } },
    answer: {
      status: 200,
      description: 'The routes that there were.',
      schema: z.object({ deleted: count.meta({ examples: [1] }), routes: z.array(named('rte', 'Orders to the CRM')) }),
    },
  },
];

async function removeDestinations(ctx: Context, deps: ApiDeps): Promise<void> {
  const body = await parseChoice(ctx, destinationsSchema);
  const { deleted, cancelled } = await deleteDestinations(
    deps.pool,
    organizationId(ctx),
    wellFormed(body.ids, 'dst', 'dst_wh'),
  );
  deps.signals.cancelAll(cancelled);
  ctx.body = { success: true, deleted: deleted.length };
}

// The rows are locked in the order of their ids, so that two requests for the same routes queue. A route that is in the
// wanted state already is counted and left as it is.
const PAUSE = `
with chosen as materialized (
  select id, name, enabled from routes where id = any($2::text[]) and organization_id = $1 order by id for update
), changed as (
  update routes r set enabled = $3, version = r.version + 1, updated_at = now()
  from chosen c where r.id = c.id and c.enabled <> $3
)
select id, name from chosen order by array_position($2::text[], id)`;

async function pauseRoutes(ctx: Context, deps: ApiDeps): Promise<void> {
  const { routeIds, isActive } = await parseChoice(ctx, pauseSchema);
  const { rows } = await deps.pool.query<{ id: string; name: string }>(PAUSE, [
    organizationId(ctx),
    wellFormed(routeIds, 'rte'),
    isActive,
  ]);
  ctx.body = { updated: rows.length, routes: rows.map(({ id, name }) => ({ id, name, isActive })) };
}

const REMOVE_ROUTES = `
with chosen as materialized (
  select id, name from routes where id = any($2::text[]) and organization_id = $1 order by id for update
), removed as (
  delete from routes r using chosen c where r.id = c.id
)
select id, name from chosen order by array_position($2::text[], id)`;

async function removeRoutes(ctx: Context, deps: ApiDeps): Promise<void> {
  const { routeIds } = await parseChoice(ctx, routesSchema);
  const { rows } = await deps.pool.query<{ id: string; name: string }>(REMOVE_ROUTES, [
    organizationId(ctx),
    wellFormed(routeIds, 'rte'),
  ]);
  ctx.body = { deleted: rows.length, routes: rows };
}

/** The ids that could exist: other texts cannot be in the database. */
function wellFormed(texts: string[], ...prefixes: IdPrefix[]): string[] {
  return texts.filter((text) => prefixes.some((prefix) => isId(prefix, text)));
}
