// Warehouse destinations as clients of the API send them, without a server behind.
import type { WarehouseType } from '../../../core/warehouse/config.ts';
import type { Json } from '../api-client.ts';
import { AZURE_KEY, serviceAccountKey } from './object-stores.ts';
import type { TestOrganization } from '../service.ts';

/** Making an RSA key takes a moment, and one is as good as another. */
const accountKey = serviceAccountKey();

/** A complete config of each type. */
export const warehouseConfigs: Readonly<Record<WarehouseType, Json>> = {
  s3: {
    ...{ bucket: 'events', region: 'eu-central-1' },
    ...{ accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'the-secret-of-s3-0001' },
  },
  r2: {
    ...{ bucket: 'events', accountId: '0123456789abcdef0123456789abcdef', region: 'auto' },
    ...{ accessKeyId: 'r2-key', secretAccessKey: 'the-secret-of-r2-0002' },
  },
  gcs: { bucket: 'events', projectId: 'hookyard-test', serviceAccountKey: accountKey },
  azure_blob: { accountName: 'hookyardtest', accountKey: AZURE_KEY, containerName: 'events' },
};

/** Defaults of `config`. */
export const warehouseDefaults = {
  fileFormat: 'jsonl',
  compression: 'none',
  payloadColumn: 'text',
  partitionBy: 'date',
  keyOrder: 'written',
  batchSize: 1000,
  batchBytes: 5_242_880,
  batchWindowSeconds: 60,
};

let count = 0;

export type WarehouseRecord = Json & { id: string; config: Json; fieldMapping: Json[] };

/** Creates a warehouse. @param config members that differ */
export function makeWarehouse(
  organization: TestOrganization,
  type: WarehouseType = 's3',
  config: Json = {},
  members: Json = {},
): Promise<WarehouseRecord> {
  count += 1;
  return organization.api.create<WarehouseRecord>('/api/destinations', {
    name: `Warehouse ${count}`,
    type,
    config: { ...warehouseConfigs[type], ...config },
    ...members,
  });
}
