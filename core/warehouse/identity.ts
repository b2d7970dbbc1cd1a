// The identity of this service in a cloud (a role, a managed identity, workload identity; of R2 its keys), and which organizations may
// write where with it. Without a list it is for nobody: anyone who could use it could write wherever the service may.
// Rules: WH-29, WH-42, WH-43.
import { type CREDENTIALS, usesIdentity } from './credentials.ts';
import type { WarehouseConfig, WarehouseType } from './config.ts';
import type { BucketGrant } from './bucket-grants.ts';
import { normalPrefix } from './object-key.ts';

/** One entry of HOOKYARD_WAREHOUSE_IDENTITY. */
export interface IdentityGrant extends BucketGrant {
  type: keyof typeof CREDENTIALS | 'r2';
}

// Names of buckets. An account of Azure has containers, so a bucket is two names there.
const BUCKETS: Readonly<Record<IdentityGrant['type'], RegExp>> = {
  s3: /[a-z0-9.-]+/,
  gcs: /[a-z0-9._-]+/,
  azure_blob: /[a-z0-9]+\/[a-z0-9-]+/,
  r2: /[a-z0-9.-]+/,
};
const ENTRIES = (Object.keys(BUCKETS) as IdentityGrant['type'][]).map(
  (type) => [type, new RegExp(`^([a-z0-9-]+):${type}:(${BUCKETS[type].source})(\\/.*)?$`)] as const,
);

/** Reads `<organization>:<type>:<bucket>`, with a prefix or without; null when it is neither. */
export function parseIdentityGrant(entry: string): IdentityGrant | null {
  for (const [type, form] of ENTRIES) {
    const [, organization, bucket, prefix = ''] = form.exec(entry) ?? [];
    if (organization !== undefined && bucket !== undefined)
      return { type, organization, bucket, prefix: normalPrefix(prefix) };
  }
  return null;
}

type Target = { [Type in WarehouseType]: { type: Type; config: WarehouseConfig<Type> } }[WarehouseType];

/** What a target that uses the identity needs: grants of its type, and its bucket as they name it. Null: it does not use it. */
export function identityNeeds(
  { type, config }: Target,
  grants: readonly IdentityGrant[],
): { grants: IdentityGrant[]; bucket: string } | null {
  if (!usesIdentity(config)) return null;
  const bucket = type === 'azure_blob' ? `${config.accountName}/${config.containerName}` : config.bucket;
  return { grants: grants.filter((grant) => grant.type === type), bucket };
}
