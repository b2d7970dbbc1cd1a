// The content of a batch's object whose rows are text. The same events give the same bytes, so that an upload can be repeated.
// Rules: WH-23.
import { createHash } from 'node:crypto';
import type { FileFormat, TextFormat } from './object-key.ts';
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

/** Rows as rows.ts makes them: each a line of JSON in UTF-8, with `BETWEEN_ROWS` of the format between two of them. */
export type FileRows = { bytes: Uint8Array; rows: number; misfits: number };

/** No row holds a line break. */
export const BETWEEN_ROWS: Readonly<Record<FileFormat, string>> = { jsonl: '\n', json: ',\n', parquet: '\n' };

/** Writes a file some rows at a time, so that its events need not be in memory at the same time. */
interface FileWriter {
  /** @throws FileTooLargeError when the file becomes larger than MAX_FILE_BYTES */
  add(some: FileRows): void;
  finish(): BatchFile;
}

/** What stands around rows. */
const FRAMES: Readonly<Record<TextFormat, { begin: Buffer; between: Buffer; end: Buffer }>> = {
  jsonl: { begin: Buffer.from(''), between: Buffer.from(BETWEEN_ROWS.jsonl), end: Buffer.from('\n') },
  json: { begin: Buffer.from('[\n'), between: Buffer.from(BETWEEN_ROWS.json), end: Buffer.from('\n]\n') },
};

/**
 * Begins a file; its rows stand in the order in which they are added.
 * @param fileFormat `jsonl`: one row a line; `json`: an array with one row a line
 */
export function createFileWriter(fileFormat: TextFormat): FileWriter {
  const { begin, between, end } = FRAMES[fileFormat];
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
    add(some) {
      if (some.rows === 0) return;
      write(count === 0 ? begin : between);
      write(some.bytes);
      count += some.rows;
      misfits += some.misfits;
      if (bytes + end.length > MAX_FILE_BYTES) throw new FileTooLargeError();
    },
    finish() {
      if (count === 0) write(begin);
      if (count > 0 || fileFormat === 'json') write(end);
      const body = Buffer.concat(parts);
      // Not in memory a second time while the file is compressed.
      parts.length = 0;
      return {
        body,
        contentType: fileFormat === 'jsonl' ? 'application/x-ndjson' : 'application/json',
        count,
        misfits,
        sha256: digest.digest('hex'),
      };
    },
  };
}
