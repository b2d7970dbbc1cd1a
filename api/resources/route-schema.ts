// What a route may hold (interface.md, "Route"; decisions, "Routes, filters, transforms, schemas").
import { z } from 'zod';
import { parsePath } from '../../core/dotted-path.ts';
import { refuse } from '../validation.ts';
import * as field from './fields.ts';

const MAX_DESTINATIONS = 50;
const MAX_FAILOVERS = 3;
const MAX_CONDITIONS = 100;
const MAX_EMAILS = 50;
const MAX_INTEGER = 2_147_483_647;

const OPERATORS = [
  'equals',
  'not_equals',
  'contains',
  'not_contains',
  'starts_with',
  'ends_with',
  'matches',
  'regex',
  'exists',
  'not_exists',
  'gt',
  'greater_than',
  'gte',
  'lt',
  'less_than',
  'lte',
  'in',
  'not_in',
];
const WITHOUT_VALUE = ['exists', 'not_exists'];
const TEXT_VALUE = ['matches', 'regex', 'starts_with', 'ends_with'];
const LIST_VALUE = ['in', 'not_in'];

const condition = z
  .object({ field: z.string().min(1).max(1024), operator: z.string(), value: z.unknown().optional() })
  .superRefine(({ field: path, operator, value }, context) => {
    if (!OPERATORS.includes(operator)) {
      refuse(context, 'INVALID_FILTER', `must be one of ${OPERATORS.join(', ')}`, ['operator']);
      return;
    }
    if (parsePath(path) === null) {
      refuse(context, 'INVALID_FILTER', 'must be a dotted path such as payload.items[0].sku or headers.x-kind', [
        'field',
      ]);
    }
    const problem = valueProblem(operator, value);
    if (problem !== null) refuse(context, 'INVALID_FILTER', problem, ['value']);
  });

function valueProblem(operator: string, value: unknown): string | null {
  if (WITHOUT_VALUE.includes(operator)) return null;
  if (value === undefined) return `is required with the operator ${operator}`;
  if (LIST_VALUE.includes(operator) && !Array.isArray(value) && typeof value !== 'string') {
    return `must be an array or a comma-separated string with the operator ${operator}`;
  }
  if (TEXT_VALUE.includes(operator) && typeof value !== 'string') {
    return `must be a string with the operator ${operator}`;
  }
  return null;
}

const email = z.email();

const notifyEmails = z
  .string()
  .max(5000)
  .superRefine((text, context) => {
    const addresses = text.split(',').map((address) => address.trim());
    const wrong = addresses.find((address) => !email.safeParse(address).success);
    if (wrong !== undefined && text.trim() !== '') {
      refuse(context, undefined, `must be comma-separated e-mail addresses; "${wrong}" is none`);
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
const ids = z.array(z.string()).refine(distinct, 'must not name a destination twice');

// There are no such records yet: an id cannot be right.
const noRecordYet = (kind: string) => z.null({ error: `must be null: there is no ${kind} with this id` });

/** Members of a route that both create and update accept. */
const changeable = {
  description: field.description.optional(),
  transformId: noRecordYet('transform').optional(),
  filterId: z.string().nullable().optional(),
  schemaId: noRecordYet('schema').optional(),
  priority: z.int().min(-MAX_INTEGER).max(MAX_INTEGER).optional(),
  filterConditions: z.array(condition).max(MAX_CONDITIONS).nullable().optional(),
  filterLogic: z.enum(['AND', 'OR']).optional(),
  failoverDestinationIds: ids.max(MAX_FAILOVERS).optional(),
  failoverAfterAttempts: z.int().min(1).max(51).optional(),
  circuitCooldownSeconds: z.int().min(1).max(86_400).optional(),
  circuitFailureThreshold: z.int().min(1).max(10_000).optional(),
  circuitProbeSuccessThreshold: z.int().min(1).max(1000).optional(),
  notifyOnFailure: z.boolean().optional(),
  notifyOnSuccess: z.boolean().optional(),
  notifyOnRecovery: z.boolean().optional(),
  notifyEmails: notifyEmails.nullable().optional(),
  expectedResponse: expectedResponse.nullable().optional(),
  enabled: field.enabled.optional(),
};
const destinationIds = ids.min(1).max(MAX_DESTINATIONS);

/** One filter, by reference or inline, and only one that exists. */
function checkFilter(
  route: { filterId?: string | null; filterConditions?: unknown[] | null },
  context: z.RefinementCtx,
): void {
  if (typeof route.filterId !== 'string') return;
  const both = Array.isArray(route.filterConditions);
  refuse(
    context,
    undefined,
    both ? 'must not be given together with filterConditions' : 'must be null: there is no filter with this id',
    ['filterId'],
  );
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
