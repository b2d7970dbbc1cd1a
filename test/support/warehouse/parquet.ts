// Reads Parquet files, by a library that did not write them.
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { type FileMetaData, parquetMetadata, parquetReadObjects } from 'hyparquet';

const compressors = {
  GZIP: (page: Uint8Array) => gunzipSync(page),
  ZSTD: (page: Uint8Array) => zstdDecompressSync(page),
};

/** The library's own leaves out a byte order mark. */
const parsers = { stringFromBytes: (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('utf8') };

const bufferOf = (body: Uint8Array): ArrayBuffer => new Uint8Array(body).buffer;

/** The rows, with times as text. */
export async function parquetRows(body: Uint8Array): Promise<Record<string, unknown>[]> {
  const rows = await parquetReadObjects({ file: bufferOf(body), compressors, parsers });
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, shown(value)])));
}

const shown = (value: unknown) => (value instanceof Date ? value.toISOString() : value === undefined ? null : value);

/** What the end of a file says of it. */
export const parquetEnd = (body: Uint8Array): FileMetaData => parquetMetadata(bufferOf(body));
