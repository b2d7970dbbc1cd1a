// The content of a batch's object. The same events give the same bytes, so that an upload can be repeated.
// Rules: WH-23.
import { createHash } from 'node:crypto';
import { payloadText, sortedHeaders, type WarehouseEvent, wellFormed } from './event.ts';
import type { FieldMapping } from './field-mapping.ts';
import type { FileFormat } from './object-key.ts';
import { FileTooLargeError, MAX_FILE_BYTES } from './size-limit.ts';

export type BatchFile = {
  body: Buffer;
  contentType: 'application/x-ndjson' | 'application/json';
  /** Rows, one for each event. */
  count: number;
  /** Values that did not fit their column's type; always 0 without a mapping. */
  misfits: number;
  /** Hex digest of the body. */
  sha256: string;
};

/** What makes the rows of a file, and how they stand in it. */
export type FileForm = {
  /** `jsonl`: one row a line; `json`: an array with one row a line. */
  fileFormat: FileFormat;
  /**
   * The columns of a row; without it a row is `{event_id, source, received_at, headers, payload}`, and
   * `payload_encoding: "base64"` when the bytes received are no text.
   */
  mapping?: FieldMapping | null;
};

/** Writes a file row by row, so that its events need not be in memory at the same time. */
export interface FileWriter {
  /** @throws FileTooLargeError when the file becomes larger than MAX_FILE_BYTES */
  add(events: readonly WarehouseEvent[]): void;
  finish(): BatchFile;
}

/** Begins a file; its rows stand in the order in which events are added. */
export function createFileWriter({ fileFormat, mapping }: FileForm): FileWriter {
  const lines = fileFormat === 'jsonl';
  const parts: Buffer[] = [];
  const digest = createHash('sha256');
  let count = 0;
  let misfits = 0;
  let bytes = 0;

  function write(text: string): void {
    const part = Buffer.from(text);
    digest.update(part);
    parts.push(part);
    bytes += part.length;
  }

  function rowOf(event: WarehouseEvent): string {
    if (!mapping) return wholeEvent(event);
    const row = mapping.map(event);
    misfits += row.misfits;
    return row.json;
  }

  return {
    add(events) {
      // Row by row: those of a page may be longer than a text can be.
      for (const event of events) {
        const row = wellFormed(rowOf(event));
        write(lines ? `${row}\n` : `${count === 0 ? '[' : ','}\n${row}`);
        count += 1;
        if (bytes > MAX_FILE_BYTES) throw new FileTooLargeError();
      }
    },
    finish() {
      if (!lines) write(count === 0 ? '[\n\n]\n' : '\n]\n');
      return {
        body: Buffer.concat(parts),
        contentType: lines ? 'application/x-ndjson' : 'application/json',
        count,
        misfits,
        sha256: digest.digest('hex'),
      };
    },
  };
}

/** Writes the events of a batch, ordered by the time they were received. @throws FileTooLargeError */
export function buildFile(batch: FileForm & { events: readonly WarehouseEvent[] }): BatchFile {
  const writer = createFileWriter(batch);
  writer.add(batch.events.toSorted(byTime));
  return writer.finish();
}

function byTime(a: WarehouseEvent, b: WarehouseEvent): number {
  return a.receivedAt.getTime() - b.receivedAt.getTime() || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

function wholeEvent(event: WarehouseEvent): string {
  const payload = payloadText(event.body);
  const members = JSON.stringify({
    event_id: event.id,
    source: event.source,
    received_at: event.receivedAt.toISOString(),
    headers: sortedHeaders(event.headers),
    ...(payload.encoding && { payload_encoding: payload.encoding }),
  });
  return `${members.slice(0, -1)},"payload":${payload.json}}`;
}
