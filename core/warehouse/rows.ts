// The row of an event in a file.
// Rules: WH-23, WH-31, WH-34.
import {
  type PayloadColumn,
  payloadText,
  sortedHeaders,
  textPayload,
  type WarehouseEvent,
  wellFormed,
} from './event.ts';
import type { FieldMapping } from './field-mapping.ts';

export type MadeRowText = {
  /** JSON on one line. */
  text: string;
  /** The columns whose value did not fit their type; none without a mapping. */
  misfits: string[];
};

/** What rows look like: the columns of a mapping, or without one those of whole events. */
export type RowForm = { mapping: FieldMapping | null; payloadColumn: PayloadColumn };

/** @throws FileTooLargeError */
export function rowText(event: WarehouseEvent, { mapping, payloadColumn }: RowForm): MadeRowText {
  if (mapping === null) return { text: payloadColumn === 'text' ? envelope(event) : wholeEvent(event), misfits: [] };
  const { json, misfits } = mapping.map(event);
  return { text: wellFormed(json), misfits };
}

/**
 * The same columns of the same types in every row, whatever was sent: text, or null. Nothing of the sender is JSON of the file, so no
 * reader meets a number, a name or a depth that it cannot take. JSON.stringify writes what is no Unicode as an escape, in headers too,
 * where it becomes part of the text.
 */
function envelope(event: WarehouseEvent): string {
  const { payload, encoding } = textPayload(event.body);
  return JSON.stringify({
    event_id: event.id,
    delivery_id: event.deliveryId,
    source: event.source,
    route: event.routeId,
    received_at: event.receivedAt.toISOString(),
    written_at: event.writtenAt.toISOString(),
    replay_of: event.replayOf,
    headers: JSON.stringify(sortedHeaders(event.headers)),
    payload,
    payload_encoding: encoding,
  });
}

/** `{event_id, source, received_at, headers, payload}`, and `payload_encoding: "base64"` when the bytes received are no text. */
function wholeEvent(event: WarehouseEvent): string {
  const payload = payloadText(event.body);
  const members = JSON.stringify({
    event_id: event.id,
    source: event.source,
    received_at: event.receivedAt.toISOString(),
    headers: sortedHeaders(event.headers),
    ...(payload.encoding && { payload_encoding: payload.encoding }),
  });
  return wellFormed(`${members.slice(0, -1)},"payload":${payload.json}}`);
}
