// What a route holds.
// A new field is a row here, and a column in db/schema/ and of the entity.
import { z } from 'zod';
import { CIRCUIT_STATES } from '../../../core/delivery/circuit.ts';
import { emailList } from '../../../core/messages/route-mails.ts';
import { LANE_SETTINGS } from '../../../core/delivery/delivery.ts';
import { MISSING_KEYS, ON_EXHAUSTED } from '../../../core/delivery/ordering.ts';
import { fieldReader } from '../../../core/filters/filter.ts';
import type { Route } from '../../../db/records/entities.ts';
import { refuse } from '../../request/validation.ts';
import * as field from '../fields.ts';
import { conditions, logic, shownConditions } from '../processing/filters.ts';
import { pauseMembers } from './pauses.ts';
import * as table from '../table.ts';
import { component, count, flag, idOf, named, text, timestamp, warnings, withExample } from '../values.ts';

const MAX_DESTINATIONS_PER_ROUTE = 50;
const MAX_FAILOVERS = 3;
const MAX_INTEGER = 2_147_483_647;
const MAX_HOLD_SECONDS = 31_536_000;

const notifyEmails = emailList.transform((given) => (given.trim() === '' ? null : given));
const shownEmails = text('ops@example.com, team@example.com', 'Comma-separated email addresses.').max(5000).nullable();

const expectedResponse = withExample(
  z
    .object({
      statusCodes: z.array(z.int().min(100).max(599)).min(1).max(100).optional(),
      bodyContains: z.string().min(1).max(10_000).optional(),
    })
    .nullable(),
  { statusCodes: [200, 202], bodyContains: 'ok' },
  'Which responses count as success. If null, any 2xx response.',
);

const lane = z.enum(LANE_SETTINGS);

const ordering = withExample(
  z
    .object({
      key: z
        .string()
        .max(500)
        .refine(
          (path) => fieldReader(path) !== null,
          'must be a dotted path such as payload.order.id or headers.x-account',
        )
        .nullable()
        .describe(
          'The event field, written as in filters, whose values are the ordering keys. If null, all events of the route share one key.',
        ),
      missingKey: z
        .enum(MISSING_KEYS)
        .default('unordered')
        .describe('How events without the field are delivered: in any order, or together under one key.'),
      onExhausted: z
        .enum(ON_EXHAUSTED)
        .default('hold')
        .describe(
          'What happens after a delivery has used up its retries: its key is blocked, or the next delivery is sent.',
        ),
      holdSeconds: z
        .int()
        .min(1)
        .max(MAX_HOLD_SECONDS)
        .default(86_400)
        .describe(
          'How long a delivery that has used up its retries blocks its key, in seconds. At most the payload retention period.',
        ),
    })
    .nullable(),
  { key: 'payload.order.id', missingKey: 'unordered', onExhausted: 'hold', holdSeconds: 86_400 },
  'Delivers events with the same key to each destination one after another. If null, events are delivered in any order.',
);

const distinct = (ids: string[]): boolean => new Set(ids).size === ids.length;
const destinations = z.array(z.string()).refine(distinct, 'must not contain the same destination twice');
// Ids, or slugs in files.
const primaries = destinations.max(MAX_DESTINATIONS_PER_ROUTE);
const failovers = destinations.max(MAX_FAILOVERS);
const shownDestination = idOf('dst', 'dst_wh');

// References hold an id in the API and a slug in files. Whether the record exists is checked when the route is stored
// (route-record.ts).
const reference = z.string().nullable();
const slug = (example: string | null) => withExample(z.string().nullable(), example);

const whole = (least: number, most: number, example: number) => withExample(z.int().min(least).max(most), example);

