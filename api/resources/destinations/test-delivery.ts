import type { ReceivedAddress } from '../../../core/delivery/delivery-url.ts';
import { isSuccess } from '../../../core/delivery/verdict.ts';
import { parseExact } from '../../../core/text/exact-json.ts';
import { newId } from '../../../core/text/ids.ts';
import { plural } from '../../../core/text/plural.ts';
import { type Conversion, convertedCount, type WarehouseEvent } from '../../../core/warehouse/rows.ts';
import type { FieldMappingRule } from '../../../core/warehouse/field-mapping.ts';
import {
  contentTypeOf,
  type FileContent,
  type FileFormat,
  FileTooLargeError,
  MAX_ROW_BYTES,
  objectKey,
  testPrefix,
} from '../../../core/warehouse/files-and-keys.ts';
import type { DecryptedConfig } from '../../../db/warehouse/config.ts';
import type { Threads } from '../../../outbound/threads/index.ts';
import {
  buildOutboundRequest,
  MissingCredentialsError,
  type OutboundInput,
  type OutboundRequest,
} from '../../../outbound/http/outbound-request.ts';
import type { Sender } from '../../../outbound/http/sender.ts';
import { NotStoredError, ObjectWriter, openFile, type StoredFile } from '../../../outbound/warehouses/files.ts';
import type { Warehouses, WarehouseTarget } from '../../../outbound/warehouses/index.ts';

interface TestWebhook {
  /** Undefined: a sample. */
  payload: Record<string, unknown> | undefined;
  address: ReceivedAddress;
}

export interface TestSender {
  send(
    destination: OutboundInput['destination'] & { id: string; organizationId: string },
    webhook: TestWebhook,
  ): Promise<TestResult>;
}

export type TestResult =
  | { success: true; statusCode: number; latency: number; responseBody: string; message: string }
  | {
      success: false;
      statusCode: number | null;
      latency: number;
      responseBody: string | null;
      error: string;
      message: string;
    };

const samplePayload = {
  type: 'test',
  message: 'This is a test event from Hookyard',
  data: { id: 'sample', amount: 4200, currency: 'EUR' },
};

/** @param options.headerPrefix HOOKYARD_HEADER_PREFIX @param options.version Hookyard's own */
export function createTestSender(sender: Sender, options: { headerPrefix: string; version: string }): TestSender {
  return {
    async send(destination, { payload = samplePayload, address }) {
      let request: OutboundRequest;
      try {
        request = buildTestRequest(options, destination, { payload, address });
      } catch (error) {
        if (error instanceof MissingCredentialsError) return failedSend(null, 0, null, error.message);
        throw error;
      }
      const { id: poolKey, organizationId, timeoutMs } = destination;
      const result = await sender.send({ ...request, organizationId, poolKey, timeoutMs });
      if (result.kind === 'error') return failedSend(null, result.latency, null, result.detail);
      const { statusCode, latency, bodyText } = result;
      const judged = isSuccess(null, statusCode, false);
      if (!judged.success) return failedSend(statusCode, latency, bodyText, judged.reason);
      return { success: true, statusCode, latency, responseBody: bodyText, message: 'The test webhook was delivered' };
    },
  };
}

function buildTestRequest(
  options: { headerPrefix: string; version: string },
  destination: OutboundInput['destination'],
  { payload, address }: { payload: Record<string, unknown>; address: ReceivedAddress },
): OutboundRequest {
  return buildOutboundRequest({
    ...options,
    destination,
    event: {
      id: newId('evt'),
      headers: { 'Content-Type': 'application/json' },
      address,
      body: Buffer.from(JSON.stringify(payload)),
    },
    delivery: { id: newId('dlv') },
    attempt: 1,
    source: { slug: 'test' },
    nowMs: Date.now(),
  });
}

function failedSend(
  statusCode: number | null,
  latency: number,
  responseBody: string | null,
  error: string,
): TestResult {
  return { success: false, statusCode, latency, responseBody, error, message: `The test webhook failed: ${error}` };
}

/** How long an upload may take, in ms; one that takes longer is reported as failed. */
const DEADLINE_MS = 30_000;

/** A longer row is not shown; a mapping can write the payload fifty times. */
const MAX_SHOWN_BYTES = 64 * 1024;

