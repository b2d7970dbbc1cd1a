// Tests of a destination: a webhook that is sent to it, or a file that is uploaded.
import { z } from 'zod';
import type { ReceivedAddress } from '../../../core/delivery/delivery-url.ts';
import { mismatchOf } from '../../../core/delivery/verdict.ts';
import { isReceivable } from '../../../core/ingest/ingest-url.ts';
import { parseExact } from '../../../core/text/exact-json.ts';
import { newId } from '../../../core/text/ids.ts';
import { plural } from '../../../core/text/words.ts';
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
import { loadDestination, openSecrets } from '../../../db/hot-path/attempt-config.ts';
import type { Destination } from '../../../db/records/entities.ts';
import { decryptedWarehouseConfig } from '../../../db/warehouse/config.ts';
import {
  buildOutboundRequest,
  MissingCredentialsError,
  type OutboundRequest,
} from '../../../outbound/http/outbound-request.ts';
import {
  NotStoredError,
  type ObjectWriter,
  openFile,
  openObject,
  type StoredFile,
} from '../../../outbound/warehouses/files.ts';
import type { WarehouseTarget } from '../../../outbound/warehouses/index.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { recordAhead } from '../../auth/audit-trail.ts';
import { type ApiDeps, callerOf } from '../../request/context.ts';
import { notFound } from '../../request/errors.ts';
import { operation } from '../../request/operation.ts';
import { inThreads } from '../../request/threads.ts';
import * as field from '../fields.ts';
import { findDestination } from '../records.ts';
import { component, count, idOf, latency, text, withExample } from '../values.ts';
import { isWarehouse, type Warehouse } from './destination-warehouse.ts';

export const conversions = withExample(
  z.array(
    component(
      'Conversion',
      { target: text('order_id'), count, eventId: idOf('evt') },
      'A column, with the number of values that did not fit and the first event with such a value.',
    ),
  ),
  [],
  'The values that did not fit, by column.',
);

const uploadResults = [
  z.object({
    success: z.literal(true),
    result: z.object({
      key: text('_test/date=2026-11-21/20261121T100000000Z-bat_06f3k2v8q0e7x1c5b9m4n6p8qr.jsonl'),
      size: withExample(count, 214, 'In bytes.'),
      count: withExample(count, 1, 'The number of rows.'),
      conversions,
      row: withExample(
        z.record(z.string(), z.unknown()).nullable(),
        { event_id: 'evt_06f3k2v8q0e7x1c5b9m4n6p8qr', order_id: 7 },
        'The row of the test event as written. Null if larger than 64 KiB.',
      ),
    }),
    latency,
    message: text('The test file was uploaded'),
  }),
  z.object({
    success: z.literal(false),
    statusCode: z.int().nullable(),
    latency,
    error: text('The bucket "acme-events" does not exist; create it, or correct its name'),
    message: text(
      'The test file was not uploaded: The bucket "acme-events" does not exist; create it, or correct its name',
    ),
  }),
] as const;

const testResult = z
  .union([
    z.object({
      success: z.literal(true),
      statusCode: withExample(z.int(), 200),
      latency,
      responseBody: text('ok'),
      message: text('The test webhook was delivered'),
    }),
    z.object({
      success: z.literal(false),
      statusCode: z.int().nullable(),
      latency,
      responseBody: z.string().nullable(),
      error: text('The destination returned 500'),
      message: text('The test webhook failed: The destination returned 500'),
    }),
    ...uploadResults,
  ])
  .meta({ id: 'TestResult' });

export const testDestinationOperation = operation('testDestination', 'post', '/api/destinations/{id}/test', {
  tag: 'Destinations',
  of: findDestination,
  summary: 'Send a test webhook, or upload a test file',
  description: 'Failures are reported in the result.',
  body: {
    schema: z.object({
      payload: z.record(z.string(), z.unknown()).optional(),
      path: withExample(
        field.receivedPath,
        '/orders/new',
        'The path to append to `url` if `forwardPath` is true.',
      ).optional(),
      query: withExample(
        z.string().max(8192).refine(isReceivable, 'must percent-encode # and all characters other than visible ASCII'),
        'shop=main',
        'The query string to forward if `forwardQuery` is true.',
      ).optional(),
    }),
    optional: true,
    examples: { plain: { payload: { hello: 'world' } } },
  },
  answer: { description: 'Whether the test succeeded, with the response, the row or the error.', schema: testResult },
  run(ctx, { body: { payload = samplePayload, path = '', query = '' }, record: destination }) {
    const { organization } = callerOf(ctx);
    return ctx.deps.requests.run(organization, 'runningTests', async () => {
      await recordAhead(ctx);
      return isWarehouse(destination)
        ? inThreads(() => upload(ctx.deps, organization.slug, destination, payload))
        : send(ctx.deps, destination, payload, { path, query });
    });
  },
});

const samplePayload = {
  type: 'test',
  message: 'This is a test event from Hookyard',
  data: { id: 'sample', amount: 4200, currency: 'EUR' },
};

