// Writes a Parquet file some rows at a time: the rows of a group wait as text until it is full, then become its bytes
// in a thread, which go on at once. So of a file one group of rows is in memory, and what its end says of each group.
import { BETWEEN_ROWS, type FileRows, type FileSink, FileTooLargeError } from '../../core/warehouse/files-and-keys.ts';
import { Conversions } from '../../core/warehouse/rows.ts';
import { type Threads, WorkEndedError } from '../threads/index.ts';
import type { OpenFile } from './files.ts';
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

/** @param to.limit of its rows as text, in bytes */
export function openParquetFile(
  organizationId: string,
  form: ParquetForm,
  { threads, limit, sink }: { threads: Pick<Threads, 'rowGroup'>; limit: number; sink: FileSink },
): OpenFile {
  const groups: Omit<EncodedRowGroup, 'bytes'>[] = [];
  const conversions = new Conversions();
  let waiting: Waiting = { rows: [], bytes: 0 };
  let [content, offset, count] = [0, 0, 0];

  async function write(part: Uint8Array): Promise<void> {
    offset += part.length;
    await sink.write(part);
  }

  async function endGroup(): Promise<void> {
    const group = { lines: joined(waiting), rows: waiting.rows.length };
    waiting = { rows: [], bytes: 0 };
    if (offset === 0) await write(MAGIC);
    const { bytes, ...encoded } = await encode(group);
    groups.push(encoded);
    await write(bytes);
  }

  async function encode(group: { lines: Uint8Array<ArrayBuffer>; rows: number }): Promise<EncodedRowGroup> {
    try {
      return await threads.rowGroup(organizationId, { ...form, ...group, offset });
    } catch (error) {
      // More than a thread may take: with fewer events it is less, and one event ends alone.
      if (error instanceof WorkEndedError) throw new FileTooLargeError();
      throw error;
    }
  }

  function isFullFor(size: number): boolean {
    const { rows, bytes } = waiting;
    return rows.length === MAX_GROUP_ROWS || (rows.length > 0 && bytes + size > MAX_GROUP_BYTES);
  }

  return {
    async add(some) {
      for (const row of linesOf(some)) {
        const size = row.length + 1;
        content += size;
        if (content > limit) throw new FileTooLargeError(limit);
        if (isFullFor(size)) await endGroup();
        waiting.rows.push(row);
        waiting.bytes += size;
        count += 1;
      }
      for (const each of some.conversions) conversions.add(each);
    },
    async finish() {
      if (waiting.rows.length > 0) await endGroup();
      // Loaded by the first file that needs it, like the SDKs of the stores.
      const { encodeFooter } = await import('./parquet-rows.ts');
      if (offset === 0) await write(MAGIC);
      await write(encodeFooter(form, groups, offset));
      return { count, conversions: conversions.list };
    },
  };
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
