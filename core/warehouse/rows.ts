// The row of an event in a file.
// Rules: WH-23.
import { payloadText, sortedHeaders, type WarehouseEvent, wellFormed } from './event.ts';
import type { FieldMapping } from './field-mapping.ts';

export type MadeRowText = {
  /** JSON on one line. */
  text: string;
  /** Values that did not fit their column's type; always 0 without a mapping. */
  misfits: number;
};

/**
 * Makes a row: the columns of a mapping; without one `{event_id, source, received_at, headers, payload}`, and
 * `payload_encoding: "base64"` when the bytes received are no text.
 * @throws FileTooLargeError
 */
export function rowText(event: WarehouseEvent, mapping: FieldMapping | null): MadeRowText {
  if (mapping === null) return { text: wellFormed(wholeEvent(event)), misfits: 0 };
  const { json, misfits } = mapping.map(event);
  return { text: wellFormed(json), misfits };
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
