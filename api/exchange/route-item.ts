// A route in an export file (EXP-12, EXP-13): it refers to other records by slug. Beside the members of the interface it has
// `destinationSlugs`, because a route may have several destinations, and `description`, `expectedResponse` and (when set) `lane`,
// without which it would not be the same route.
import type { z } from 'zod';
import type { Route } from '../../db/entities.ts';
import * as field from '../resources/fields.ts';
import {
  failureThresholdSchema,
  routeDefaults,
  routeImportItem,
  routeMembers,
} from '../resources/routes/route-members.ts';
import { toFileItem } from '../resources/table.ts';
import { check, refuse } from '../request/validation.ts';

/** Slugs of referenced records, by id; ids are unique across the kinds. */
export type Slugs = ReadonlyMap<string, string>;

/** A route as a file holds it. */
export function exportRoute(route: Route, slugs: Slugs) {
  const slugOf = (id: string | null | undefined) => (id ? (slugs.get(id) ?? null) : null);
  const slugsOf = (ids: string[]) => ids.flatMap((id) => slugs.get(id) ?? []);
  const destinationSlugs = slugsOf(route.destinationIds);
  return {
    ...toFileItem(routeMembers, route, {
      sourceSlug: slugOf(route.sourceId),
      destinationSlugs,
      filterSlug: slugOf(route.filterId),
      transformSlug: slugOf(route.transformId),
      schemaSlug: slugOf(route.schemaId),
      failoverDestinationSlugs: slugsOf(route.failoverDestinationIds),
    }),
    destinationSlug: destinationSlugs[0] ?? null,
    failureThreshold: route.circuitFailureThreshold,
  };
}

export const itemSchema = routeImportItem.superRefine((route, context) => {
  const { destinationSlug, destinationSlugs, filterSlug, filterConditions } = route;
  if (typeof destinationSlug === 'string' && destinationSlugs && destinationSlugs[0] !== destinationSlug) {
    refuse(context, undefined, 'must be the first of destinationSlugs, or be left out', ['destinationSlug']);
  }
  if (typeof filterSlug === 'string' && filterConditions?.length) {
    refuse(context, undefined, 'must not be given together with filterConditions', ['filterSlug']);
  }
  const both = route.failoverDestinationSlugs?.find((failover) => destinationsOf(route).includes(failover));
  if (both !== undefined) {
    refuse(context, undefined, `must not name ${both}, which is a destination already`, ['failoverDestinationSlugs']);
  }
});

function destinationsOf(
  item: Pick<z.output<typeof routeImportItem>, 'destinationSlugs' | 'destinationSlug'>,
): string[] {
  return item.destinationSlugs ?? (typeof item.destinationSlug === 'string' ? [item.destinationSlug] : []);
}

/** The references of a route, by slug. */
export interface RouteSlugs {
  source: string;
  destinations: string[];
  failovers: string[];
  filter: string | null;
  transform: string | null;
  schema: string | null;
}

/** A checked item of a file. */
export type RouteItem = ReturnType<typeof readRouteItem>;

/**
 * Checks an item as the create endpoint checks its body; whether the referenced records exist is checked later.
 * @throws ApiError 400
 */
export function readRouteItem(given: unknown) {
  const item = check(itemSchema, given, 'It');
  const {
    name,
    sourceSlug,
    destinationSlug: _first,
    destinationSlugs: _all,
    failoverDestinationSlugs = [],
    filterSlug = null,
    transformSlug = null,
    schemaSlug = null,
    failureThreshold,
    isActive = true,
    ...settings
  } = item;
  // The old name of the threshold counts if the file has only that one.
  const circuitFailureThreshold =
    settings.circuitFailureThreshold ??
    check(failureThresholdSchema, { failureThreshold }, 'It').failureThreshold ??
    undefined;
  const slugs: RouteSlugs = {
    source: sourceSlug,
    destinations: destinationsOf(item),
    failovers: failoverDestinationSlugs,
    filter: filterSlug,
    transform: transformSlug,
    schema: schemaSlug,
  };
  // All members: overwriting replaces a route, so members that the file omits go back to their default.
  const members = { ...routeDefaults, ...field.sent({ ...settings, circuitFailureThreshold }), enabled: isActive };
  return { name, slugs, members };
}
