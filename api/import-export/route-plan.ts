// What an import does with each route: a pure function of the file and the existing routes.
import { type KnownRoute, pathOf } from '../../db/records/routes.ts';
import type { ConflictStrategy } from './files.ts';

const MAX_NAME_LENGTH = 255;

interface NewRoute extends Omit<KnownRoute, 'id'> {
  label: string;
}

/** The action for a route of the file; `id` is that of the existing route it conflicts with, if any. */
export type Step =
  | { status: 'created'; name: string }
  | { status: 'overwritten'; name: string; id: string }
  | { status: 'skipped'; name: string; id: string | null };

interface Plan {
  /** One action per route of the file, in its order; only valid when there are no errors. */
  steps: Step[];
  errors: string[];
  warnings: string[];
}

/** Plans an import. Routes of the file are planned one after the other, so they can conflict with each other too. */
export function planRoutes(routes: NewRoute[], known: KnownRoute[], strategy: ConflictStrategy): Plan {
  const plan: Plan = { steps: [], errors: [], warnings: [] };
  const byName = Map.groupBy(known, ({ name }) => name);
  const taken = new Set(byName.keys());
  const takenBy = new Map<string, string>();
  for (const route of routes) {
    const { name, label } = route;
    const twin = takenBy.get(name);
    if (!taken.has(name)) {
      plan.steps.push({ status: 'created', name });
    } else if (strategy === 'rename') {
      plan.steps.push({ status: 'created', name: nextFreeName(name, taken) });
    } else if (strategy === 'skip') {
      if (twin !== undefined) plan.warnings.push(`${label}: was skipped, because ${twin} has the same name`);
      plan.steps.push({ status: 'skipped', name, id: byName.get(name)?.[0]?.id ?? null });
    } else {
      const met = twin === undefined ? routeToOverwrite(route, byName.get(name) ?? []) : `${twin} has the same name`;
      if (typeof met === 'string') plan.errors.push(`${label}: ${met}`);
      plan.steps.push({ status: 'overwritten', name, id: typeof met === 'string' ? '' : met.id });
    }
    const used = plan.steps.at(-1)?.name ?? name;
    taken.add(used);
    if (!takenBy.has(used)) takenBy.set(used, label);
  }
  const duplicates = findDuplicates(routes, known, plan.steps);
  // A renamed import is a deliberate copy; any other duplicate would deliver every event twice.
  (strategy === 'rename' ? plan.warnings : plan.errors).push(...duplicates);
  return plan;
}

/** The route that an item overwrites, or why there is none. Names need not be unique, and sources cannot be changed. */
function routeToOverwrite(route: NewRoute, sameName: KnownRoute[]): KnownRoute | string {
  const [met, another] = sameName.filter(({ sourceId }) => sourceId === route.sourceId);
  if (!met)
    return 'the route with this name belongs to another source, which cannot be changed; delete it first, or import with conflictStrategy rename';
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

function findDuplicates(routes: NewRoute[], known: KnownRoute[], steps: Step[]): string[] {
  const overwritten = new Set(steps.flatMap((step) => (step.status === 'overwritten' ? step.id : [])));
  const before = new Map(known.map((route) => [route.id, pathOf(route)]));
  const holders = new Map<string, string>();
  for (const route of known) if (!overwritten.has(route.id)) holders.set(pathOf(route), `${route.name} (${route.id})`);
  return routes.flatMap((route, index) => {
    const step = steps[index];
    if (!step || step.status === 'skipped' || route.destinationIds.length === 0) return [];
    const path = pathOf(route);
    const holder = holders.get(path);
    if (holder === undefined) holders.set(path, route.label);
    // Routes that were duplicates before are not an error.
    const isNew = step.status === 'created' || before.get(step.id) !== path;
    return holder !== undefined && isNew
      ? [`${route.label}: has the source and destinations of ${holder}, so every event would be delivered twice`]
      : [];
  });
}
