// Export and import of routes. An import stores all of its routes or, when anything is wrong with one of them, none.
import { isDeepStrictEqual } from 'node:util';
import { IsolationLevel } from '@mikro-orm/core';
import { z } from 'zod';
import { Route } from '../../db/records/entities.ts';
import { type KnownRoutes, knownRoutes } from '../../db/records/routes.ts';
import { type EntityManager, lockRecords } from '../../db/records/orm.ts';
import { requireRouteRoom } from '../auth/request-and-record-limits.ts';
import { type Context, entityManager, organizationId } from '../request/context.ts';
import { type Operation, operation } from '../request/operation.ts';
import { domainProblems, requireRecipients } from '../resources/alerts/notification-recipients.ts';
import { routeFileItem } from '../resources/routes/route-members.ts';
import { ownAddressProblems } from '../resources/routes/route-record.ts';
import { component, count, idOf, text } from '../resources/values.ts';
import * as exchange from './files.ts';
import {
  exportRoute,
  findReferences,
  itemSchema,
  missingReferences,
  readRouteItem,
  type References,
  renamed,
  type RouteItem,
} from './route-items.ts';
import { planRoutes, type Step } from './route-plan.ts';

const exportSchema = z.object({ ids: exchange.idsParam });

const routeResult = component('RouteImportResult', {
  imported: count,
  skipped: count,
  overwritten: count,
  errors: exchange.messages.describe('Route errors. If there are any, nothing was imported.'),
  warnings: exchange.messages,
  routes: z.array(
    z.object({
      id: idOf('rte').nullable().describe("The route's ID. Null if not stored."),
      name: text('Orders to the CRM'),
      status: z.enum(['created', 'skipped', 'overwritten']),
    }),
  ),
});

export const routeExchangeOperations: Operation[] = [
  operation('exportRoutes', 'get', '/api/routes/export', {
    tag: 'Routes',
    summary: 'Export routes',
    query: exportSchema,
    answer: {
      description: 'The export file, with one record per line. Records are referenced by slug.',
      schema: z.object({ ...exchange.envelope, routes: z.array(routeFileItem) }),
    },
    async run(ctx, { query: { ids } }) {
      const chosen = ids ? { id: { $in: ids } } : {};
      // One snapshot for a part, so that every record that its routes refer to is present.
      const read = (after: Pick<Route, 'id'> | null): Promise<exchange.Part<Pick<Route, 'id'>>> =>
        entityManager(ctx).transactional(
          async (em) => {
            // Oldest first: routes of the same priority run by age, and an import makes them in the order of the file.
            const routes = await em.find(
              Route,
              after === null ? chosen : { $and: [chosen, { id: { $gt: after.id } }] },
              {
                orderBy: { id: 'asc' },
                limit: exchange.PART,
              },
            );
            const slugs = await findReferences(em, 'id', routes);
            return { items: routes.map((route) => exportRoute(route, slugs)), last: routes.at(-1) };
          },
          { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true },
        );
      exchange.answerExport(ctx, 'routes', { first: await read(null), read });
    },
  }),
  {
    tag: 'Routes',
    method: 'post',
    path: '/api/routes/import',
    operationId: 'importRoutes',
    run: (ctx) => exchange.answerImport(ctx, 'routes', (file) => importRoutes(ctx, file)),
    summary: 'Import routes',
    description: 'Conflicts are detected by name. If any route is invalid, none is imported.',
    body: {
      schema: exchange.importOf('routes', itemSchema),
      examples: {
        'dry run': {
          ...exchange.exampleOptions,
          routes: [{ name: 'Orders to the CRM', sourceSlug: 'orders', destinationSlugs: ['crm'] }],
        },
      },
    },
    answer: { description: 'The result for each route.', schema: routeResult },
  },
];

