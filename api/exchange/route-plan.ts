// What becomes of each route of an import: a pure function of the file and of the routes that there are.
// Rules: EXP-18, EXP-22.
import type { ConflictStrategy } from './exchange.ts';

const MAX_NAME_LENGTH = 255;

/** A route of the organization, as far as an import can be in conflict with it. */
export interface KnownRoute {
  id: string;
  name: string;
  sourceId: string;
  destinationIds: string[];
}

/** A route of the file. */
export interface NewRoute extends Omit<KnownRoute, 'id'> {
  /** How messages call it. */
  label: string;
}

/** What is done with a route of the file; `id` is that of the route that it meets, if there is one. */
export type Step =
  | { status: 'created'; name: string }
  | { status: 'overwritten'; name: string; id: string }
  | { status: 'skipped'; name: string; id: string | null };

export interface Plan {
  /** One for each route of the file, in its order; to be followed only when there are no errors. */
  steps: Step[];
  errors: string[];
  warnings: string[];
}

/** Plans an import. Routes of the file are taken one after the other, so they may be in conflict with each other too. */
export function planRoutes(routes: NewRoute[], known: KnownRoute[], strategy: ConflictStrategy): Plan {
  const plan: Plan = { steps: [], errors: [], warnings: [] };
  const byName = groupBy(known, ({ name }) => name);
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
      if (twin !== undefined) plan.warnings.push(`${label}: was skipped, because its name is also that of ${twin}`);
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
  // A renamed import is a copy that someone asked for; otherwise nobody wants every event twice.
  (strategy === 'rename' ? plan.warnings : plan.errors).push(...duplicates);
  return plan;
}

/** The route that an item overwrites, or why there is none. Names need not be unique, and sources cannot be changed. */
function routeToOverwrite(route: NewRoute, sameName: KnownRoute[]): KnownRoute | string {
  const [met, another] = sameName.filter(({ sourceId }) => sourceId === route.sourceId);
  if (!met) {
    return 'the route of this name belongs to another source, which cannot be changed; delete it first, or import with conflictStrategy rename';
  }
  if (another) {
    return `the source has more than one route of this name (${met.id}, ${another.id}); rename all but one of them first`;
  }
  return met;
}

/** `Orders (2)`: a space and the first number in parentheses that makes the name free. */
function nextFreeName(name: string, taken: ReadonlySet<string>): string {
  for (let number = 2; ; number += 1) {
    const suffix = ` (${number})`;
    // Cut where no pair of surrogates is split.
    const base = name.slice(0, MAX_NAME_LENGTH - suffix.length).replace(/[\uD800-\uDBFF]$/, '');
    if (!taken.has(base + suffix)) return base + suffix;
  }
}

/** Sentences about routes that would have the source and the destinations of another one when all is done. */
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
    // One that was a duplicate before is no worse afterwards.
    const isNew = step.status === 'created' || before.get(step.id) !== path;
    return holder !== undefined && isNew
      ? [`${route.label}: has the source and destinations of ${holder}, so every event would be delivered twice`]
      : [];
  });
}

function pathOf({ sourceId, destinationIds }: Pick<KnownRoute, 'sourceId' | 'destinationIds'>): string {
  return [sourceId, ...destinationIds.toSorted()].join(' ');
}

function groupBy<T>(items: T[], key: (item: T) => string): Map<string, T[]> {
  return Map.groupBy(items, key);
}
