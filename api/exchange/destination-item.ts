// A destination in an export file.
// Rules: EXP-10, EXP-11.
import type { Destination } from '../../db/entities.ts';
import type { ApiDeps } from '../context.ts';
import { type DestinationInput, openAuthConfig, openSigningSecret } from '../resources/destination-record.ts';
import { createDestinationSchema, requirePlan, typeSchema } from '../resources/destination-schema.ts';
import { isWarehouse } from '../resources/destination-warehouse.ts';
import * as field from '../resources/fields.ts';
import { check } from '../validation.ts';
import { isObject, REDACTED } from './exchange.ts';
import { exportWarehouse, readWarehouseItem, type WarehouseItem } from './warehouse-item.ts';

/** A destination as a file holds it. @param includeSensitive whether its credentials are written in clear */
export function exportDestination(deps: ApiDeps, destination: Destination, includeSensitive: boolean) {
  return {
    name: destination.name,
    slug: destination.slug,
    description: destination.description ?? null,
    type: destination.type,
    url: destination.url,
    method: destination.method,
    headers: destination.headers,
    authType: destination.authType,
    authConfig: includeSensitive ? exportAuthConfig(deps, destination) : REDACTED,
    signingSecret: includeSensitive || !destination.signingSecret ? openSigningSecret(deps, destination) : REDACTED,
    ...(isWarehouse(destination) && exportWarehouse(deps, destination, includeSensitive)),
    timeoutMs: destination.timeoutMs,
    rateLimitPerMinute: destination.rateLimitPerMinute ?? null,
    retryPolicy: destination.retryPolicy,
    isActive: destination.enabled,
  };
}

// One that was imported without its credentials has still none, and the next import must be told so.
function exportAuthConfig(deps: ApiDeps, destination: Destination) {
  return openAuthConfig(deps, destination) ?? (destination.authType === 'none' ? {} : REDACTED);
}

/** A checked item of a file. */
export type DestinationItem = HttpItem | WarehouseItem;

export interface HttpItem {
  type: 'http';
  /** Without the credentials that the file does not hold. */
  input: DestinationInput;
  /** Which credentials the file says that there are, without holding them. */
  redacted: { authConfig: boolean; signingSecret: boolean };
}

export const itemSchema = createDestinationSchema
  .omit({ enabled: true })
  .extend({ isActive: field.enabled.optional() });

/** Checks an item as the create endpoint checks its body. @param plan of the organization @throws ApiError 400, 403 */
export function readDestinationItem(plan: string, given: unknown): DestinationItem {
  const { type } = check(typeSchema, given, 'It');
  requirePlan(plan, type);
  if (type !== 'http') return readWarehouseItem(type, given);
  const members = isObject(given) ? { ...given } : {};
  const redacted = {
    authConfig: members.authConfig === REDACTED,
    signingSecret: members.signingSecret === REDACTED,
  };
  if (redacted.authConfig) delete members.authConfig;
  if (redacted.signingSecret) delete members.signingSecret;
  const { isActive: enabled, type: _known, ...rest } = check(itemSchema, members, 'It');
  const { name, url, ...optional } = rest;
  return { type, input: { name, url, ...field.sent({ ...optional, enabled }) }, redacted };
}
