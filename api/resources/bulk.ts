// Many destinations or routes in one request. Each request is one transaction and counts the existing records; unknown ids, and
// ids of other organizations, are ignored.
// Rules: DEST-33, ROUTE-37, ROUTE-38, ROUTE-46, ROUTE-47.
import { z } from 'zod';
import { type IdPrefix, isId } from '../../core/text/ids.ts';
import { deleteDestinations } from '../../db/delivery/delivery-commands.ts';
import { deleteRoutes, enableRoutes, type NamedRoute } from '../../db/management/routes.ts';
import { inTransaction, type Queryable } from '../../db/connections/pool.ts';
import { type ApiDeps, type Context, organizationId } from '../request/context.ts';
import { noteRecords } from '../auth/audit-trail.ts';
import { count, exampleId, flag, named } from './values.ts';
import type { Operation } from '../request/operation.ts';
import { parseChoice } from '../request/validation.ts';
import { despiteConflicts } from './transactions.ts';

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
    summary: 'Disable or enable many routes',
    description: 'A disabled route takes no webhooks. Ids that do not exist are passed over.',
    body: { schema: pauseSchema, examples: { disable: { routeIds: [exampleId('rte')], isActive: false } } },
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
  const ids = wellFormed(body.ids, 'dst', 'dst_wh');
  const { deleted, cancelled } = await despiteConflicts(() =>
    deleteDestinations(deps.pool, organizationId(ctx), ids, (removed, routeIds) =>
      noteRecords(ctx, [...removed.map(({ id }) => id), ...routeIds]),
    ),
  );
  deps.signals.cancelAll(cancelled);
  ctx.body = { success: true, deleted: deleted.length };
}

async function pauseRoutes(ctx: Context, deps: ApiDeps): Promise<void> {
  const { routeIds, isActive } = await parseChoice(ctx, pauseSchema);
  const routes = await changeRoutes(ctx, deps, routeIds, (db, ids) =>
    enableRoutes(db, organizationId(ctx), ids, isActive),
  );
  ctx.body = { updated: routes.length, routes: routes.map(({ id, name }) => ({ id, name, isActive })) };
}

async function removeRoutes(ctx: Context, deps: ApiDeps): Promise<void> {
  const { routeIds } = await parseChoice(ctx, routesSchema);
  const routes = await changeRoutes(ctx, deps, routeIds, (db, ids) => deleteRoutes(db, organizationId(ctx), ids));
  ctx.body = { deleted: routes.length, routes };
}

function changeRoutes(
  ctx: Context,
  { pool }: ApiDeps,
  ids: string[],
  change: (db: Queryable, ids: string[]) => Promise<NamedRoute[]>,
): Promise<NamedRoute[]> {
  return inTransaction(pool, async (db) => {
    const changed = await change(db, wellFormed(ids, 'rte'));
    noteRecords(
      ctx,
      changed.map(({ id }) => id),
    );
    return changed;
  });
}

/** The valid ids: other strings cannot be in the database. */
function wellFormed(texts: string[], ...prefixes: IdPrefix[]): string[] {
  return texts.filter((text) => prefixes.some((prefix) => isId(prefix, text)));
}
