// Warehouse destinations for tests, by provider: how its server is started and prepared, and what a destination there
// looks like.
import { CreateBucketCommand, ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { ContainerClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { expect } from 'chai';
import type { StoreResult, WarehouseTarget } from '../../../outbound/warehouses/index.ts';
import type { StoreProblem } from '../../../outbound/warehouses/store.ts';
import { type WarehouseType, warehouseConfigSchemas } from '../../../core/warehouse/config.ts';
import * as stores from './object-stores.ts';

const BUCKET = 'hookyard-events';

export interface ProviderCase {
  /** With the variant, where there are several. */
  name: string;
  type: WarehouseType;
  start(): Promise<stores.StoreServer>;
  /** Makes the bucket. */
  prepare(url: string): Promise<void>;
  /** The config for a server at `url`; without one, for the provider's own address. */
  config(url?: string): Record<string, unknown>;
  noBucket: Record<string, unknown>;
  /** None where the server takes every caller. */
  wrongCredentials: Record<string, unknown>[];
  /** How many uploads in parts are neither complete nor aborted, where the store tells. */
  unfinished?(url: string): Promise<number>;
  /** The host that a config without endpoint leads to. */
  publicHost: string;
}

const s3Credentials = { accessKeyId: stores.S3_ACCESS_KEY, secretAccessKey: stores.S3_SECRET_KEY };
const wrongS3 = [{ secretAccessKey: 'not-the-secret' }, { accessKeyId: 'unknown' }];

// The SDK writes into the credentials that it is given.
const s3Client = (region: string, endpoint: string) =>
  new S3Client({ region, endpoint, forcePathStyle: true, credentials: { ...s3Credentials } });

function s3Case(type: 's3' | 'r2', region: string, publicHost: string): ProviderCase {
  return {
    name: `${type} (region ${region})`,
    type,
    start: () => stores.startS3Server(region),
    async prepare(url) {
      const client = s3Client(region, url);
      await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
      client.destroy();
    },
    async unfinished(url) {
      const client = s3Client(region, url);
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: BUCKET }));
      client.destroy();
      return Uploads.length;
    },
    config: (url) => ({
      bucket: BUCKET,
      ...(type === 's3' || region !== 'auto' ? { region } : {}),
      ...s3Credentials,
      ...(url !== undefined ? { endpoint: url } : type === 'r2' ? { accountId: '0'.repeat(32) } : {}),
    }),
    noBucket: { bucket: 'no-such-bucket' },
    wrongCredentials: wrongS3,
    publicHost,
  };
}

const r2Host = `${'0'.repeat(32)}.r2.cloudflarestorage.com`;

export const providerCases: ProviderCase[] = [
  s3Case('s3', 'eu-central-1', `${BUCKET}.s3.eu-central-1.amazonaws.com`),
  s3Case('r2', 'auto', r2Host),
  s3Case('r2', 'weur', r2Host),
  {
    name: 'gcs',
    type: 'gcs',
    start: stores.startGcsServer,
    async prepare(url) {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ name: BUCKET });
      const answer = await fetch(`${url}/storage/v1/b?project=hookyard-test`, { method: 'POST', headers, body });
      if (!answer.ok) throw new Error(`the bucket was not made: ${answer.status}`);
    },
    config: (url) => ({
      ...{ bucket: BUCKET, projectId: 'hookyard-test', serviceAccountKey },
      ...(url === undefined ? {} : { endpoint: url }),
    }),
    noBucket: { bucket: 'no-such-bucket' },
    wrongCredentials: [],
    publicHost: 'storage.googleapis.com',
  },
  {
    name: 'azure_blob',
    type: 'azure_blob',
    start: stores.startAzureServer,
    async prepare(url) {
      const credential = new StorageSharedKeyCredential(stores.AZURE_ACCOUNT, stores.AZURE_KEY);
      await new ContainerClient(`${url}/${stores.AZURE_ACCOUNT}/${BUCKET}`, credential).create();
    },
    config: (url) => ({
      ...{ accountName: stores.AZURE_ACCOUNT, accountKey: stores.AZURE_KEY, containerName: BUCKET },
      ...(url === undefined ? {} : { endpoint: `${url}/${stores.AZURE_ACCOUNT}` }),
    }),
    noBucket: { containerName: 'no-such-container' },
    wrongCredentials: [{ accountKey: Buffer.from('not the key').toString('base64') }],
    publicHost: `${stores.AZURE_ACCOUNT}.blob.core.windows.net`,
  },
];

export const caseOf = (type: WarehouseType): ProviderCase =>
  providerCases.find((each) => each.type === type) ?? expect.fail(`no ${type}`);

export const failed = (result: StoreResult<unknown>): StoreProblem =>
  result.ok ? expect.fail('it did not fail') : result;

const serviceAccountKey = stores.serviceAccountKey();

let made = 0;

/** A destination of its own, whose client nobody else uses. */
export function targetOf(provider: ProviderCase, url?: string, changes: Record<string, unknown> = {}): WarehouseTarget {
  const config = warehouseConfigSchemas[provider.type].parse({ ...provider.config(url), ...changes });
  const owner = { organizationId: 'org_acme', organization: 'acme' };
  return { id: `dst_wh_${++made}`, version: 1, ...owner, type: provider.type, config } as WarehouseTarget;
}
