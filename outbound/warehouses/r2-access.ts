// Whose credentials a destination of type R2 uses, and what it may write with them.
import { named, ownWords } from '../../core/text/error-summary.ts';
import type { WarehouseConfig } from '../../core/warehouse/config.ts';
import { type OperatorR2, usesOperatorsKeys } from '../../core/warehouse/r2-operator.ts';
import { withinGrants } from './within-grants.ts';
import { type ObjectStore, StoreSettingsError, type StoreUser } from './store.ts';

export interface R2Access {
  endpoint: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/**
 * Values missing in the config come from the operator (WH-06).
 * @throws StoreSettingsError when neither has one, or when the operator's keys would go elsewhere
 */
export function r2Access(config: WarehouseConfig<'r2'>, r2: OperatorR2): R2Access {
  const accountId = config.accountId ?? r2.accountId;
  // An address in the config wins over the operator's, in whichever way it is given.
  const own = config.endpoint ?? (config.accountId && endpointOf(config.accountId));
  const endpoint = own ?? r2.endpoint ?? (accountId && endpointOf(accountId));
  const accessKeyId = config.accessKeyId ?? r2.accessKeyId;
  const secretAccessKey = config.secretAccessKey ?? r2.secretAccessKey;
  const missing = [
    endpoint === undefined && 'accountId (or R2_ACCOUNT_ID)',
    accessKeyId === undefined && 'accessKeyId (or R2_ACCESS_KEY_ID)',
    secretAccessKey === undefined && 'secretAccessKey (or R2_SECRET_ACCESS_KEY)',
  ].filter((name) => name !== false);
  if (endpoint === undefined || accessKeyId === undefined || secretAccessKey === undefined) {
    throw new StoreSettingsError(ownWords`R2 is not set up: give the destination ${named(missing.join(', '))}`);
  }
  if (usesOperatorsKeys(config, r2) && !isOperators(endpoint, r2)) {
    throw new StoreSettingsError(
      ownWords`R2 keys of the environment are not used for another endpoint: give the destination accessKeyId and secretAccessKey`,
    );
  }
  return { endpoint, accessKeyId, secretAccessKey };
}

/** A store that writes and looks only where the operator's keys are for the organization, if these are used. */
export function withinGrantedBuckets(
  store: ObjectStore,
  config: WarehouseConfig<'r2'>,
  { organization, r2 }: StoreUser,
): ObjectStore {
  if (!usesOperatorsKeys(config, r2)) return store;
  const { bucket } = config;
  const refusal = ownWords`R2 keys of the environment are not for ${named(bucket)}/${named(config.prefix ?? '')} of this organization: give the destination accessKeyId and secretAccessKey, or have the operator list it in HOOKYARD_WAREHOUSE_IDENTITY`;
  return withinGrants(store, { grants: r2.buckets, organization, bucket }, refusal);
}

/** An operator who names no account leaves it to the destination; it is one of Cloudflare's then. */
function isOperators(endpoint: string, { endpoint: named, accountId }: OperatorR2): boolean {
  if (endpoint === named) return true;
  if (accountId !== undefined) return endpoint === endpointOf(accountId);
  return named === undefined && /\.r2\.cloudflarestorage\.com$/.test(new URL(endpoint).hostname);
}

const endpointOf = (accountId: string): string => `https://${accountId}.r2.cloudflarestorage.com`;
