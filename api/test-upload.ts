// Test files to a warehouse.
// Rules: ERR-06, DEST-46, WH-28.
import { newId } from '../core/ids.ts';
import type { WarehouseEvent } from '../core/warehouse/event.ts';
import type { FieldMappingRule } from '../core/warehouse/field-mapping.ts';
import type { BatchFile } from '../core/warehouse/file.ts';
import { parseExact } from '../core/numbers/exact-json.ts';
import { type FileFormat, objectKey, testPrefix } from '../core/warehouse/object-key.ts';
import { FileTooLargeError } from '../core/warehouse/size-limit.ts';
import type { DecryptedConfig } from '../db/warehouse/config.ts';
import type { Compute } from '../outbound/compute/index.ts';
import { openFile } from '../outbound/warehouses/batch-file.ts';
import type { Warehouses, WarehouseTarget } from '../outbound/warehouses/index.ts';
import { samplePayload } from './test-send.ts';

/** How long an upload may take, in ms; one that takes longer is reported as failed. */
const DEADLINE_MS = 30_000;

/** A longer row is not shown; a mapping can write the payload fifty times. */
const MAX_SHOWN_BYTES = 64 * 1024;

export interface TestUploader {
  /**
   * Uploads a file with one event; errors are part of the result.
   * @throws ComputeBusyError
   */
  upload(destination: TestedWarehouse, payload?: Record<string, unknown>): Promise<UploadResult>;
}

export interface TestedWarehouse {
  id: string;
  organizationId: string;
  version: number;
  /** The slug of its organization. */
  organization: string;
  opened: DecryptedConfig;
  fieldMapping: FieldMappingRule[] | null;
}

export type UploadResult =
  | {
      success: true;
      /** `size` in bytes; `count` of rows; the row itself, or null when it is long. */
      result: { key: string; size: number; count: number; row: unknown };
      /** ms */
      latency: number;
      message: string;
    }
  | { success: false; statusCode: number | null; latency: number; error: string; message: string };

export function createTestUploader(
  warehouses: Pick<Warehouses, 'put'>,
  compute: Pick<Compute, 'rows' | 'rowGroup'>,
): TestUploader {
  return {
    async upload({ id, organizationId, version, organization, opened, fieldMapping }, payload = samplePayload) {
      if (!opened.ok) return failure(null, 0, opened.message);
      const { ok: _ok, ...typed } = opened;
      const event = testEvent(payload);
      const made = await testFile(compute, event, { organizationId, fieldMapping, ...typed });
      if (typeof made === 'string') return failure(null, 0, made);
      const { file, row } = made;
      const key = testKey(event, typed.config);
      const metadata = { count: String(file.count), sha256: file.sha256 };
      const target: WarehouseTarget = { id, version, organizationId, organization, ...typed };
      const startedAt = performance.now();
      const written = await warehouses.put(
        target,
        { key, body: file.body, contentType: file.contentType, metadata },
        DEADLINE_MS,
      );
      const latency = Math.round(performance.now() - startedAt);
      if (!written.ok) {
        const error = written.kind === 'permission' ? `${written.detail}${besideOf(key)}` : written.detail;
        return failure(written.statusCode ?? null, latency, error);
      }
      return {
        success: true,
        result: { ...written.value, count: file.count, row },
        latency,
        message: `The test file was uploaded${misfitsOf(file.misfits)}`,
      };
    },
  };
}

function testEvent(payload: Record<string, unknown>): WarehouseEvent {
  const now = new Date();
  return {
    id: newId('evt'),
    deliveryId: newId('dlv'),
    source: 'test',
    routeId: null,
    replayOf: null,
    receivedAt: now,
    writtenAt: now,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(payload)),
  };
}

function testKey(event: WarehouseEvent, config: WarehouseTarget['config']): string {
  const { fileFormat, compression, partitionBy, keyOrder, prefix = '' } = config;
  const form = { partitionBy, keyOrder, fileFormat, compression };
  const frozenAt = event.writtenAt;
  return objectKey({ id: newId('bat'), events: [event], prefix: testPrefix(prefix), frozenAt, ...form });
}

/** A file in the destination's format, with one event, and its row; or why there is none. */
async function testFile(
  compute: Pick<Compute, 'rows' | 'rowGroup'>,
  event: WarehouseEvent,
  {
    organizationId,
    fieldMapping,
    config,
  }: Pick<TestedWarehouse, 'organizationId' | 'fieldMapping'> & Pick<WarehouseTarget, 'config'>,
): Promise<{ file: BatchFile; row: unknown } | string> {
  const { fileFormat, compression, payloadColumn } = config;
  const form = { fileFormat, compression, payloadColumn, fieldMapping };
  const file = openFile(organizationId, form, compute);
  let shown: unknown = null;
  const stored = { ...event, headers: JSON.stringify(event.headers) };
  for await (const made of compute.rows(organizationId, form, [stored])) {
    if (made.isNextTooLarge) return new FileTooLargeError().message;
    if (made.tooLong.length > 0) return 'The row takes too long to make; simplify what the fieldMapping searches for';
    if (made.bytes.length <= MAX_SHOWN_BYTES) shown = shownRow(new TextDecoder().decode(made.bytes), fileFormat);
    await file.add(made);
  }
  return { file: await file.finish(), row: shown };
}

/** As readers of the file see it: numbers are doubles in Parquet. */
const shownRow = (json: string, fileFormat: FileFormat): unknown =>
  fileFormat === 'parquet' ? JSON.parse(json) : parseExact(json);

/** Credentials may be for the data only. */
const besideOf = (key: string): string => `. The file of a test lies beside the data: ${key}`;

function misfitsOf(count: number): string {
  if (count === 0) return '';
  return count === 1 ? '; 1 value did not fit its column' : `; ${count} values did not fit their columns`;
}

function failure(statusCode: number | null, latency: number, error: string): UploadResult {
  return { success: false, statusCode, latency, error, message: `The test file was not uploaded: ${error}` };
}
