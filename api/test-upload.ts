// Test files to a warehouse.
// Rules: ERR-06, DEST-46, WH-28.

import { newId } from '../core/ids.ts';
import { compileFieldMapping, type FieldMappingRule } from '../core/warehouse/field-mapping.ts';
import { buildFile } from '../core/warehouse/file.ts';
import { normalPrefix, objectKey } from '../core/warehouse/object-key.ts';
import { FileTooLargeError } from '../core/warehouse/size-limit.ts';
import type { DecryptedConfig } from '../db/warehouse/config.ts';
import type { Warehouses, WarehouseTarget } from '../outbound/warehouses/index.ts';
import { samplePayload } from './test-send.ts';

/** How long an upload may take, in ms; one that takes longer is reported as failed. */
const DEADLINE_MS = 30_000;

/**
 * Folder of test files below the destination's prefix. Hive, Spark and Athena ignore folders that start with an underscore, so no
 * test appears among the events.
 */
const FOLDER = '_test';

export interface TestUploader {
  /** Uploads a file with one event; errors are part of the result. */
  upload(destination: TestedWarehouse, payload?: Record<string, unknown>): Promise<UploadResult>;
}

export interface TestedWarehouse {
  id: string;
  version: number;
  /** The slug of its organization. */
  organization: string;
  opened: DecryptedConfig;
  fieldMapping: FieldMappingRule[] | null;
}

export type UploadResult =
  | {
      success: true;
      /** `size` in bytes; `count` of rows. */
      result: { key: string; size: number; count: number };
      /** ms */
      latency: number;
      message: string;
    }
  | { success: false; statusCode: number | null; latency: number; error: string; message: string };

export function createTestUploader(warehouses: Pick<Warehouses, 'put'>): TestUploader {
  return {
    async upload({ id, version, organization, opened, fieldMapping }, payload = samplePayload) {
      if (!opened.ok) return failure(null, 0, opened.message);
      const { ok: _ok, ...typed } = opened;
      const made = testFile(typed.config, fieldMapping, payload);
      if (made instanceof FileTooLargeError) return failure(null, 0, made.message);
      const { key, file } = made;
      const metadata = { count: String(file.count), sha256: file.sha256 };
      const target: WarehouseTarget = { id, version, organization, ...typed };
      const startedAt = performance.now();
      const written = await warehouses.put(
        target,
        { key, body: file.body, contentType: file.contentType, metadata },
        DEADLINE_MS,
      );
      const latency = Math.round(performance.now() - startedAt);
      if (!written.ok) return failure(written.statusCode ?? null, latency, written.detail);
      return {
        success: true,
        result: { ...written.value, count: file.count },
        latency,
        message: `The test file was uploaded${misfitsOf(file.misfits)}`,
      };
    },
  };
}

/** A file in the destination's format, with one event. */
function testFile(
  config: WarehouseTarget['config'],
  fieldMapping: FieldMappingRule[] | null,
  payload: Record<string, unknown>,
) {
  const { fileFormat, partitionBy, prefix = '' } = config;
  const event = {
    id: newId('evt'),
    source: 'test',
    receivedAt: new Date(),
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(payload)),
  };
  const key = objectKey({
    id: newId('bat'),
    events: [event],
    prefix: `${normalPrefix(prefix)}/${FOLDER}`,
    partitionBy,
    fileFormat,
  });
  const mapping = fieldMapping && compileFieldMapping(fieldMapping);
  try {
    return { key, file: buildFile({ events: [event], fileFormat, mapping }) };
  } catch (error) {
    if (error instanceof FileTooLargeError) return error;
    throw error;
  }
}

function misfitsOf(count: number): string {
  if (count === 0) return '';
  return count === 1 ? '; 1 value did not fit its column' : `; ${count} values did not fit their columns`;
}

function failure(statusCode: number | null, latency: number, error: string): UploadResult {
  return { success: false, statusCode, latency, error, message: `The test file was not uploaded: ${error}` };
}
