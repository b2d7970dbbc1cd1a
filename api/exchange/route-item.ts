// A route in an export file: what it names is named by slug.
// Rules: EXP-12, EXP-13.
import { z } from 'zod';
import type { Route } from '../../db/entities.ts';
import * as field from '../resources/fields.ts';
import { destinationList, failoverList, routeDefaults, routeSettings } from '../resources/route-schema.ts';
import { check, refuse } from '../validation.ts';

/** Slugs of what routes name, by id; ids are unique across the kinds. */
export type Slugs = ReadonlyMap<string, string>;

/** A route as a file holds it. */
export function exportRoute(route: Route, slugs: Slugs) {
  const slugOf = (id: string | null | undefined) => (id ? (slugs.get(id) ?? null) : null);
  const slugsOf = (ids: string[]) => ids.flatMap((id) => slugs.get(id) ?? []);
  const destinationSlugs = slugsOf(route.destinationIds);
  return {
    name: route.name,
    description: route.description ?? null,
    sourceSlug: slugOf(route.sourceId),
    destinationSlug: destinationSlugs[0] ?? null,
    destinationSlugs,
    filterSlug: slugOf(route.filterId),
    transformSlug: slugOf(route.transformId),
    schemaSlug: slugOf(route.schemaId),
    filterConditions: route.filterConditions ?? null,
    filterLogic: route.filterLogic,
    priority: route.priority,
    isActive: route.enabled,
    notifyOnFailure: route.notifyOnFailure,
    notifyOnSuccess: route.notifyOnSuccess,
    notifyOnRecovery: route.notifyOnRecovery,
    notifyEmails: route.notifyEmails ?? null,
    // The circuit status calls circuitFailureThreshold so.
    failureThreshold: route.circuitFailureThreshold,
    failoverDestinationSlugs: slugsOf(route.failoverDestinationIds),
    failoverAfterAttempts: route.failoverAfterAttempts,
    circuitCooldownSeconds: route.circuitCooldownSeconds,
    circuitFailureThreshold: route.circuitFailureThreshold,
    circuitProbeSuccessThreshold: route.circuitProbeSuccessThreshold,
    expectedResponse: route.expectedResponse ?? null,
    // Only there when it is set (ROUTE-23).
    ...(route.lane && { lane: route.lane }),
  };
}

const slug = z.string().nullable().optional();

export const itemSchema = z
  .object({
    name: field.name,
    sourceSlug: z.string(),
    destinationSlug: slug,
    destinationSlugs: destinationList.optional(),
    filterSlug: slug,
    transformSlug: slug,
    schemaSlug: slug,
    failoverDestinationSlugs: failoverList.optional(),
    failureThreshold: z.unknown().optional(),
    isActive: field.enabled.optional(),
    ...routeSettings,
  })
  .superRefine((route, context) => {
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

function destinationsOf(item: { destinationSlugs?: string[]; destinationSlug?: string | null }): string[] {
  return item.destinationSlugs ?? (typeof item.destinationSlug === 'string' ? [item.destinationSlug] : []);
}

/** What a route names, by slug. */
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

/** Checks an item as the create endpoint checks its body; whether what it names exists is asked later. @throws ApiError 400 */
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
  // The other name of the threshold counts where the file has only that one.
  const circuitFailureThreshold =
    settings.circuitFailureThreshold ??
    check(thresholdSchema, { failureThreshold }, 'It').failureThreshold ??
    undefined;
  const slugs: RouteSlugs = {
    source: sourceSlug,
    destinations: destinationsOf(item),
    failovers: failoverDestinationSlugs,
    filter: filterSlug,
    transform: transformSlug,
    schema: schemaSlug,
  };
  // All members: a route that is overwritten is replaced, so what the file leaves out goes back to its default.
  const members = { ...routeDefaults, ...field.sent({ ...settings, circuitFailureThreshold }), enabled: isActive };
  return { name, slugs, members };
}

const thresholdSchema = z.object({ failureThreshold: routeSettings.circuitFailureThreshold.nullable() });
