// What a destination may hold. An HTTP destination holds the same in both families, so that no member is dropped in one of them.
// Rules: DEST-01 to DEST-15, AUTH-12, ERR-21.
import { z } from 'zod';
import { AUTH_TYPES } from '../../core/auth-config.ts';
import { WAREHOUSE_TYPES } from '../../core/warehouse/config.ts';
import type { DestinationType } from '../../db/entities.ts';
import { ApiError } from '../errors.ts';
import * as field from './fields.ts';

const MAX_RATE_PER_MINUTE = 1_000_000;

/** Of a type other than the stored one. */
export const UNCHANGEABLE = 'cannot be changed after creation';

const changeable = {
  description: field.description.optional(),
  slug: field.slug.optional(),
  method: z.enum(['POST', 'PUT', 'PATCH']).optional(),
  headers: field.headers.optional(),
  authType: z.enum(AUTH_TYPES).optional(),
  // Its shape depends on authType, which an update may leave out: checked when the record is at hand.
  authConfig: z.record(z.string(), z.unknown()).nullable().optional(),
  signingSecret: z.string().nullable().optional(),
  timeoutMs: z.int().min(1).max(60_000).optional(),
  rateLimitPerMinute: z.int().min(1).max(MAX_RATE_PER_MINUTE).nullable().optional(),
  retryPolicy: field.retryPolicy.optional(),
  enabled: field.enabled.optional(),
};
/** The member by which the create endpoint tells which other members there are. */
export const typeSchema = z.looseObject({ type: z.enum(['http', ...WAREHOUSE_TYPES]).default('http') });
export const createDestinationSchema = z.object({
  name: field.name,
  url: field.url,
  type: z.literal('http', 'must be http; a warehouse is made at /api/destinations').optional(),
  ...changeable,
});
export const updateDestinationSchema = z.object({
  name: field.name.optional(),
  url: field.url.optional(),
  type: z.literal('http', UNCHANGEABLE).optional(),
  ...changeable,
});

// What is for HTTP only is dropped. `config` and `fieldMapping` are checked by destination-warehouse.ts: by the type, over
// what is stored, and with errors that carry no code.
const warehouseMembers = {
  description: field.description.optional(),
  slug: field.slug.optional(),
  enabled: field.enabled.optional(),
  config: z.unknown().optional(),
  fieldMapping: z.unknown().optional(),
};
export const createWarehouseSchema = z.object({
  name: field.name,
  type: z.enum(WAREHOUSE_TYPES),
  ...warehouseMembers,
});
export const updateWarehouseSchema = z.object({
  name: field.name.optional(),
  type: z.string().optional(),
  ...warehouseMembers,
});

/** Requires a plan that has warehouses (AUTH-12). @throws ApiError 403 */
export function requirePlan(plan: string, type: DestinationType): void {
  if (type === 'http' || plan === 'pro' || plan === 'business') return;
  throw new ApiError(403, undefined, `Destinations of type ${type} need a Pro or Business plan`);
}