async function importRoutes(ctx: Context, file: exchange.ImportRequest): Promise<ReturnType<typeof report>> {
  const { items, conflictStrategy, validateOnly } = file;
  const organization = organizationId(ctx);
  const isRenamed = conflictStrategy === 'rename';
  const checked = await exchange.checkItems('routes', items, readRouteItem);
  const usable = checked.flatMap((entry) => ('item' in entry ? entry : []));
  const slugs = usable.map(({ item }) => item.slugs);
  let rest = exchange.restsBetween();
  const result = await exchange.inImport(ctx, null, async (em) => {
    const ids = await findReferences(em, 'slug', slugs);
    const problems = checked.flatMap((entry) => ('item' in entry ? missingReferences(entry, ids) : entry.problems));
    if (problems.length > 0) return report([], problems);
    const routes = usable.map((entry) => valuesOf(entry, ids));
    const known = await knownRoutes(em, organization, { routes, isRenamed });
    const { steps, errors, warnings } = planRoutes(routes, known.routes, conflictStrategy);
    for (const { label, destinationIds } of routes) {
      if (destinationIds.length === 0) warnings.push(`${label}: delivers nothing because it has no destinations`);
    }
    errors.push(...(await ownAddressProblems(em, ctx.deps, routes)), ...domainProblems(ctx.deps, routes));
    if (errors.length > 0) return report([], errors, warnings);
    requireRoomForNew(ctx, steps, known);
    await requireRecipients(ctx, writtenEmails(steps));
    // From here on rows are locked, and statements that are about all organizations may wait for them: no rest before
    // the end.
    rest = exchange.restsBetween();
    if (!validateOnly) {
      // Sources like the create of a route does, so that no other route is stored for them meanwhile; not by the object
      // mapper: its lock would keep workers from storing rows that refer to the source. The others against deletion.
      await lockRecords(em, 'sources', organization, [...ids.source.values()]);
      const isSame =
        isDeepStrictEqual(await findReferences(em, 'slug', slugs, 'lock'), ids) &&
        isDeepStrictEqual(await knownRoutes(em, organization, { routes, isRenamed }), known);
      if (!isSame) throw new exchange.ChangedMeanwhileError('the records in the import have changed');
      await write(em, organization, steps);
    }
    const done = report(steps, [], warnings, validateOnly);
    exchange.noteImported(ctx, done.routes);
    return done;
  });
  await rest();
  return result;
}

function valuesOf({ label, item }: { label: string; item: RouteItem }, ids: References) {
  return { ...item.members, ...renamed(item.slugs, ids), name: item.name, label };
}

type RouteStep = Step<ReturnType<typeof valuesOf>>;

/** Of the plan: locking finds out whether other routes were made meanwhile. @throws ApiError 429 */
function requireRoomForNew(ctx: Context, steps: RouteStep[], known: KnownRoutes): void {
  const counts = new Map(known.counts.map(({ sourceId, count }) => [sourceId, count]));
  for (const { status, route } of steps) {
    if (status !== 'created') continue;
    const count = (counts.get(route.sourceId) ?? 0) + 1;
    counts.set(route.sourceId, count);
    requireRouteRoom(ctx, count);
  }
}

const writtenEmails = (steps: RouteStep[]): string =>
  steps.flatMap(({ status, route }) => (status === 'skipped' ? [] : (route.notifyEmails ?? []))).join();

async function write(em: EntityManager, organization: string, steps: RouteStep[]): Promise<void> {
  await lockRecords(em, 'routes', organization, exchange.overwrittenBy(steps));
  for (let from = 0; from < steps.length; from += exchange.GROUP) {
    const group = steps.slice(from, from + exchange.GROUP);
    const overwritten = exchange.overwrittenBy(group);
    const stored = overwritten.length > 0 ? await em.find(Route, { id: { $in: overwritten } }) : [];
    const byId = new Map(stored.map((route) => [route.id, route]));
    for (const { route, status, name, id } of group) {
      const { label: _label, ...values } = route;
      if (status === 'skipped' || id === null) continue;
      if (status === 'created') {
        em.create(Route, { ...values, name, id, organizationId: organization });
        continue;
      }
      const found = byId.get(id);
      if (!found) throw new exchange.ChangedMeanwhileError('a route was deleted while the import was overwriting it');
      em.assign(found, values, { mergeObjectProperties: false });
    }
    await em.flush();
    em.clear();
  }
}

/** The answer; in a dry run new routes have no id. */
function report(steps: RouteStep[], errors: string[], warnings: string[] = [], isDryRun = false) {
  const count = (status: RouteStep['status']) => steps.filter((step) => step.status === status).length;
  return {
    imported: count('created'),
    skipped: count('skipped'),
    overwritten: count('overwritten'),
    errors,
    warnings,
    routes: steps.map(({ id, name, status }) => ({ id: isDryRun && status === 'created' ? null : id, name, status })),
  };
}
