// The file of a batch: its key in the store, and its content where rows are text. The same events give the same bytes,
// so that an upload can be repeated.
import { type Conversion, Conversions, type WarehouseEvent } from './rows.ts';

/** Where the bytes of a file go, in their order; each call after the end of the one before. */
export interface FileSink {
  write(bytes: Uint8Array): Promise<void>;
}

export interface FileContent {
  count: number;
  /** Values that did not fit their column's type; none without a mapping. */
  conversions: Conversion[];
}

/** Rows as rows.ts makes them: each a line of JSON in UTF-8, with `BETWEEN_ROWS` of the format between two of them. */
export type FileRows = { bytes: Uint8Array; rows: number; conversions: Conversion[] };

/** No row holds a line break. */
export const BETWEEN_ROWS: Readonly<Record<FileFormat, string>> = { jsonl: '\n', json: ',\n', parquet: '\n' };

const CONTENT_TYPES: Readonly<Record<FileFormat, string>> = {
  jsonl: 'application/x-ndjson',
  json: 'application/json',
  parquet: 'application/vnd.apache.parquet',
};

/** Of a compressed file of text that of its compression: see docs/guide/warehouses.md. */
export function contentTypeOf(fileFormat: FileFormat, compression: Compression): string {
  if (fileFormat === 'parquet' || compression === 'none' || !isTextCompression(compression))
    return CONTENT_TYPES[fileFormat];
  return `application/${compression}`;
}

const FRAMES: Readonly<Record<TextFormat, { begin: Buffer; between: Buffer; end: Buffer }>> = {
  jsonl: { begin: Buffer.from(''), between: Buffer.from(BETWEEN_ROWS.jsonl), end: Buffer.from('\n') },
  json: { begin: Buffer.from('[\n'), between: Buffer.from(BETWEEN_ROWS.json), end: Buffer.from('\n]\n') },
};

/**
 * Writes a file some rows at a time, so that neither its events nor its bytes need be in memory at the same time.
 * @param fileFormat `jsonl`: one row a line; `json`: an array with one row a line
 * @param limit of its bytes
 */
export function openTextFile(fileFormat: TextFormat, limit: number, sink: FileSink) {
  const { begin, between, end } = FRAMES[fileFormat];
  const conversions = new Conversions();
  let written = 0;
  let count = 0;

  async function write(bytes: Uint8Array): Promise<void> {
    written += bytes.length;
    await sink.write(bytes);
  }

  return {
    /** Rows stand in the order in which they are added. @throws FileTooLargeError */
    async add(some: FileRows): Promise<void> {
      if (some.rows === 0) return;
      const before = count === 0 ? begin : between;
      if (written + before.length + some.bytes.length + end.length > limit) throw new FileTooLargeError(limit);
      await write(before);
      await write(some.bytes);
      count += some.rows;
      for (const each of some.conversions) conversions.add(each);
    },
    async finish(): Promise<FileContent> {
      if (count === 0) await write(begin);
      if (count > 0 || begin.length > 0) await write(end);
      return { count, conversions: conversions.list };
    },
  };
}

// Where a batch lies in the object store: `<prefix>/<partition>/<time>-<batch id>.<ending>`.
// The key follows from the frozen batch alone, so a repeated upload overwrites the same object.

export const PARTITIONS = ['date', 'hour', 'source'] as const;
export type PartitionBy = (typeof PARTITIONS)[number];
export const FILE_FORMATS = ['jsonl', 'json', 'parquet'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];
export type TextFormat = Exclude<FileFormat, 'parquet'>;
/** What the time in a key is: when the batch was frozen, or when its first event was received. */
export const KEY_ORDERS = ['written', 'received'] as const;
export type KeyOrder = (typeof KEY_ORDERS)[number];
export const COMPRESSIONS = ['none', 'snappy', 'gzip', 'zstd'] as const;
export type Compression = (typeof COMPRESSIONS)[number];

/** Those of files of text; in Parquet only what is in the file is compressed. */
export const TEXT_COMPRESSIONS = ['none', 'gzip', 'zstd'] as const satisfies Compression[];
export type TextCompression = (typeof TEXT_COMPRESSIONS)[number];

export const isTextCompression = (compression: Compression): compression is TextCompression =>
  TEXT_COMPRESSIONS.some((known) => known === compression);

/** By which engines tell that a whole file is compressed, and how. */
const SUFFIXES: Readonly<Record<Compression, string>> = { none: '', snappy: '', gzip: '.gz', zstd: '.zst' };

/**
 * The partition of an event, in UTC of the time it was received: `date=2026-11-21`, `date=2026-11-21/hour=15` or
 * `source=orders/date=2026-11-21`. All events of a batch must have the same.
 */
