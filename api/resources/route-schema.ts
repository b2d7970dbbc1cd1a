// What a route may hold.
// Rules: ROUTE-01 to ROUTE-24.
import { z } from 'zod';
import { LANES } from '../../core/lane.ts';
import { refuse } from '../validation.ts';
import * as field from './fields.ts';
import { conditions, logic } from './filter-conditions.ts';

const MAX_DESTINATIONS = 50;
const MAX_FAILOVERS = 3;
const MAX_EMAILS = 50;
const MAX_INTEGER = 2_147_483_647;

const email = z.email();

const notifyEmails = z
  .string()
  .max(5000)
  .superRefine((text, context) => {
    const addresses = text.split(',').map((address) => address.trim());
    const wrong = addresses.find((address) => !email.safeParse(address).success);
    if (wrong !== undefined && text.trim() !== '') {
      refuse(context, undefined, `must be comma-separated e-mail addresses; "${wrong}" is not one`);
    } else if (addresses.length > MAX_EMAILS) {
      refuse(context, undefined, `must be at most ${MAX_EMAILS} e-mail addresses`);
    }
  })
  .transform((text) => (text.trim() === '' ? null : text));

const expectedResponse = z.object({
  statusCodes: z.array(z.int().min(100).max(599)).min(1).max(100).optional(),
  bodyContains: z.string().min(1).max(10_000).optional(),
});

const distinct = (ids: string[]): boolean => new Set(ids).size === ids.length;
const destinations = z.array(z.string()).refine(distinct, 'must not name a destination twice');
/** Where a route delivers to, and where it turns when that fails: ids, or slugs in export files. */
export const destinationList = destinations.max(MAX_DESTINATIONS);
export const failoverList = destinations.max(MAX_FAILOVERS);

// Whether there is such a record is asked when the route is stored (route-references.ts).
const reference = z.string().nullable();

/** Members of a route that name no other record. */
export const routeSettings = {
  description: field.description.optional(),
  priority: z.int().min(-MAX_INTEGER).max(MAX_INTEGER).optional(),
  filterConditions: conditions.nullable().optional(),
  filterLogic: logic.optional(),
  failoverAfterAttempts: z.int().min(1).max(51).optional(),
  circuitCooldownSeconds: z.int().min(1).max(86_400).optional(),
  circuitFailureThreshold: z.int().min(1).max(10_000).optional(),
  circuitProbeSuccessThreshold: z.int().min(1).max(1000).optional(),
  notifyOnFailure: z.boolean().optional(),
  notifyOnSuccess: z.boolean().optional(),
  notifyOnRecovery: z.boolean().optional(),
  notifyEmails: notifyEmails.nullable().optional(),
  expectedResponse: expectedResponse.nullable().optional(),
  lane: z.enum(LANES).nullable().optional(),
};

/** Members of a route that both create and update accept. */
const changeable = {
  ...routeSettings,
  transformId: reference.optional(),
  filterId: reference.optional(),
  schemaId: reference.optional(),
  failoverDestinationIds: failoverList.optional(),
  enabled: field.enabled.optional(),
};
const destinationIds = destinationList.min(1);

/** What a new route has where nothing is said. */
export const routeDefaults = {
  description: null,
  transformId: null,
  filterId: null,
  schemaId: null,
  priority: 0,
  filterConditions: null,
  filterLogic: 'AND',
  failoverDestinationIds: [],
  failoverAfterAttempts: 3,
  circuitCooldownSeconds: 300,
  circuitFailureThreshold: 5,
  circuitProbeSuccessThreshold: 2,
  notifyOnFailure: false,
  notifyOnSuccess: false,
  notifyOnRecovery: false,
  notifyEmails: null,
  expectedResponse: null,
  lane: null,
  enabled: true,
} as const satisfies Required<Omit<RouteInput, 'name' | 'sourceId' | 'destinationIds'>>;

/** One filter, by reference or inline. */
function checkFilter(
  route: { filterId?: string | null; filterConditions?: unknown[] | null },
  context: z.RefinementCtx,
): void {
  if (typeof route.filterId !== 'string' || !route.filterConditions?.length) return;
  refuse(context, undefined, 'must not be given together with filterConditions', ['filterId']);
}

/** The filter of a patch: the kind that is sent takes the place of the other one, which may be stored. */
export function oneFilter<Patch extends Pick<Partial<RouteInput>, 'filterId' | 'filterConditions'>>(
  patch: Patch,
): Patch {
  if (typeof patch.filterId === 'string') return { ...patch, filterConditions: null };
  return patch.filterConditions?.length ? { ...patch, filterId: null } : patch;
}

export const createRouteSchema = z
  .object({ name: field.name, sourceId: z.string(), destinationIds, ...changeable })
  .superRefine(checkFilter);

export const updateRouteSchema = z
  .object({
    name: field.name.optional(),
    sourceId: z.string().optional(),
    destinationIds: destinationIds.optional(),
    ...changeable,
  })
  .superRefine(checkFilter);

export const circuitConfigSchema = z.object({
  circuitCooldownSeconds: changeable.circuitCooldownSeconds,
  circuitFailureThreshold: changeable.circuitFailureThreshold,
  circuitProbeSuccessThreshold: changeable.circuitProbeSuccessThreshold,
});

export type RouteInput = z.output<typeof createRouteSchema>;
