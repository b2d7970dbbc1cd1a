// Export and import of routes. An import stores all of its routes or, when anything is wrong with one of them, none.
import { isDeepStrictEqual } from 'node:util';
import { IsolationLevel } from '@mikro-orm/core';
import { z } from 'zod';
import { newId } from '../../core/text/ids.ts';
import { Route } from '../../db/records/entities.ts';
import { type EntityManager, lockRecords } from '../../db/records/orm.ts';
import { type KnownRoute, pathOf, type KnownRoutes, knownRoutes } from '../../db/records/routes.ts';
import { requireRouteRoom } from '../auth/request-and-record-limits.ts';
import { type Context, entityManager, organizationId } from '../request/context.ts';
import { type Operation, operation } from '../request/operation.ts';
import { domainProblems, requireRecipients } from '../resources/alerts/notification-recipients.ts';
import { routeFileItem } from '../resources/routes/route-members.ts';
import { ownAddressProblems } from '../resources/routes/route-record.ts';
import { component, count, idOf, text } from '../resources/values.ts';
import type { ConflictStrategy } from './files.ts';
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

// What an import does with each route, by the file and the existing routes.

const MAX_NAME_LENGTH = 255;

interface NewRoute extends Omit<KnownRoute, 'id'> {
  label: string;
}

/** What becomes of a route of the file. */
export interface Step<Route extends NewRoute> {
  route: Route;
  status: 'created' | 'overwritten' | 'skipped';
  name: string;
  /** Of the new route, or of the stored one that it meets; null: it meets another one of the file. */
  id: string | null;
}

/**
 * Plans an import. Routes of the file are planned one after the other, so they can conflict with each other too.
 * @returns one step per route, in the order of the file; they are valid only when there are no errors
 */
function planRoutes<Route extends NewRoute>(routes: Route[], known: KnownRoute[], strategy: ConflictStrategy) {
  const steps: Step<Route>[] = [];
  const errors: string[] = [];
  const warnings: string[] = [];
  const byName = Map.groupBy(known, ({ name }) => name);
  const taken = new Set(byName.keys());
  const takenBy = new Map<string, string>();
  for (const route of routes) {
    const { name, label } = route;
    const twin = takenBy.get(name);
    const planned = (status: Step<Route>['status'], id: string | null, used = name) =>
      steps.push({ route, status, name: used, id });
    if (!taken.has(name)) {
      planned('created', newId('rte'));
    } else if (strategy === 'rename') {
      planned('created', newId('rte'), nextFreeName(name, taken));
    } else if (strategy === 'skip') {
      if (twin !== undefined) warnings.push(`${label}: skipped because ${twin} has the same name`);
      planned('skipped', byName.get(name)?.[0]?.id ?? null);
    } else {
      const met = twin === undefined ? routeToOverwrite(route, byName.get(name) ?? []) : `${twin} has the same name`;
      if (typeof met === 'string') errors.push(`${label}: ${met}`);
      planned('overwritten', typeof met === 'string' ? null : met.id);
    }
    const used = steps.at(-1)?.name ?? name;
    taken.add(used);
    if (!takenBy.has(used)) takenBy.set(used, label);
  }
  // A renamed import is a deliberate copy; any other duplicate would deliver every event twice.
  (strategy === 'rename' ? warnings : errors).push(...findDuplicates(steps, known));
  return { steps, errors, warnings };
}

/** The route that an item overwrites, or why there is none. Names need not be unique, and sources cannot be changed. */
function routeToOverwrite(route: NewRoute, sameName: KnownRoute[]): KnownRoute | string {
  const [met, another] = sameName.filter(({ sourceId }) => sourceId === route.sourceId);
  if (!met)
    return 'the route with this name has a different source, which cannot be changed; delete that route first, or import with conflictStrategy rename';
  if (another)
    return `the source has more than one route with this name (${met.id}, ${another.id}); rename all but one of them first`;
  return met;
}

/** `Orders (2)`: the first number in parentheses that makes the name unique. */
function nextFreeName(name: string, taken: ReadonlySet<string>): string {
  for (let number = 2; ; number += 1) {
    const suffix = ` (${number})`;
    // Never cuts inside a surrogate pair.
    const base = name.slice(0, MAX_NAME_LENGTH - suffix.length).replace(/[\uD800-\uDBFF]$/, '');
    if (!taken.has(base + suffix)) return base + suffix;
  }
}

function findDuplicates(steps: Step<NewRoute>[], known: KnownRoute[]): string[] {
  const overwritten = new Set(steps.flatMap(({ status, id }) => (status === 'overwritten' ? id : [])));
  const before = new Map(known.map((route) => [route.id, pathOf(route)]));
  const holders = new Map<string, string>();
  for (const route of known) if (!overwritten.has(route.id)) holders.set(pathOf(route), `${route.name} (${route.id})`);
  return steps.flatMap(({ route, status, id }) => {
    if (status === 'skipped' || route.destinationIds.length === 0) return [];
    const path = pathOf(route);
    const holder = holders.get(path);
    if (holder === undefined) holders.set(path, route.label);
    // Routes that were duplicates before are not an error.
    const isNew = status === 'created' || before.get(id ?? '') !== path;
    return holder !== undefined && isNew
      ? [
          `${route.label}: has the same source and destinations as ${holder}, so events that match both routes would be delivered twice`,
        ]
      : [];
  });
}

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
