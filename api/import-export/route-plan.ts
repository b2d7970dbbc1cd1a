// What an import does with each route, by the file and the existing routes.
import { newId } from '../../core/text/ids.ts';
import { type KnownRoute, pathOf } from '../../db/records/routes.ts';
import type { ConflictStrategy } from './files.ts';

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
export function planRoutes<Route extends NewRoute>(routes: Route[], known: KnownRoute[], strategy: ConflictStrategy) {
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
