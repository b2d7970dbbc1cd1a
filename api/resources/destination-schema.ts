// What a destination of the flat family may hold (interface.md, "Destination (flat family)").
import { z } from 'zod';
import { AUTH_TYPES } from '../../core/auth-config.ts';
import { ApiError } from '../errors.ts';
import * as field from './fields.ts';

const WAREHOUSE_TYPES = ['s3', 'r2', 'gcs', 'azure_blob'] as const;
const MAX_RATE_PER_MINUTE = 1_000_000;

const changeable = {
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
export const createDestinationSchema = z.object({ name: field.name, url: field.url, ...changeable });
export const updateDestinationSchema = z.object({
  name: field.name.optional(),
  url: field.url.optional(),
  type: z.string().optional(),
  ...changeable,
});

/** Types that this plan, or Hookyard as it is, does not take. @throws ApiError 403, 400 */
export function refuseWarehouse(plan: string, type: string): void {
  if (type === 'http') return;
  if (plan === 'free') {
    throw new ApiError(403, undefined, `Destinations of type ${type} need a Pro or Business plan`);
  }
  throw new ApiError(400, undefined, `Destinations of type ${type} are not available yet; the type must be http`);
}
