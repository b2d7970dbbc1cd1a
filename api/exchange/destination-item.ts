// A destination in an export file (EXP-10, EXP-11), with every member needed to recreate it: description, retryPolicy and
// signingSecret too.
import { z } from 'zod';
import type { Destination } from '../../db/entities.ts';
import type { ApiDeps } from '../request/context.ts';
import {
  type DestinationInput,
  destinationImportItem,
  destinationMembers,
  requirePlan,
  typeSchema,
} from '../resources/destinations/destination-members.ts';
import * as field from '../resources/fields.ts';
import { fileShape, toFileItem } from '../resources/table.ts';
import { REDACTED } from '../resources/values.ts';
import { warehouseImportItem, warehouseMembers } from '../resources/destinations/warehouse-members.ts';
import { openAuthConfig, openSigningSecret } from '../resources/destinations/destination-record.ts';
import { isWarehouse } from '../resources/destinations/destination-warehouse.ts';
import { check } from '../request/validation.ts';
import { isObject } from './exchange.ts';
import { exportWarehouse, readWarehouseItem, type WarehouseItem } from './warehouse-item.ts';

/** A destination as it stands in a file. @param includeSensitive whether its credentials are written in clear */
export function exportDestination(deps: ApiDeps, destination: Destination, includeSensitive: boolean) {
  const credentials = {
    authConfig: includeSensitive ? exportAuthConfig(deps, destination) : REDACTED,
    signingSecret: includeSensitive || !destination.signingSecret ? openSigningSecret(deps, destination) : REDACTED,
  };
  return isWarehouse(destination)
    ? toFileItem(warehouseMembers, destination, {
        ...credentials,
        ...exportWarehouse(deps, destination, includeSensitive),
      })
    : toFileItem(destinationMembers, destination, credentials);
}

/** What a file holds of a destination of any type. */
export const destinationFileItem = z
  .object({
    ...fileShape(destinationMembers),
    config: warehouseMembers.config.file.optional(),
    fieldMapping: warehouseMembers.fieldMapping.file.optional(),
  })
  .meta({ id: 'DestinationExportItem' });

/** What an import may hold; REDACTED stands for credentials that the file does not hold. */
export const importedDestination = z
  .union([
    destinationImportItem.extend({
      type: z.literal('http').optional(),
      authConfig: z.union([z.literal(REDACTED), destinationImportItem.shape.authConfig]),
    }),
    warehouseImportItem,
  ])
  .meta({ id: 'DestinationImportItem' });

// A destination that was imported without its credentials still has none, and the next import has to know.
function exportAuthConfig(deps: ApiDeps, destination: Destination) {
  return openAuthConfig(deps, destination) ?? (destination.authType === 'none' ? {} : REDACTED);
}

/** A checked item of a file. */
export type DestinationItem = HttpItem | WarehouseItem;

export interface HttpItem {
  type: 'http';
  /** Without the credentials that the file does not hold. */
  input: DestinationInput;
  /** Credentials that the file marks as REDACTED. */
  redacted: { authConfig: boolean; signingSecret: boolean };
}

/** Checks an item as the create endpoint checks its body. @param plan of the organization @throws ApiError 400, 403 */
export function readDestinationItem(plan: string, given: unknown): DestinationItem {
  const { type } = check(typeSchema, given, 'It');
  requirePlan(plan, type);
  if (type !== 'http') return readWarehouseItem(type, given);
  const members = isObject(given) ? { ...given } : {};
  const redacted = {
    // It stands there in every file; without authentication there are no credentials.
    authConfig: members.authConfig === REDACTED && members.authType !== 'none',
    signingSecret: members.signingSecret === REDACTED,
  };
  if (members.authConfig === REDACTED) delete members.authConfig;
  if (redacted.signingSecret) delete members.signingSecret;
  const { isActive: enabled, type: _known, ...rest } = check(destinationImportItem, members, 'It');
  const { name, url, ...optional } = rest;
  return { type, input: { name, url, ...field.sent({ ...optional, enabled }) }, redacted };
}
