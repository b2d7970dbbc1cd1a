// The operator's own access to stores, and where organizations may write with it: the identity of this service in a
// cloud (a role, a managed identity, workload identity), and R2 keys of the environment. Without a grant it is for
// nobody: anyone who could use it could write wherever the service may.
import type { Settings } from '../config/config.ts';
import { currentSecret } from '../config/secret-files.ts';
import type { WarehouseConfig, WarehouseType } from './config.ts';
import { BUCKET_NAMES, usesIdentity } from './credentials.ts';
import { normalPrefix } from './files-and-keys.ts';

/**
 * One entry of HOOKYARD_WAREHOUSE_IDENTITY: a bucket, or a folder of it, that the operator gives to an organization.
 */
export interface Grant {
  type: WarehouseType;
  organization: string;
  /** Of Azure: `<account>/<container>`. */
  bucket: string;
  /** Without slashes at its ends; empty for the whole bucket. */
  prefix: string;
}

export interface OperatorAccess {
  r2: OperatorR2;
  grants: readonly Grant[];
}

/** Keys and address of R2, as the environment has them. */
export interface OperatorR2 {
  accountId?: string | undefined;
  endpoint?: string | undefined;
  /** Those of now: keys that are in files are replaced there. */
  readonly accessKeyId?: string | undefined;
  readonly secretAccessKey?: string | undefined;
}

export const NO_OPERATOR_ACCESS: OperatorAccess = { r2: {}, grants: [] };

export function operatorAccess(
  settings: Pick<Settings, 'HOOKYARD_WAREHOUSE_IDENTITY'>,
  env: Readonly<Record<string, string | undefined>>,
): OperatorAccess {
  const accessKeyId = currentSecret(env, 'R2_ACCESS_KEY_ID');
  const secretAccessKey = currentSecret(env, 'R2_SECRET_ACCESS_KEY');
  const r2 = {
    accountId: env.R2_ACCOUNT_ID || undefined,
    endpoint: env.R2_ENDPOINT || undefined,
    get accessKeyId() {
      return accessKeyId?.();
    },
    get secretAccessKey() {
      return secretAccessKey?.();
    },
  };
  return { r2, grants: settings.HOOKYARD_WAREHOUSE_IDENTITY.flatMap((entry) => parseGrant(entry) ?? []) };
}

const ENTRIES = (Object.keys(BUCKET_NAMES) as WarehouseType[]).map(
  (type) => [type, new RegExp(`^([a-z0-9-]+):${type}:(${BUCKET_NAMES[type].source})(\\/.*)?$`)] as const,
);

/** Reads `<organization>:<type>:<bucket>`, with a prefix or without; null when it is neither. */
export function parseGrant(entry: string): Grant | null {
  for (const [type, form] of ENTRIES) {
    const [, organization, bucket, prefix = ''] = form.exec(entry) ?? [];
    if (organization !== undefined && bucket !== undefined)
      return { type, organization, bucket, prefix: normalPrefix(prefix) };
  }
  return null;
}

type Target = { [Type in WarehouseType]: { type: Type; config: WarehouseConfig<Type> } }[WarehouseType];

/** The bucket, as grants name it, that a target writes to with access of the operator; null when it has its own. */
export function operatorsBucket({ type, config }: Target, r2: OperatorR2): string | null {
  if (!(type === 'r2' ? usesOperatorsKeys(config, r2) : usesIdentity(config))) return null;
  return type === 'azure_blob' ? `${config.accountName}/${config.containerName}` : config.bucket;
}

type Keys = Partial<Pick<WarehouseConfig<'r2'>, 'accessKeyId' | 'secretAccessKey'>>;

/** Whether requests of this config are signed with a key of the operator. */
export function usesOperatorsKeys(config: Keys, r2: OperatorR2): boolean {
  const isTaken = (own: string | undefined, operators: string | undefined) =>
    own === undefined && operators !== undefined;
  return isTaken(config.accessKeyId, r2.accessKeyId) || isTaken(config.secretAccessKey, r2.secretAccessKey);
}

type Place = Omit<Grant, 'prefix'>;

export function isGranted(grants: readonly Grant[], { key, ...place }: Place & { key: string }): boolean {
  return grants.some(
    ({ type, organization, bucket, prefix }) =>
      type === place.type &&
      organization === place.organization &&
      bucket === place.bucket &&
      (prefix === '' || key.startsWith(`${prefix}/`)),
  );
}

export function isPrefixGranted(
  grants: readonly Grant[],
  { prefix, ...place }: Place & { prefix: string | undefined },
): boolean {
  return isGranted(grants, { ...place, key: `${normalPrefix(prefix ?? '')}/` });
}
