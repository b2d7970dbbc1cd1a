// The operator's own access to R2 (R2_* of the environment), and what it is for: buckets, or folders of them, that the operator
// gives to single organizations. Without a list it is for nobody.
// Rules: WH-06, WH-29.
import type { Settings } from '../config/config.ts';
import { currentSecret } from '../config/secret-files.ts';
import type { BucketGrant } from './bucket-grants.ts';
import type { WarehouseConfig } from './config.ts';
import { parseIdentityGrant } from './identity.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface OperatorR2 {
  accountId: string | undefined;
  endpoint: string | undefined;
  /** Those of now: keys that are in files are replaced there. */
  readonly accessKeyId: string | undefined;
  readonly secretAccessKey: string | undefined;
  buckets: readonly BucketGrant[];
}

export function operatorR2(
  { HOOKYARD_WAREHOUSE_IDENTITY }: Pick<Settings, 'HOOKYARD_WAREHOUSE_IDENTITY'>,
  env: Environment,
): OperatorR2 {
  const accessKeyId = currentSecret(env, 'R2_ACCESS_KEY_ID');
  const secretAccessKey = currentSecret(env, 'R2_SECRET_ACCESS_KEY');
  return {
    accountId: env.R2_ACCOUNT_ID || undefined,
    endpoint: env.R2_ENDPOINT || undefined,
    get accessKeyId() {
      return accessKeyId?.();
    },
    get secretAccessKey() {
      return secretAccessKey?.();
    },
    buckets: HOOKYARD_WAREHOUSE_IDENTITY.map(parseIdentityGrant)
      .filter((grant) => grant !== null)
      .filter(({ type }) => type === 'r2'),
  };
}

type Keys = Partial<Pick<WarehouseConfig<'r2'>, 'accessKeyId' | 'secretAccessKey'>>;

/** Whether requests of this config are signed with a key of the operator. */
export function usesOperatorsKeys(config: Keys, r2: OperatorR2): boolean {
  const isTaken = (own: string | undefined, operators: string | undefined) =>
    own === undefined && operators !== undefined;
  return isTaken(config.accessKeyId, r2.accessKeyId) || isTaken(config.secretAccessKey, r2.secretAccessKey);
}
