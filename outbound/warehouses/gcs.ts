// Google Cloud Storage.
import { createHash } from 'node:crypto';
import { named, ownWords } from '../../core/text/error-summary.ts';
import type { WarehouseConfig } from '../../core/warehouse/config.ts';
import { usesIdentity } from '../../core/warehouse/credentials.ts';
import { readServiceAccountKey, type ServiceAccount } from '../../core/warehouse/service-account.ts';
import { describeStoreError } from './errors.ts';
import { beginGcsParts } from './gcs-parts.ts';
import { identityTokens, selfSignedTokens } from './gcs-token.ts';
import { gcsTransport } from './gcs-transport.ts';
import { type OpenStore, StoreSettingsError } from './store.ts';

const DEFAULT_ENDPOINT = 'https://storage.googleapis.com';

export const openGcs: OpenStore<WarehouseConfig<'gcs'>> = async (config, http) => {
  const { Storage, ApiError } = await import('@google-cloud/storage');
  const apiEndpoint = config.endpoint?.replace(/\/+$/, '') ?? DEFAULT_ENDPOINT;
  const isIdentity = usesIdentity(config);
  const tokens = isIdentity
    ? await identityTokens(config.projectId)
    : selfSignedTokens(readKey(config.serviceAccountKey ?? ''));
  // Holds neither key nor connections: both are the transport's, which is made for each call.
  const fileFor = (name: string, signal: AbortSignal) => {
    const storage = new Storage({
      projectId: config.projectId,
      apiEndpoint,
      retryOptions: { autoRetry: false, maxRetries: 0 },
      userAgent: 'hookyard',
    });
    const { authClient } = storage;
    storage.makeAuthenticatedRequest = gcsTransport({ http, signal, authorize: tokens, authClient, ApiError });
    return storage.bucket(config.bucket).file(name);
  };

  return {
    async put({ key, body, contentType, metadata }, signal) {
      const md5Hash = createHash('md5').update(body).digest('base64');
      await fileFor(key, signal).save(body, {
        resumable: false,
        // The store compares with `md5Hash` before it keeps the object; the SDK would do so afterwards.
        validation: false,
        metadata: { contentType, md5Hash, metadata: { ...metadata } },
      });
    },
    begin: (object, signal) =>
      beginGcsParts({ http, authorize: tokens, apiEndpoint, bucket: config.bucket, ApiError }, object, signal),
    async head(key, signal) {
      try {
        const [head] = await fileFor(key, signal).getMetadata();
        const metadata = Object.entries(head.metadata ?? {}).map(([name, value]) => [name, String(value)]);
        return {
          size: Number(head.size ?? 0),
          contentType: head.contentType ?? '',
          metadata: Object.fromEntries(metadata),
        };
      } catch (error) {
        if (error instanceof ApiError && error.code === 404 && !/bucket does not exist/i.test(error.message))
          return null;
        throw error;
      }
    },
    describeError: (error) =>
      describeStoreError(error, {
        service: 'Google Cloud Storage',
        bucket: `bucket "${config.bucket}"`,
        credentials: isIdentity ? 'the identity of this service' : 'serviceAccountKey',
        address: config.endpoint === undefined ? 'the network' : 'endpoint',
        permission: 'the role Storage Object User',
        region: null,
      }),
    close: () => undefined,
  };
};

function readKey(json: string): ServiceAccount {
  try {
    return readServiceAccountKey(json);
  } catch (error) {
    // Its own words: it never quotes the key.
    const reason = error instanceof Error ? error.message : 'cannot be read';
    throw new StoreSettingsError(ownWords`serviceAccountKey ${named(reason)}`);
  }
}