export const routeMembers = table.membersOf<Route>()({
  id: table.readOnly(idOf('rte')),
  name: table.required(withExample(field.name, 'Orders to the CRM')),
  description: table.optional(field.description, null),
  sourceId: table.required(z.string(), { answer: idOf('src'), fileName: 'sourceSlug', file: slug('orders') }),
  destinationIds: table.required(primaries.min(1), {
    answer: z.array(shownDestination).max(MAX_DESTINATIONS_PER_ROUTE),
    fileName: 'destinationSlugs',
    file: z.array(text('crm')).max(MAX_DESTINATIONS_PER_ROUTE),
  }),
  transformId: table.optional(reference, null, {
    answer: idOf('tfm').nullable(),
    fileName: 'transformSlug',
    file: slug(null),
  }),
  filterId: table.optional(reference, null, {
    answer: idOf('flt').nullable(),
    fileName: 'filterSlug',
    file: slug(null),
  }),
  schemaId: table.optional(reference, null, {
    answer: idOf('sch').nullable(),
    fileName: 'schemaSlug',
    file: slug(null),
  }),
  priority: table.optional(
    withExample(
      whole(-MAX_INTEGER, MAX_INTEGER, 0),
      0,
      'For each destination, deliveries from routes with higher values are sent first.',
    ),
    0,
  ),
  filterConditions: table.optional(conditions.nullable(), null, { answer: shownConditions.nullable() }),
  filterLogic: table.optional(logic, 'AND'),
  failoverDestinationIds: table.optional(failovers, [], {
    answer: z.array(shownDestination).max(MAX_FAILOVERS),
    fileName: 'failoverDestinationSlugs',
    file: z.array(text('crm-2')).max(MAX_FAILOVERS),
  }),
  failoverAfterAttempts: table.optional(whole(1, 51, 3), 3),
  circuitState: table.computed(z.enum(CIRCUIT_STATES)),
  circuitCooldownSeconds: table.optional(whole(1, 86_400, 300), 300),
  circuitFailureThreshold: table.optional(whole(1, 10_000, 5), 5),
  circuitProbeSuccessThreshold: table.optional(whole(1, 1000, 2), 2),
  notifyOnFailure: table.optional(flag(true), false),
  notifyOnSuccess: table.optional(flag(false), false),
  notifyOnRecovery: table.optional(flag(true), false),
  notifyEmails: table.optional(notifyEmails.nullable(), null, { answer: shownEmails }),
  withheldEmails: table.computed(
    withExample(
      z.array(text('team@example.com')),
      [],
      'Addresses in `notifyEmails` that receive no email because their owners have not confirmed them or the operator does not accept their domain.',
    ),
  ),
  expectedResponse: table.optional(expectedResponse, null),
  ordering: table.optional(ordering, null),
  lane: table.optional(lane.nullable(), null, {
    answer: lane.optional().describe("The route's lane. Present only if set for this route."),
  }),
  allowOwnAddress: table.optional(
    withExample(z.boolean(), false, 'Whether the route may deliver to URLs under `HOOKYARD_PUBLIC_URL`.'),
    false,
  ),
  enabled: table.optional(field.enabled, true, { fileName: 'isActive' }),
  ...pauseMembers,
  warnings: table.computed(warnings),
  source: table.computed(named('src', 'Orders')),
  destinations: table.computed(z.array(named('dst', 'CRM', 'dst_wh'))),
  transform: table.computed(named('tfm', 'To XML').nullable()),
  filter: table.computed(named('flt', 'Paid orders').nullable()),
  schema: table.computed(named('sch', 'Order').nullable()),
  eventsRouted: table.computed(count),
  lastEventAt: table.computed(timestamp.nullable()),
  createdAt: table.readOnly(timestamp),
  updatedAt: table.readOnly(timestamp),
});

export const routeDefaults = table.defaultsOf(routeMembers);

export const createRouteSchema = z.object(table.createShape(routeMembers)).superRefine(checkFilter);
export const updateRouteSchema = z.object(table.updateShape(routeMembers)).superRefine(checkFilter);
export type RouteInput = z.output<typeof createRouteSchema>;
export const routeAnswer = component('Route', table.answerShape(routeMembers));

// The circuit breaker's own endpoint knows these three.
export const circuitMembers = table.only(
  routeMembers,
  'circuitCooldownSeconds',
  'circuitFailureThreshold',
  'circuitProbeSuccessThreshold',
);
export const circuitConfigSchema = z.object(table.updateShape(circuitMembers));

// Names in older files, from when a route had one destination, and in the circuit status.
const firstDestination = withExample(slug('crm'), 'crm', 'The first slug in `destinationSlugs`.');
const failureThreshold = withExample(z.int(), 5, 'The same as `circuitFailureThreshold`.');

export const routeFileItem = component('RouteExportItem', {
  ...table.fileShape(routeMembers),
  destinationSlug: firstDestination,
  failureThreshold,
});

/** A route in an import; `failureThreshold` is used, and checked, when the other name is missing. */
export const routeImportItem = z.object({
  ...table.importShape(routeMembers),
  destinationSlug: slug('crm').optional(),
  destinationSlugs: primaries.optional(),
  failureThreshold: z.unknown().optional(),
});
export const failureThresholdSchema = z.object({
  failureThreshold: circuitMembers.circuitFailureThreshold.create.nullable(),
});

/** One filter, by reference or inline. */
function checkFilter(
  route: { filterId?: string | null | undefined; filterConditions?: unknown[] | null | undefined },
  context: z.RefinementCtx,
): void {
  if (typeof route.filterId !== 'string' || !route.filterConditions?.length) return;
  refuse(context, undefined, 'cannot be combined with filterConditions', ['filterId']);
}

/** The filter of a patch: the kind that is sent replaces a stored one of the other kind. */
export function oneFilter<Patch extends Pick<Partial<RouteInput>, 'filterId' | 'filterConditions'>>(
  patch: Patch,
): Patch {
  if (typeof patch.filterId === 'string') return { ...patch, filterConditions: null };
  return patch.filterConditions?.length ? { ...patch, filterId: null } : patch;
}
