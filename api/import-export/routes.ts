// Export and import of routes. An import stores all of its routes or, when anything is wrong with one of them, none.
import { isDeepStrictEqual } from 'node:util';
import { IsolationLevel } from '@mikro-orm/core';
import { z } from 'zod';
import { newId } from '../../core/text/ids.ts';
import { Route } from '../../db/records/entities.ts';
import { type KnownRoutes, knownRoutes } from '../../db/records/routes.ts';
import { type EntityManager, lockRecords } from '../../db/records/orm.ts';
import { requireRouteRoom } from '../auth/request-and-record-limits.ts';
import { type ApiDeps, type Context, entityManager, organizationId } from '../request/context.ts';
import { type Operation, operation } from '../request/operation.ts';
import { domainProblems, requireRecipients } from '../resources/alerts/notification-recipients.ts';
import { routeFileItem } from '../resources/routes/route-members.ts';
import { ownAddressProblems } from '../resources/routes/route-record.ts';
import { component, count, idOf, text } from '../resources/values.ts';
import {
  answerExport,
  answerImport,
  ChangedMeanwhileError,
  checkItems,
  envelope,
  exampleOptions,
  GROUP,
  idsParam,
  importOf,
  type ImportRequest,
  inImport,
  messages,
  noteImported,
  PART,
  type Part,
  restsBetween,
} from './files.ts';
import {
  exportRoute,
  findReferences,
  itemSchema,
  lockReferences,
  missingReferences,
  readRouteItem,
  type References,
  resolve,
  type RouteItem,
  slugsNamed,
} from './route-items.ts';
import { planRoutes, type Step } from './route-plan.ts';

const exportSchema = z.object({ ids: idsParam });