async function send(
  { pool, secretBox, sender, settings }: ApiDeps,
  { organizationId, id }: Destination,
  payload: Record<string, unknown>,
  address: ReceivedAddress,
) {
  const row = await loadDestination(pool, organizationId, id);
  if (row === null) throw notFound('destination', id);
  let request: OutboundRequest;
  try {
    request = buildOutboundRequest({
      destination: openSecrets(row, secretBox),
      event: {
        id: newId('evt'),
        headers: { 'Content-Type': 'application/json' },
        address,
        body: Buffer.from(JSON.stringify(payload)),
      },
      delivery: { id: newId('dlv') },
      attempt: 1,
      source: { slug: 'test' },
      headerPrefix: settings.HOOKYARD_HEADER_PREFIX,
      version: packageJson.version,
      nowMs: Date.now(),
    });
  } catch (error) {
    if (error instanceof MissingCredentialsError) return failedSend(null, 0, null, error.message);
    throw error;
  }
  const result = await sender.send({ ...request, organizationId, poolKey: id, timeoutMs: row.timeoutMs });
  if (result.kind === 'error') return failedSend(null, result.latency, null, result.detail);
  const { statusCode, latency, bodyText } = result;
  const mismatch = mismatchOf(null, statusCode, false);
  if (mismatch !== null) return failedSend(statusCode, latency, bodyText, mismatch);
  return { success: true, statusCode, latency, responseBody: bodyText, message: 'The test webhook was delivered' };
}

function failedSend(statusCode: number | null, latency: number, responseBody: string | null, error: string) {
  return { success: false, statusCode, latency, responseBody, error, message: `The test webhook failed: ${error}` };
}

/** How long an upload may take, in ms; one that takes longer is reported as failed. */
const DEADLINE_MS = 30_000;

/** A longer row is not shown; a mapping can write the payload fifty times. */
const MAX_SHOWN_BYTES = 64 * 1024;

/** Uploads a file with one event; errors are part of the result. @throws NoThreadError */
async function upload(
  { secretBox, warehouses, threads }: ApiDeps,
  organization: string,
  destination: Warehouse,
  payload: Record<string, unknown>,
) {
  const { id, organizationId, version, fieldMapping = null } = destination;
  const opened = decryptedWarehouseConfig(secretBox, destination);
  if (!opened.ok) return failedUpload(null, 0, opened.message);
  const { ok: _ok, ...typed } = opened;
  const { fileFormat, compression } = typed.config;
  const event = testEvent(payload);
  const target: WarehouseTarget = { id, version, organizationId, organization, ...typed };
  const key = testKey(event, typed.config);
  const contentType = contentTypeOf(fileFormat, compression);
  const writer = openObject(warehouses, target, { key, contentType, timeoutMs: DEADLINE_MS });
  try {
    const made = await testFile(threads, event, { fieldMapping, target, writer });
    if (typeof made === 'string') return failedUpload(null, 0, made);
    const { size, count: rows, row, conversions: misfits } = made;
    return {
      success: true,
      result: { key, size, count: rows, conversions: misfits, row },
      latency: writer.latencyMs,
      message: `The test file was uploaded${misfitsOf(misfits)}`,
    };
  } catch (error) {
    if (!(error instanceof NotStoredError)) throw error;
    const { kind, detail, statusCode } = error.problem;
    const explained = kind === 'permission' ? `${detail}${besideOf(key)}` : detail;
    return failedUpload(statusCode ?? null, writer.latencyMs, explained);
  } finally {
    await writer.abort();
  }
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
  threads: ApiDeps['threads'],
  event: WarehouseEvent,
  {
    fieldMapping,
    target: { organizationId, config },
    writer,
  }: { fieldMapping: FieldMappingRule[] | null; target: WarehouseTarget; writer: ObjectWriter },
): Promise<(FileContent & StoredFile & { row: unknown }) | string> {
  const { fileFormat, compression, payloadColumn } = config;
  const form = { fileFormat, compression, payloadColumn, fieldMapping };
  const file = openFile(organizationId, form, { threads, limit: MAX_ROW_BYTES, sink: writer });
  let shown: unknown = null;
  const stored = { ...event, headers: JSON.stringify(event.headers) };
  for await (const made of threads.rows(organizationId, form, [stored])) {
    if (made.isNextTooLarge) return new FileTooLargeError().message;
    if (made.tooLong.length > 0) return 'Building the row took too long; simplify fieldMapping';
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
const besideOf = (key: string): string =>
  `; the credentials must also allow writing test files (here ${key}), which are stored next to the data`;

function misfitsOf(misfits: Conversion[]): string {
  const values = convertedCount(misfits);
  return values === 0 ? '' : `; ${plural(values, 'value did not fit its column', 'values did not fit their columns')}`;
}

function failedUpload(statusCode: number | null, latency: number, error: string) {
  return { success: false, statusCode, latency, error, message: `The test file was not uploaded: ${error}` };
}
