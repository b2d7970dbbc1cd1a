// A warehouse in an export file. Beside the members of every destination it has `config`, in which only the secret is hidden, and
// `fieldMapping`.
// Rules: EXP-10, EXP-11.
import type { WarehouseType } from '../../core/warehouse/config.ts';
import { secretFieldOf } from '../../core/warehouse/credentials.ts';
import { openWarehouseConfig } from '../../db/warehouse/config.ts';
import type { ApiDeps } from '../request/context.ts';
import { createDestinationSchema } from '../resources/destinations/destination-members.ts';
import * as field from '../resources/fields.ts';
import { REDACTED } from '../resources/values.ts';
import {
  createWarehouseSchema,
  type WarehouseInput,
  warehouseImportItem,
} from '../resources/destinations/warehouse-members.ts';
import {
  changedWarehouse,
  checkConfig,
  checkFieldMapping,
  newWarehouse,
  type Warehouse,
} from '../resources/destinations/destination-warehouse.ts';
import { check } from '../request/validation.ts';
import { isObject } from './exchange.ts';

/** The members that only a warehouse has in a file. @param includeSensitive whether its secret is written in clear */
export function exportWarehouse(deps: ApiDeps, stored: Warehouse, includeSensitive: boolean) {
  return { config: exportConfig(deps, stored, includeSensitive), fieldMapping: stored.fieldMapping ?? [] };
}

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

/** A checked item of a warehouse. */
export interface WarehouseItem {
  type: WarehouseType;
  /** Without the secret that the file does not hold; without `config` when it holds none of it. */
  input: WarehouseInput;
  /** Whether the file marks credentials as REDACTED. */
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
export function readWarehouseItem(type: WarehouseType, given: unknown): WarehouseItem {
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
 * The members that a file has, as they were checked. A new warehouse gets the defaults of the others later, an existing one keeps
 * what it has (EXP-14).
 */
function withoutDefaults(given: unknown, checked: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(checked).filter(([name]) => isObject(given) && Object.hasOwn(given, name)));
}

/** The record of an item; `incomplete` when the file does not hold its credentials. @throws ApiError 400 */
export function newFromItem(deps: ApiDeps, organization: string, { type, input, redacted }: WarehouseItem) {
  return { record: newWarehouse(deps, organization, type, input, redacted), incomplete: redacted };
}

/** The stored warehouse with the item applied; `incomplete` when it has no credentials yet. @throws ApiError 400, 403 */
export function changedByItem(
  deps: ApiDeps,
  stored: Warehouse,
  { input, redacted }: WarehouseItem,
  maySeeSecrets: boolean,
) {
  const { slug: _same, ...patch } = input;
  const known = openWarehouseConfig(deps.secretBox, stored) ?? {};
  const field = secretFieldOf(stored.type, known);
  return {
    changed: changedWarehouse(deps, stored, patch, { maySeeSecrets, incomplete: redacted }),
    incomplete: redacted && field !== null && known[field] === undefined,
  };
}
