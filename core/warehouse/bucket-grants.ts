// Buckets, or folders of them, that the operator gives to single organizations.
import { normalPrefix } from './object-key.ts';

export interface BucketGrant {
  /** A slug. */
  organization: string;
  /** Of Azure: `<account>/<container>`. */
  bucket: string;
  /** Without slashes at its ends; empty for the whole bucket. */
  prefix: string;
}

/** Whether the operator gives this organization the object. @param object.organization its slug */
export function isGranted(
  grants: readonly BucketGrant[],
  object: { organization: string; bucket: string; key: string },
): boolean {
  return grants.some(
    ({ organization, bucket, prefix }) =>
      organization === object.organization &&
      bucket === object.bucket &&
      (prefix === '' || object.key.startsWith(`${prefix}/`)),
  );
}

/** Whether the operator gives this organization everything that a destination of this config may write. */
export function isPrefixGranted(
  grants: readonly BucketGrant[],
  { organization, bucket, prefix }: { organization: string; bucket: string; prefix: string | undefined },
): boolean {
  return isGranted(grants, { organization, bucket, key: `${normalPrefix(prefix ?? '')}/` });
}
