// The operator's own access to R2 (R2_* of the environment), and what it is for: buckets, or folders of them, that the operator
// gives to single organizations. Without a list it is for nobody.
// Rules: WH-06, WH-29.
import type { Settings } from '../config.ts';
import type { WarehouseConfig } from './config.ts';
import { normalPrefix } from './object-key.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** One entry of HOOKYARD_R2_BUCKETS. */
export interface R2Bucket {
  /** A slug. */
  organization: string;
  bucket: string;
  /** Without slashes at its ends; empty for the whole bucket. */
  prefix: string;
}

export interface OperatorR2 {
  accountId: string | undefined;
  endpoint: string | undefined;
  accessKeyId: string | undefined;
  secretAccessKey: string | undefined;
  buckets: readonly R2Bucket[];
}

/** Reads `<organization>:<bucket>` or `<organization>:<bucket>/<prefix>`; null when it is neither. */
export function parseR2Bucket(entry: string): R2Bucket | null {
  const [, organization, bucket, prefix = ''] = /^([a-z0-9-]+):([a-z0-9.-]+)(\/.*)?$/.exec(entry) ?? [];
  return organization === undefined || bucket === undefined
    ? null
    : { organization, bucket, prefix: normalPrefix(prefix) };
}

export function operatorR2(
  { HOOKYARD_R2_BUCKETS }: Pick<Settings, 'HOOKYARD_R2_BUCKETS'>,
  env: Environment,
): OperatorR2 {
  return {
    accountId: env.R2_ACCOUNT_ID || undefined,
    endpoint: env.R2_ENDPOINT || undefined,
    accessKeyId: env.R2_ACCESS_KEY_ID || undefined,
    secretAccessKey: env.R2_SECRET_ACCESS_KEY || undefined,
    buckets: HOOKYARD_R2_BUCKETS.map(parseR2Bucket).filter((bucket) => bucket !== null),
  };
}

type Keys = Partial<Pick<WarehouseConfig<'r2'>, 'accessKeyId' | 'secretAccessKey'>>;

/** Whether requests of this config are signed with a key of the operator. */
export function usesOperatorsKeys(config: Keys, r2: OperatorR2): boolean {
  const isTaken = (own: string | undefined, operators: string | undefined) =>
    own === undefined && operators !== undefined;
  return isTaken(config.accessKeyId, r2.accessKeyId) || isTaken(config.secretAccessKey, r2.secretAccessKey);
}

/** Whether the operator gives this organization the object. @param object.organization its slug */
export function isGiven(r2: OperatorR2, object: { organization: string; bucket: string; key: string }): boolean {
  return r2.buckets.some(
    ({ organization, bucket, prefix }) =>
      organization === object.organization &&
      bucket === object.bucket &&
      (prefix === '' || object.key.startsWith(`${prefix}/`)),
  );
}

/** Whether the operator gives this organization everything that a destination of this config may write. */
export function isGivenAll(
  r2: OperatorR2,
  { organization, bucket, prefix }: { organization: string; bucket: string; prefix: string | undefined },
): boolean {
  return isGiven(r2, { organization, bucket, key: `${normalPrefix(prefix ?? '')}/` });
}
