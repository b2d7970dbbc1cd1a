// The content of a batch's object whose rows are text, and what all formats have in common. The same events give the same bytes, so that
// an upload can be repeated.
// Rules: WH-23.
import { type Conversion, Conversions } from './conversions.ts';
import { type Compression, type FileFormat, isTextCompression, type TextFormat } from './object-key.ts';
import { FileTooLargeError } from './size-limit.ts';

/** Where the bytes of a file go, in their order; each call after the end of the one before. */
export interface FileSink {
  write(bytes: Uint8Array): Promise<void>;
}

/** What a file holds. */
export interface FileContent {
  /** Rows, one for each event. */
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

/** Of a compressed file of text that of its compression: see docs/warehouses.md. */
export function contentTypeOf(fileFormat: FileFormat, compression: Compression): string {
  if (fileFormat === 'parquet' || compression === 'none' || !isTextCompression(compression)) {
    return CONTENT_TYPES[fileFormat];
  }
  return `application/${compression}`;
}

/** What stands around rows. */
const FRAMES: Readonly<Record<TextFormat, { begin: Buffer; between: Buffer; end: Buffer }>> = {
  jsonl: { begin: Buffer.from(''), between: Buffer.from(BETWEEN_ROWS.jsonl), end: Buffer.from('\n') },
  json: { begin: Buffer.from('[\n'), between: Buffer.from(BETWEEN_ROWS.json), end: Buffer.from('\n]\n') },
};

/** Writes a file some rows at a time, so that neither its events nor its bytes need be in memory at the same time. */
export class TextFile {
  readonly #frame: (typeof FRAMES)[TextFormat];
  readonly #limit: number;
  readonly #sink: FileSink;
  readonly #conversions = new Conversions();
  #bytes = 0;
  #count = 0;

  /**
   * @param fileFormat `jsonl`: one row a line; `json`: an array with one row a line
   * @param limit of its bytes
   */
  constructor(fileFormat: TextFormat, limit: number, sink: FileSink) {
    this.#frame = FRAMES[fileFormat];
    this.#limit = limit;
    this.#sink = sink;
  }

  /** Rows stand in the order in which they are added. @throws FileTooLargeError */
  async add({ bytes, rows, conversions }: FileRows): Promise<void> {
    if (rows === 0) return;
    const { begin, between, end } = this.#frame;
    const before = this.#count === 0 ? begin : between;
    if (this.#bytes + before.length + bytes.length + end.length > this.#limit) throw new FileTooLargeError(this.#limit);
    await this.#write(before);
    await this.#write(bytes);
    this.#count += rows;
    for (const each of conversions) this.#conversions.add(each);
  }

  async finish(): Promise<FileContent> {
    if (this.#count === 0) await this.#write(this.#frame.begin);
    if (this.#count > 0 || this.#frame.begin.length > 0) await this.#write(this.#frame.end);
    return { count: this.#count, conversions: this.#conversions.list };
  }

  async #write(bytes: Uint8Array): Promise<void> {
    this.#bytes += bytes.length;
    await this.#sink.write(bytes);
  }
}
