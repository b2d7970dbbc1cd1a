import { createHash } from 'node:crypto';
import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import { constants, createGzip, createZstdCompress, gzip, zstdCompress, type ZstdOptions } from 'node:zlib';
import { parquetColumns } from '../../core/warehouse/field-mapping.ts';
import type { FieldMappingRule } from '../../core/warehouse/field-mapping.ts';
import {
  type Compression,
  type FileContent,
  type FileFormat,
  type FileRows,
  type FileSink,
  isTextCompression,
  openTextFile,
  type TextCompression,
} from '../../core/warehouse/files-and-keys.ts';
import type { Threads } from '../threads/index.ts';
import type { ObjectParts, StoreResult, Warehouses, WarehouseTarget } from './index.ts';
import { openParquetFile } from './parquet-file.ts';
import type { ObjectName, StoreProblem } from './store.ts';

export interface OpenFile {
  /**
   * Rows stand in the order in which they are added, each call after the end of the one before.
   * @throws FileTooLargeError; of Parquet NoThreadError; what the sink throws
   */
  add(some: FileRows): Promise<void>;
  /** Writes the end of the file. @throws as `add` */
  finish(): Promise<FileContent>;
}

interface BatchFileForm {
  fileFormat: FileFormat;
  compression: Compression;
  fieldMapping: FieldMappingRule[] | null;
}

/**
 * @param to.limit of the file before it is compressed, in bytes; of Parquet of its rows as text
 * @param to.sink takes its bytes as they are stored
 */
export function openFile(
  organizationId: string,
  { fileFormat, compression, fieldMapping }: BatchFileForm,
  { threads, limit, sink }: { threads: Pick<Threads, 'rowGroup'>; limit: number; sink: FileSink },
): OpenFile {
  if (fileFormat === 'parquet') {
    const form = { columns: parquetColumns(fieldMapping), compression };
    return openParquetFile(organizationId, form, { threads, limit, sink });
  }
  if (!isTextCompression(compression)) throw new Error(`${compression} is only available for parquet`);
  if (compression === 'none') return openTextFile(fileFormat, limit, sink);
  const compressed = compressedSink(compression, sink);
  const file = openTextFile(fileFormat, limit, compressed);
  return {
    add: (some) => file.add(some),
    async finish() {
      const content = await file.finish();
      await compressed.end();
      return content;
    },
  };
}

// Writes an object while its content is made: what is small is one request, as it was made; of what is larger, each
// part is sent and forgotten. Either way the object appears, or replaces an existing one, at once and only when it is
// complete.

/**
 * Of every part but the last. All stores take it: S3 wants 5 MiB at least, R2 the same size of all, Google a multiple
 * of 256 KiB. With batchBytes at its most, and a mapping that doubles it, a file has 16.
 */
export const PART_BYTES = 16 * 1024 * 1024;

export class NotStoredError extends Error {
  override readonly name = 'NotStoredError';
  readonly problem: StoreProblem;
  constructor(problem: StoreProblem) {
    super(problem.summary);
    this.problem = problem;
  }
}

export interface StoredFile {
  key: string;
  /** Bytes. */
  size: number;
  sha256: string;
}

export type ObjectWriter = ReturnType<typeof openObject>;

/** @param object.timeoutMs of each request */
export function openObject(
  warehouses: Pick<Warehouses, 'put' | 'begin'>,
  target: WarehouseTarget,
  { timeoutMs, ...object }: ObjectName & { timeoutMs: number },
) {
  const digest = createHash('sha256');
  const pieces = new Pieces(PART_BYTES);
  let parts: ObjectParts | null = null;
  let size = 0;
  let latencyMs = 0;

  async function timed<T>(call: Promise<StoreResult<T>>): Promise<T> {
    const began = performance.now();
    const result = await call;
    latencyMs += performance.now() - began;
    if (!result.ok) throw new NotStoredError(result);
    return result.value;
  }

  return {
    /** Of the store, until now. */
    get latencyMs(): number {
      return Math.round(latencyMs);
    },
    /** @throws NotStoredError */
    async write(bytes: Uint8Array): Promise<void> {
      digest.update(bytes);
      size += bytes.length;
      for (const part of pieces.add(bytes)) {
        parts ??= await timed(warehouses.begin(target, object, timeoutMs));
        await timed(parts.send(part, timeoutMs));
      }
    },
    /** Stores it. @param count of its rows @throws NotStoredError */
    async end(count: number): Promise<StoredFile> {
      const stored = { key: object.key, size, sha256: digest.digest('hex') };
      const metadata = { count: String(count), sha256: stored.sha256 };
      const last = pieces.rest();
      if (parts === null) await timed(warehouses.put(target, { ...object, body: last, metadata }, timeoutMs));
      else await timed(parts.complete(last, metadata, timeoutMs));
      parts = null;
      return stored;
    },
    /** Removes what was sent of an object that is not complete. Never rejects. */
    async abort(): Promise<void> {
      const sent = parts;
      parts = null;
      await sent?.abort(timeoutMs);
    },
  };
}