export function partitionOf(event: Pick<WarehouseEvent, 'receivedAt' | 'source'>, partitionBy: PartitionBy): string {
  const time = event.receivedAt.toISOString();
  const date = `date=${time.slice(0, 10)}`;
  if (partitionBy === 'hour') return `${date}/hour=${time.slice(11, 13)}`;
  return partitionBy === 'source' ? `source=${event.source}/${date}` : date;
}

/**
 * @param batch.events in any order
 * @returns for example `hooks/date=2026-11-21/20261121T154510123Z-<batch id>.jsonl.gz`
 * @throws RangeError when there is no event, or when events belong to different partitions
 */
export function objectKey(batch: {
  id: string;
  events: readonly Pick<WarehouseEvent, 'receivedAt' | 'source'>[];
  prefix?: string;
  partitionBy: PartitionBy;
  keyOrder: KeyOrder;
  frozenAt: Date;
  fileFormat: FileFormat;
  compression: Compression;
}): string {
  const partitions = new Set(batch.events.map((event) => partitionOf(event, batch.partitionBy)));
  const [partition] = partitions;
  if (partition === undefined || partitions.size > 1)
    throw new RangeError(`Batch ${batch.id} contains events of ${partitions.size} partitions instead of exactly one`);
  const first = batch.events.reduce((earliest, { receivedAt }) => Math.min(earliest, receivedAt.getTime()), Infinity);
  const prefix = normalPrefix(batch.prefix ?? '');
  const suffix = batch.fileFormat === 'parquet' ? '' : SUFFIXES[batch.compression];
  const time = batch.keyOrder === 'written' ? batch.frozenAt : new Date(first);
  const name = `${timeIn(time)}-${batch.id}.${batch.fileFormat}${suffix}`;
  return `${prefix}${prefix === '' ? '' : '/'}${partition}/${name}`;
}

/**
 * The key of a batch that takes deliveries of another one: in the same folder, with a name of its own.
 * @param half.at the time in its name; null: that of the other batch
 */
export function keyOfHalf(key: string, { id, at }: { id: string; at: Date | null }): string {
  const [folder, name] = [key.slice(0, key.lastIndexOf('/') + 1), key.slice(key.lastIndexOf('/') + 1)];
  const time = at === null ? name.slice(0, name.indexOf('-')) : timeIn(at);
  return `${folder}${time}-${id}${name.slice(name.indexOf('.'))}`;
}

const timeIn = (time: Date): string => time.toISOString().replace(/[-:.]/g, '');

/**
 * Folder of test files. It is beside the prefix, not below it: a loader that reads everything below the prefix reads no
 * test. Hive, Spark and Athena ignore folders that start with an underscore, which helps where there is no prefix.
 */
const TEST_FOLDER = '_test';

export const testPrefix = (prefix: string): string => normalPrefix(`${TEST_FOLDER}/${normalPrefix(prefix)}`);

/** Where the file of a test would lie among the data; null: it is no file of a test. */
export const dataKeyOf = (key: string): string | null =>
  key.startsWith(`${TEST_FOLDER}/`) ? key.slice(TEST_FOLDER.length + 1) : null;

export function normalPrefix(prefix: string): string {
  return prefix.replace(/^\/+|\/+$/g, '');
}

// The key has to fit in 1,024 bytes (S3, R2, GCS) or characters (Azure), and a partition and a file name need 200.
const MAX_PREFIX_BYTES = 512;

/** What is wrong with a prefix, as the end of a sentence that starts with its name; null when nothing is. */
export function prefixProblem(prefix: string): string | null {
  // First: what it takes to cut slashes grows with the square of their number.
  if (Buffer.byteLength(prefix) > MAX_PREFIX_BYTES) return `must be at most ${MAX_PREFIX_BYTES} bytes long`;
  const normal = normalPrefix(prefix);
  if (/[\p{Cc}\\]/u.test(normal)) return 'must not contain control characters or backslashes';
  const segments = normal === '' ? [] : normal.split('/');
  if (segments.includes('')) return 'must not contain empty segments (//)';
  // Azure drops dots at the end of a segment, and other tools take `..` for the parent folder.
  if (segments.some((segment) => segment.endsWith('.'))) return 'must not contain segments that end in a dot';
  return null;
}

// How large a row and a file may become: a mapping or a transform may make payloads many times larger.

const MIB = 1024 * 1024;

/** A larger row is not written: it has to fit in memory with others. */
export const MAX_ROW_BYTES = 64 * MIB;

/** Of a file before it is compressed. @param payloadBytes of its events */
export const fileLimit = (payloadBytes: number): number => Math.max(MAX_ROW_BYTES, 2 * payloadBytes);

export class FileTooLargeError extends Error {
  override readonly name = 'FileTooLargeError';
  constructor(limit = MAX_ROW_BYTES) {
    super(`The file would be larger than ${Math.floor(limit / MIB)} MiB`);
  }
}