const routeResult = component('RouteImportResult', {
  imported: count,
  skipped: count,
  overwritten: count,
  errors: messages.describe('Errors of the routes. If there are any, nothing was imported.'),
  warnings: messages,
  routes: z.array(
    z.object({
      id: idOf('rte').nullable().describe('The ID of the route. Null if not stored.'),
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
      schema: z.object({ ...envelope, routes: z.array(routeFileItem) }),
    },
    async run(ctx, deps, { query: { ids } }) {
      const chosen = ids ? { id: { $in: ids } } : {};
      // One snapshot for a part, so that every record that its routes refer to is present.
      const read = (after: Pick<Route, 'id'> | null): Promise<Part<Pick<Route, 'id'>>> =>
        entityManager(ctx, deps).transactional(
          async (em) => {
            // Oldest first: routes of the same priority run by age, and an import makes them in the order of the file.
            const routes = await em.find(
              Route,
              after === null ? chosen : { $and: [chosen, { id: { $gt: after.id } }] },
              {
                orderBy: { id: 'asc' },
                limit: PART,
              },
            );
            const slugs = await slugsNamed(em, routes);
            return { items: routes.map((route) => exportRoute(route, slugs)), last: routes.at(-1) };
          },
          { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true },
        );
      answerExport(ctx, deps, 'routes', { first: await read(null), read });
    },
  }),
  {
    tag: 'Routes',
    method: 'post',
    path: '/api/routes/import',
    operationId: 'importRoutes',
    run: (ctx, deps) => answerImport(ctx, deps, 'routes', (file) => importRoutes(ctx, deps, file)),
    summary: 'Import routes',
    description: 'Conflicts are detected by name. If any route is invalid, none is imported.',
    body: {
      schema: importOf('routes', itemSchema),
      examples: {
        'dry run': {
          ...exampleOptions,
          routes: [{ name: 'Orders to the CRM', sourceSlug: 'orders', destinationSlugs: ['crm'] }],
        },
      },
    },
    answer: { description: 'The result of each route.', schema: routeResult },
  },
];

type ImportResult = ReturnType<typeof report>;

const refused = (errors: string[], warnings: string[] = []) => ({ ...report([], [], warnings), errors });

async function importRoutes(ctx: Context, deps: ApiDeps, file: ImportRequest): Promise<ImportResult> {
  const { items, conflictStrategy, validateOnly } = file;
  const isRenamed = conflictStrategy === 'rename';
  const checked = await checkItems('routes', items, readRouteItem);
  const usable = checked.flatMap((entry) => ('item' in entry ? entry.item : []));
  const slugs = usable.map((item) => item.slugs);
  let rest = restsBetween();
  const result = await inImport(ctx, deps, null, async (em): Promise<ImportResult> => {
    const references = await findReferences(em, slugs);
    const problems = checked.flatMap((entry) =>
      'item' in entry ? missingReferences(entry, references) : entry.problems,
    );
    if (problems.length > 0) return refused(problems);
    const routes = usable.map((item) => valuesOf(item, resolve(item.slugs, references)));
    const labelled = routes.map((route, index) => ({ ...route, label: checked[index]?.label ?? '' }));
    const known = await knownRoutes(em, organizationId(ctx), { routes, isRenamed });
    const { steps, errors, warnings } = planRoutes(labelled, known.routes, conflictStrategy);
    for (const { label, destinationIds } of labelled) {
      if (destinationIds.length === 0) warnings.push(`${label}: has no destination, so it delivers nothing`);
    }
    errors.push(...(await ownAddressProblems(em, deps, labelled)), ...domainProblems(deps, labelled));
    if (errors.length > 0) return refused(errors, warnings);
    requireRoomForNew(ctx, steps, routes, known);
    await requireRecipients(deps, organizationId(ctx), writtenEmails(steps, routes));
    // From here on rows are locked, and statements that are about all organizations may wait for them: no rest before
    // the end.
    rest = restsBetween();
    if (!validateOnly) await lockWhatIsKnown(em, organizationId(ctx), { slugs, references, known, isRenamed, routes });
    const ids = validateOnly ? [] : await follow(em, organizationId(ctx), steps, routes);
    const done = report(steps, ids, warnings);
    noteImported(ctx, done.routes);
    return done;
  });
  await rest();
  return result;
}

/**
 * Locks what the plan was made of: sources like the create of a route does, so that no other route is stored for them
 * meanwhile, and the records that routes name against deletion.
 * @throws ChangedMeanwhileError when it has changed since it was read
 */
async function lockWhatIsKnown(
  em: EntityManager,
  organization: string,
  planned: {
    slugs: RouteItem['slugs'][];
    references: References;
    known: KnownRoutes;
    isRenamed: boolean;
    routes: Parameters<typeof knownRoutes>[2]['routes'];
  },
): Promise<void> {
  const { slugs, references, known } = planned;
  const isSame =
    isDeepStrictEqual(await lockReferences(em, organization, slugs), references) &&
    isDeepStrictEqual(await knownRoutes(em, organization, planned), known);
  if (!isSame) throw new ChangedMeanwhileError('the records of the import have changed');
}

/** Of the plan: locking finds out whether other routes were made meanwhile. @throws ApiError 429 */
function requireRoomForNew(ctx: Context, steps: Step[], routes: { sourceId: string }[], known: KnownRoutes): void {
  const counts = new Map(known.counts.map(({ sourceId, count }) => [sourceId, count]));
  steps.forEach(({ status }, index) => {
    const sourceId = routes[index]?.sourceId;
    if (status !== 'created' || sourceId === undefined) return;
    const count = (counts.get(sourceId) ?? 0) + 1;
    counts.set(sourceId, count);
    requireRouteRoom(ctx, count);
  });
}

function writtenEmails(steps: Step[], routes: { notifyEmails?: string | null | undefined }[]): string {
  return routes
    .flatMap(({ notifyEmails }, index) => (steps[index]?.status === 'skipped' ? [] : (notifyEmails ?? [])))
    .join();
}

function valuesOf({ name, members }: RouteItem, named: ReturnType<typeof resolve>) {
  return { ...members, ...named, name };
}

/** Writes the routes. @returns the id of each, in the order of the file */
async function follow(
  em: EntityManager,
  organization: string,
  steps: Step[],
  routes: ReturnType<typeof valuesOf>[],
): Promise<(string | null)[]> {
  await lockRecords(em, 'routes', organization, overwrittenBy(steps));
  const ids: (string | null)[] = [];
  for (let from = 0; from < steps.length; from += GROUP) {
    const group = steps.slice(from, from + GROUP);
    ids.push(...(await followSome(em, organization, group, routes.slice(from, from + GROUP))));
    await em.flush();
    em.clear();
  }
  return ids;
}

const overwrittenBy = (steps: Step[]) => steps.flatMap((step) => (step.status === 'overwritten' ? step.id : []));

/** Builds the routes of some steps; the flush writes them. @returns their ids */
async function followSome(
  em: EntityManager,
  organization: string,
  steps: Step[],
  routes: ReturnType<typeof valuesOf>[],
): Promise<(string | null)[]> {
  const overwritten = overwrittenBy(steps);
  const stored = overwritten.length > 0 ? await em.find(Route, { id: { $in: overwritten } }) : [];
  const byId = new Map(stored.map((route) => [route.id, route]));
  return steps.map((step, index) => {
    const values = routes[index];
    if (!values || step.status === 'skipped') return step.status === 'skipped' ? step.id : null;
    if (step.status === 'created') {
      const id = newId('rte');
      em.create(Route, { ...values, name: step.name, id, organizationId: organization });
      return id;
    }
    const route = byId.get(step.id);
    if (!route) throw new ChangedMeanwhileError('a route was deleted while the import was overwriting it');
    em.assign(route, values, { mergeObjectProperties: false });
    return step.id;
  });
}

/** The answer; in a dry run routes have no id. */
function report(steps: Step[], ids: (string | null)[], warnings: string[]) {
  const count = (status: Step['status']) => steps.filter((step) => step.status === status).length;
  return {
    imported: count('created'),
    skipped: count('skipped'),
    overwritten: count('overwritten'),
    errors: [] as string[],
    warnings,
    routes: steps.map((step, index) => ({
      id: ids[index] ?? ('id' in step ? step.id : null),
      name: step.name,
      status: step.status,
    })),
  };
}
