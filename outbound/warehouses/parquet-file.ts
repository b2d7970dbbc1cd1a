// Writes a Parquet file some rows at a time: the rows of a group wait as text until it is full, then become its bytes
// in a thread, which go on at once. So of a file one group of rows is in memory, and what its end says of each group.
import {
  BETWEEN_ROWS,
  type FileContent,
  type FileRows,
  type FileSink,
  FileTooLargeError,
} from '../../core/warehouse/files-and-keys.ts';
import { Conversions } from '../../core/warehouse/rows.ts';
import { type Threads, WorkEndedError } from '../threads/index.ts';
import type { EncodedRowGroup, ParquetForm } from './parquet-rows.ts';

/**
 * Of a row group: what a thread encodes at a time, and a reader has to read for one row. A larger row is a group of its
 * own.
 */
const MAX_GROUP_ROWS = 5000;
const MAX_GROUP_BYTES = 8 * 1024 * 1024;

const MAGIC = Buffer.from('PAR1');
const LINE_BREAK = BETWEEN_ROWS.parquet.charCodeAt(0);

interface Waiting {
  rows: Uint8Array[];
  bytes: number;
}

export class ParquetFile {
  readonly #organizationId: string;
  readonly #form: ParquetForm;
  readonly #threads: Pick<Threads, 'rowGroup'>;
  readonly #limit: number;
  readonly #sink: FileSink;
  readonly #groups: Omit<EncodedRowGroup, 'bytes'>[] = [];
  readonly #conversions = new Conversions();
  #waiting: Waiting = { rows: [], bytes: 0 };
  #content = 0;
  #offset = 0;
  #count = 0;

  /** @param limit of its rows as text, in bytes */
  constructor(
    organizationId: string,
    form: ParquetForm,
    { threads, limit, sink }: { threads: Pick<Threads, 'rowGroup'>; limit: number; sink: FileSink },
  ) {
    this.#organizationId = organizationId;
    this.#form = form;
    this.#threads = threads;
    this.#limit = limit;
    this.#sink = sink;
  }

  /**
   * Adds rows; they stand in the order in which they are added, each call after the end of the one before.
   * @throws FileTooLargeError, NoThreadError
   */
  async add(some: FileRows): Promise<void> {
    for (const row of linesOf(some)) {
      const size = row.length + 1;
      this.#content += size;
      if (this.#content > this.#limit) throw new FileTooLargeError(this.#limit);
      if (this.#isFullFor(size)) await this.#endGroup();
      this.#waiting.rows.push(row);
      this.#waiting.bytes += size;
      this.#count += 1;
    }
    for (const each of some.conversions) this.#conversions.add(each);
  }

  #isFullFor(size: number): boolean {
    const { rows, bytes } = this.#waiting;
    return rows.length === MAX_GROUP_ROWS || (rows.length > 0 && bytes + size > MAX_GROUP_BYTES);
  }

  /** @throws FileTooLargeError, NoThreadError */
  async finish(): Promise<FileContent> {
    if (this.#waiting.rows.length > 0) await this.#endGroup();
    // Loaded by the first file that needs it, like the SDKs of the stores.
    const { encodeFooter } = await import('./parquet-rows.ts');
    if (this.#offset === 0) await this.#write(MAGIC);
    await this.#write(encodeFooter(this.#form, this.#groups, this.#offset));
    return { count: this.#count, conversions: this.#conversions.list };
  }

  async #endGroup(): Promise<void> {
    const { rows } = this.#waiting;
    const lines = joined(this.#waiting);
    this.#waiting = { rows: [], bytes: 0 };
    if (this.#offset === 0) await this.#write(MAGIC);
    const { bytes, ...group } = await this.#encode({ lines, rows: rows.length });
    this.#groups.push(group);
    await this.#write(bytes);
  }

  async #encode(group: { lines: Uint8Array<ArrayBuffer>; rows: number }): Promise<EncodedRowGroup> {
    try {
      return await this.#threads.rowGroup(this.#organizationId, { ...this.#form, ...group, offset: this.#offset });
    } catch (error) {
      // More than a thread may take: with fewer events it is less, and one event ends alone.
      if (error instanceof WorkEndedError) throw new FileTooLargeError();
      throw error;
    }
  }

  async #write(part: Uint8Array): Promise<void> {
    this.#offset += part.length;
    await this.#sink.write(part);
  }
}

function* linesOf({ bytes, rows }: FileRows): Generator<Uint8Array> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let row = 1, from = 0; row <= rows; row += 1) {
    const end = row === rows ? text.length : text.indexOf(LINE_BREAK, from);
    yield text.subarray(from, end);
    from = end + 1;
  }
}

/** In memory of its own, so that it can be handed over. */
function joined({ rows, bytes }: Waiting): Uint8Array<ArrayBuffer> {
  const lines = new Uint8Array(bytes);
  let at = 0;
  for (const row of rows) {
    lines.set(row, at);
    lines[at + row.length] = LINE_BREAK;
    at += row.length + 1;
  }
  return lines;
}
