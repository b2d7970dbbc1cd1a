// The content of a batch's object. The same batch gives the same bytes, in whatever order its events are handed in, so
// that an upload can be repeated.
import { createHash } from 'node:crypto';
import { payloadText, sortedHeaders, type WarehouseEvent } from './event.ts';
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

/**
 * Writes the events of a batch, ordered by the time they were received.
 * @param batch.fileFormat `jsonl`: one row a line; `json`: an array with one row a line
 * @param batch.mapping the columns of a row; without it a row is `{event_id, source, received_at, headers, payload}`, and
 *   `payload_encoding: "base64"` when the bytes received are no text
 */
export function buildFile(batch: {
  events: readonly WarehouseEvent[];
  fileFormat: FileFormat;
  mapping?: FieldMapping | null;
}): BatchFile {
  let misfits = 0;
  const rows = batch.events.toSorted(byTime).map((event) => {
    if (!batch.mapping) return wholeEvent(event);
    const row = batch.mapping.map(event);
    misfits += row.misfits;
    return row.json;
  });
  const lines = batch.fileFormat === 'jsonl';
  const body = Buffer.from(lines ? rows.map((row) => `${row}\n`).join('') : `[\n${rows.join(',\n')}\n]\n`);
  return {
    body,
    contentType: lines ? 'application/x-ndjson' : 'application/json',
    count: rows.length,
    misfits,
    sha256: createHash('sha256').update(body).digest('hex'),
  };
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
