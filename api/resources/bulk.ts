// Many destinations or routes in one request. Each request is one transaction and counts what existed; ids of nothing, and of other
// organizations, are passed over.
// Rules: DEST-33, ROUTE-37, ROUTE-38, ROUTE-46, ROUTE-47.
import { z } from 'zod';
import { type IdPrefix, isId } from '../../core/ids.ts';
import { deleteDestinations } from '../../db/delivery/delivery-commands.ts';
import { deleteRoutes, enableRoutes } from '../../db/management/routes.ts';
import { type ApiDeps, type ApiRouter, type Context, organizationId } from '../context.ts';
import { parseChoice } from '../validation.ts';

const MAX_IDS = 100;
const ids = z.array(z.string()).min(1).max(MAX_IDS);
export const destinationsSchema = z.strictObject({ ids });
export const routesSchema = z.strictObject({ routeIds: ids });
export const pauseSchema = z.strictObject({ routeIds: ids, isActive: z.boolean() });

export function mountBulk(router: ApiRouter, deps: ApiDeps): void {
  router.delete('/api/destinations/bulk', (ctx) => removeDestinations(ctx, deps));
  router.post('/api/routes/bulk-pause', (ctx) => pauseRoutes(ctx, deps));
  router.post('/api/routes/bulk-delete', (ctx) => removeRoutes(ctx, deps));
}

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

async function pauseRoutes(ctx: Context, deps: ApiDeps): Promise<void> {
  const { routeIds, isActive } = await parseChoice(ctx, pauseSchema);
  const routes = await enableRoutes(deps.pool, organizationId(ctx), wellFormed(routeIds, 'rte'), isActive);
  ctx.body = { updated: routes.length, routes: routes.map(({ id, name }) => ({ id, name, isActive })) };
}

async function removeRoutes(ctx: Context, deps: ApiDeps): Promise<void> {
  const { routeIds } = await parseChoice(ctx, routesSchema);
  const routes = await deleteRoutes(deps.pool, organizationId(ctx), wellFormed(routeIds, 'rte'));
  ctx.body = { deleted: routes.length, routes };
}

/** The ids that could exist: other texts cannot be in the database. */
function wellFormed(texts: string[], ...prefixes: IdPrefix[]): string[] {
  return texts.filter((text) => prefixes.some((prefix) => isId(prefix, text)));
}
