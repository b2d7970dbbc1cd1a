// The content of a batch's object. The same events give the same bytes, so that an upload can be repeated.
import { createHash } from 'node:crypto';
import { payloadText, sortedHeaders, type WarehouseEvent, wellFormed } from './event.ts';
import type { FieldMapping } from './field-mapping.ts';
import type { FileFormat } from './object-key.ts';

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
  /** @returns bytes of the file so far */
  add(events: readonly WarehouseEvent[]): number;
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
      const rows = events.map((event) => wellFormed(rowOf(event)));
      const before = count === 0 ? '[\n' : ',\n';
      if (rows.length > 0) write(lines ? rows.map((row) => `${row}\n`).join('') : `${before}${rows.join(',\n')}`);
      count += rows.length;
      return bytes;
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

/** Writes the events of a batch, ordered by the time they were received. */
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
