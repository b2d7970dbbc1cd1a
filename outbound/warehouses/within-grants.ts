// Stores that are used with access of the operator: only where that is for the organization.
import type { ErrorSummary } from '../../core/text/error-summary.ts';
import { type BucketGrant, isGranted } from '../../core/warehouse/bucket-grants.ts';
import { dataKeyOf } from '../../core/warehouse/object-key.ts';
import { type ObjectStore, StoreSettingsError } from './store.ts';

/** A store that writes and looks only where the operator's access is for the organization. @param refusal the error elsewhere */
export function withinGrants(
  store: ObjectStore,
  { grants, organization, bucket }: { grants: readonly BucketGrant[]; organization: string; bucket: string },
  refusal: ErrorSummary,
): ObjectStore {
  const requireGranted = (key: string): void => {
    // Who may write to a folder may test it.
    for (const own of [key, dataKeyOf(key)])
      if (own !== null && isGranted(grants, { organization, bucket, key: own })) return;
    throw new StoreSettingsError(refusal);
  };
  return {
    ...store,
    async put(object, signal) {
      requireGranted(object.key);
      await store.put(object, signal);
    },
    async begin(object, signal) {
      requireGranted(object.key);
      return store.begin(object, signal);
    },
    async head(key, signal) {
      requireGranted(key);
      return store.head(key, signal);
    },
  };
}