export interface TestUploader {
  /**
   * Uploads a file with one event; errors are part of the result.
   * @throws NoThreadError
   */
  upload(destination: TestedWarehouse, payload?: Record<string, unknown>): Promise<UploadResult>;
}

interface TestedWarehouse {
  id: string;
  organizationId: string;
  version: number;
  organization: string;
  opened: DecryptedConfig;
  fieldMapping: FieldMappingRule[] | null;
}

export type UploadResult =
  | {
      success: true;
      /** `size` in bytes; `count` of rows; what did not fit its column; the row itself, or null when it is long. */
      result: { key: string; size: number; count: number; conversions: Conversion[]; row: unknown };
      /** ms */
      latency: number;
      message: string;
    }
  | { success: false; statusCode: number | null; latency: number; error: string; message: string };

export function createTestUploader(
  warehouses: Pick<Warehouses, 'put' | 'begin'>,
  threads: Pick<Threads, 'rows' | 'rowGroup'>,
): TestUploader {
  return {
    async upload({ id, organizationId, version, organization, opened, fieldMapping }, payload = samplePayload) {
      if (!opened.ok) return failedUpload(null, 0, opened.message);
      const { ok: _ok, ...typed } = opened;
      const { fileFormat, compression } = typed.config;
      const event = testEvent(payload);
      const target: WarehouseTarget = { id, version, organizationId, organization, ...typed };
      const key = testKey(event, typed.config);
      const contentType = contentTypeOf(fileFormat, compression);
      const writer = new ObjectWriter(warehouses, target, { key, contentType, timeoutMs: DEADLINE_MS });
      try {
        const made = await testFile(threads, event, { fieldMapping, target, writer });
        if (typeof made === 'string') return failedUpload(null, 0, made);
        const { size, count, row, conversions } = made;
        return {
          success: true,
          result: { key, size, count, conversions, row },
          latency: writer.latencyMs,
          message: `The test file was uploaded${misfitsOf(conversions)}`,
        };
      } catch (error) {
        if (!(error instanceof NotStoredError)) throw error;
        const { kind, detail, statusCode } = error.problem;
        const explained = kind === 'permission' ? `${detail}${besideOf(key)}` : detail;
        return failedUpload(statusCode ?? null, writer.latencyMs, explained);
      } finally {
        await writer.abort();
      }
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

/**
 * Stores a file in the destination's format, with one event.
 * @returns it with its row; or why there is none
 * @throws NotStoredError
 */
async function testFile(
  threads: Pick<Threads, 'rows' | 'rowGroup'>,
  event: WarehouseEvent,
  {
    fieldMapping,
    target: { organizationId, config },
    writer,
  }: Pick<TestedWarehouse, 'fieldMapping'> & { target: WarehouseTarget; writer: ObjectWriter },
): Promise<(FileContent & StoredFile & { row: unknown }) | string> {
  const { fileFormat, compression, payloadColumn } = config;
  const form = { fileFormat, compression, payloadColumn, fieldMapping };
  const file = openFile(organizationId, form, { threads, limit: MAX_ROW_BYTES, sink: writer });
  let shown: unknown = null;
  const stored = { ...event, headers: JSON.stringify(event.headers) };
  for await (const made of threads.rows(organizationId, form, [stored])) {
    if (made.isNextTooLarge) return new FileTooLargeError().message;
    if (made.tooLong.length > 0) return 'Building the row takes too long; simplify the fieldMapping';
    if (made.bytes.length <= MAX_SHOWN_BYTES) shown = shownRow(new TextDecoder().decode(made.bytes), fileFormat);
    await file.add(made);
  }
  const content = await file.finish();
  return { ...content, ...(await writer.end(content.count)), row: shown };
}

/** As readers of the file see it: numbers are doubles in Parquet. */
const shownRow = (json: string, fileFormat: FileFormat): unknown =>
  fileFormat === 'parquet' ? JSON.parse(json) : parseExact(json);

/** Credentials may be for the data only. */
const besideOf = (key: string): string => `. The test file is next to the data: ${key}`;

function misfitsOf(conversions: Conversion[]): string {
  const count = convertedCount(conversions);
  return count === 0 ? '' : `; ${plural(count, 'value did not fit its column', 'values did not fit their columns')}`;
}

function failedUpload(statusCode: number | null, latency: number, error: string): UploadResult {
  return { success: false, statusCode, latency, error, message: `The test file was not uploaded: ${error}` };
}