// Compresses the file of a batch, beside the event loop. One Node on one kind of processor gives the same bytes for the
// same file: Node writes no time and no name into the header of gzip, and the compressor gets pieces that are the same
// each time.

/** A larger file is compressed piece by piece. */
export const WHOLE_BYTES = 16 * 1024 * 1024;
// Less to join at the end than with zlib's 16 KiB.
const CHUNK_BYTES = 256 * 1024;
const GZIP = { chunkSize: CHUNK_BYTES };
const ZSTD: ZstdOptions = { chunkSize: CHUNK_BYTES, params: { [constants.ZSTD_c_checksumFlag]: 1 } };

const compressors = {
  gzip: { whole: (bytes: Buffer) => promisify(gzip)(bytes, GZIP), stream: () => createGzip(GZIP) },
  zstd: {
    // Size and checksum are in the frame: readers know how much memory they need, and notice damage.
    whole: (bytes: Buffer) => promisify(zstdCompress)(bytes, { ...ZSTD, pledgedSrcSize: bytes.length }),
    stream: () => createZstdCompress(ZSTD),
  },
};

/** A sink whose bytes go on compressed. Both throw what the sink has thrown. */
export function compressedSink(compression: Exclude<TextCompression, 'none'>, sink: FileSink) {
  const compressor = compressors[compression];
  const pieces = new Pieces(WHOLE_BYTES);
  /** Null until the file is larger than one piece; `done` when its bytes have gone on. */
  let stream: { into: Transform; done: Promise<void> } | null = null;

  async function compress(piece: Buffer): Promise<void> {
    stream ??= begin();
    const { into, done } = stream;
    const written = new Promise<void>((resolve) => into.write(piece, () => resolve()));
    await Promise.race([written, done]);
    if (into.destroyed) await done;
  }

  function begin(): { into: Transform; done: Promise<void> } {
    const into = compressor.stream();
    const done = (async () => {
      for await (const chunk of into) await sink.write(chunk as Buffer);
    })();
    // It is waited for by each write.
    done.catch(() => undefined);
    return { into, done };
  }

  return {
    async write(bytes: Uint8Array): Promise<void> {
      for (const piece of pieces.add(bytes)) await compress(piece);
    },
    /** Nothing is written after it. */
    async end(): Promise<void> {
      const rest = pieces.rest();
      if (stream === null) return sink.write(await compressor.whole(rest));
      await compress(rest);
      stream.into.end();
      await stream.done;
    },
  };
}

// Bytes in pieces of one size, however they came: of the same file always the same pieces.

class Pieces {
  readonly #size: number;
  #held: Uint8Array[] = [];
  #bytes = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** @returns the pieces that are full; what may be the last piece is held back */
  *add(bytes: Uint8Array): Generator<Buffer, void> {
    for (let from = 0; from < bytes.length; ) {
      if (this.#bytes === this.#size) yield this.rest();
      const some = bytes.subarray(from, from + this.#size - this.#bytes);
      this.#held.push(some);
      this.#bytes += some.length;
      from += some.length;
    }
  }

  /** The last piece; empty only when nothing came. */
  rest(): Buffer {
    const piece = Buffer.concat(this.#held);
    this.#held = [];
    this.#bytes = 0;
    return piece;
  }
}
