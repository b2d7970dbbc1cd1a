// Destinations and warehouses as export files hold them.
import { z } from 'zod';
import type { WarehouseType } from '../../core/warehouse/config.ts';
import { secretFieldOf } from '../../core/warehouse/credentials.ts';
import type { Destination } from '../../db/records/entities.ts';
import { openWarehouseConfig } from '../../db/warehouse/config.ts';
import type { ApiDeps } from '../request/context.ts';
import { invalid } from '../request/errors.ts';
import { check } from '../request/validation.ts';
import {
  createDestinationSchema,
  createWarehouseSchema,
  destinationImportItem,
  type DestinationInput,
  destinationMembers,
  requirePlan,
  typeSchema,
  warehouseImportItem,
  type WarehouseInput,
  warehouseMembers,
} from '../resources/destinations/destination-members.ts';
import {
  changedDestination,
  lacksCredentials,
  newDestination,
  openAuthConfig,
  openSigningSecret,
} from '../resources/destinations/destination-record.ts';
import {
  changedWarehouse,
  checkConfig,
  checkFieldMapping,
  isWarehouse,
  newWarehouse,
  type Warehouse,
} from '../resources/destinations/destination-warehouse.ts';
import * as field from '../resources/fields.ts';
import { fileShape, toFileItem } from '../resources/table.ts';
import { component, REDACTED } from '../resources/values.ts';
import { isObject } from './files.ts';

function exportConfig({ secretBox }: ApiDeps, stored: Warehouse, includeSensitive: boolean) {
  const config = openWarehouseConfig(secretBox, stored);
  // It was imported without a secret and still has none; the next import has to know.
  if (config === null) return REDACTED;
  const secret = secretFieldOf(stored.type, config);
  if (secret === null) return config;
  // The secret of r2 is optional.
  const hidden = config[secret] === undefined ? stored.type !== 'r2' : !includeSensitive;
  return hidden ? { ...config, [secret]: REDACTED } : config;
}

interface WarehouseItem {
  type: WarehouseType;
  /** Without the secret that the file does not hold; without `config` when it holds none of it. */
  input: WarehouseInput;
  redacted: boolean;
}

// Files hold the members of every type.
const httpMembers = new Set(
  Object.keys(createDestinationSchema.shape).filter((name) => !Object.hasOwn(createWarehouseSchema.shape, name)),
);

function withoutHttpMembers(given: unknown): unknown {
  return isObject(given) ? Object.fromEntries(Object.entries(given).filter(([name]) => !httpMembers.has(name))) : given;
}

/** Checks an item as the create endpoint checks its body. @throws ApiError 400 */
function readWarehouseItem(type: WarehouseType, given: unknown): WarehouseItem {
  const {
    isActive: enabled,
    config,
    fieldMapping,
    name,
    type: _known,
    ...optional
  } = check(warehouseImportItem, withoutHttpMembers(given), 'It');
  // A file that knows only the interface's members has no config at all.
  const whole = config === undefined || config === REDACTED;
  const secret = isObject(config) ? secretFieldOf(type, config) : null;
  const redacted = whole || (secret !== null && isObject(config) && config[secret] === REDACTED);
  const present = redacted && secret !== null && isObject(config) ? { ...config, [secret]: null } : config;
  return {
    type,
    input: {
      name,
      ...field.sent({ ...optional, enabled }),
      ...(!whole && { config: withoutDefaults(present, checkConfig(type, present, null, redacted)) }),
      ...(fieldMapping !== undefined && { fieldMapping: checkFieldMapping(fieldMapping) }),
    },
    redacted,
  };
}

/**
 * The members that a file has, as they were checked. A new warehouse gets the defaults of the others later, an existing
 * one keeps what it has.
 */
function withoutDefaults(given: unknown, checked: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(checked).filter(([name]) => isObject(given) && Object.hasOwn(given, name)));
}

/** The record of an item; `incomplete` when the file holds not all of its credentials. @throws ApiError 400 */
export function newFromItem(deps: ApiDeps, organization: string, item: DestinationItem) {
  if (item.type !== 'http') {
    const { type, input, redacted } = item;
    return { record: newWarehouse(deps, organization, type, input, redacted), incomplete: redacted };
  }
  const { input, redacted } = item;
  const { authType = 'none' } = input;
  const withoutAuth = redacted.authConfig && authType !== 'none';
  const record = newDestination(deps, organization, withoutAuth ? { ...input, authType: 'none' } : input);
  return { record: { ...record, authType }, incomplete: withoutAuth || redacted.signingSecret };
}

/**
 * The stored destination with an item of its type applied; `incomplete` when it has no credentials yet.
 * @throws ApiError 400, 403
 */
export function changedByItem(deps: ApiDeps, stored: Destination, item: DestinationItem, maySeeSecrets: boolean) {
  if (!isWarehouse(stored)) return changedHttp(deps, stored, item as HttpItem, maySeeSecrets);
  const { input, redacted } = item as WarehouseItem;
  const { slug: _same, ...patch } = input;
  const known = openWarehouseConfig(deps.secretBox, stored) ?? {};
  const secret = secretFieldOf(stored.type, known);
  return {
    changed: changedWarehouse(deps, stored, patch, { maySeeSecrets, incomplete: redacted }),
    incomplete: redacted && secret !== null && known[secret] === undefined,
  };
}

function changedHttp(deps: ApiDeps, stored: Destination, { input, redacted }: HttpItem, maySeeSecrets: boolean) {
  const { slug: _same, authType, ...patch } = input;
  if (redacted.authConfig && authType !== undefined && authType !== stored.authType)
    throw invalid('authConfig', `must be complete because the stored destination has no ${authType} credentials`);
  const incomplete = redacted.authConfig && lacksCredentials(stored);
  const change = redacted.authConfig ? patch : { ...patch, authType };
  return { changed: changedDestination(deps, stored, change, { maySeeSecrets, incomplete }), incomplete };
}

// A destination in an export file, with every member needed to recreate it: description, retryPolicy and
// signingSecret too.

/** A destination as it stands in a file. @param includeSensitive whether its credentials are written in clear */
export function exportDestination(deps: ApiDeps, destination: Destination, includeSensitive: boolean) {
  const credentials = {
    authConfig: includeSensitive ? exportAuthConfig(deps, destination) : REDACTED,
    signingSecret: includeSensitive || !destination.signingSecret ? openSigningSecret(deps, destination) : REDACTED,
  };
  return isWarehouse(destination)
    ? toFileItem(warehouseMembers, destination, {
        ...credentials,
        config: exportConfig(deps, destination, includeSensitive),
        fieldMapping: destination.fieldMapping ?? [],
      })
    : toFileItem(destinationMembers, destination, credentials);
}

export const destinationFileItem = component('DestinationExportItem', {
  ...fileShape(destinationMembers),
  config: warehouseMembers.config.file.optional(),
  fieldMapping: warehouseMembers.fieldMapping.file.optional(),
});

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

export type DestinationItem = HttpItem | WarehouseItem;

interface HttpItem {
  type: 'http';
  /** Without the credentials that the file does not hold. */
  input: DestinationInput;
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
