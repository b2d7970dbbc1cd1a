// The content of a batch's object whose rows are text. The same events give the same bytes, so that an upload can be repeated.
// Rules: WH-23.
import { createHash } from 'node:crypto';
import type { TextFormat } from './object-key.ts';
import { FileTooLargeError, MAX_FILE_BYTES } from './size-limit.ts';

export type BatchFile = {
  body: Buffer;
  /** Of a compressed file that of its compression: see docs/warehouses.md. */
  contentType:
    | 'application/x-ndjson'
    | 'application/json'
    | 'application/gzip'
    | 'application/zstd'
    | 'application/vnd.apache.parquet';
  /** Rows, one for each event. */
  count: number;
  /** Values that did not fit their column's type; always 0 without a mapping. */
  misfits: number;
  /** Hex digest of the body. */
  sha256: string;
};

/** A row as rows.ts makes it: one line of JSON in UTF-8. */
export type FileRow = { bytes: Uint8Array; misfits: number };

/** Writes a file row by row, so that its events need not be in memory at the same time. */
interface FileWriter {
  /** @throws FileTooLargeError when the file becomes larger than MAX_FILE_BYTES */
  add(row: FileRow): void;
  finish(): BatchFile;
}

/**
 * Begins a file; its rows stand in the order in which they are added.
 * @param fileFormat `jsonl`: one row a line; `json`: an array with one row a line
 */
export function createFileWriter(fileFormat: TextFormat): FileWriter {
  const lines = fileFormat === 'jsonl';
  const parts: Uint8Array[] = [];
  const digest = createHash('sha256');
  let count = 0;
  let misfits = 0;
  let bytes = 0;

  function write(part: Uint8Array): void {
    digest.update(part);
    parts.push(part);
    bytes += part.length;
  }

  return {
    add(row) {
      if (!lines) write(Buffer.from(count === 0 ? '[\n' : ',\n'));
      write(row.bytes);
      if (lines) write(Buffer.from('\n'));
      count += 1;
      misfits += row.misfits;
      if (bytes > MAX_FILE_BYTES) throw new FileTooLargeError();
    },
    finish() {
      if (!lines) write(Buffer.from(count === 0 ? '[\n\n]\n' : '\n]\n'));
      const body = Buffer.concat(parts);
      // Not in memory a second time while the file is compressed.
      parts.length = 0;
      return {
        body,
        contentType: lines ? 'application/x-ndjson' : 'application/json',
        count,
        misfits,
        sha256: digest.digest('hex'),
      };
    },
  };
}
