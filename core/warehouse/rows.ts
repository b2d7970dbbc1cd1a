import { isUtf8 } from 'node:buffer';
import { isJsonText, withoutMark } from '../text/payload.ts';
import type { FieldMapping } from './field-mapping.ts';

export type MadeRowText = {
  text: string;
  /** The columns whose value did not fit their type; none without a mapping. */
  misfits: string[];
};

export type RowForm = { mapping: FieldMapping | null; payloadColumn: PayloadColumn };

/** @throws FileTooLargeError */
export function rowText(event: WarehouseEvent, { mapping, payloadColumn }: RowForm): MadeRowText {
  if (mapping === null) return { text: payloadColumn === 'text' ? envelope(event) : wholeEvent(event), misfits: [] };
  const { json, misfits } = mapping.map(event);
  return { text: wellFormed(json), misfits };
}

/**
 * The same columns of the same types in every row, whatever was sent: text, or null. Nothing of the sender is JSON of
 * the file, so no reader meets a number, a name or a depth that it cannot take. JSON.stringify writes what is no
 * Unicode as an escape, in headers too, where it becomes part of the text.
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

/**
 * `{event_id, source, received_at, headers, payload}`, and `payload_encoding: "base64"` when the bytes received are no
 * text.
 */
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

export const PAYLOAD_COLUMNS = ['text', 'json'] as const;
export type PayloadColumn = (typeof PAYLOAD_COLUMNS)[number];

export type WarehouseEvent = {
  id: string;
  deliveryId: string;
  source: string;
  routeId: string | null;
  replayOf: string | null;
  receivedAt: Date;
  /** When it was fixed what the file holds, so that every upload of the file says the same. */
  writtenAt: Date;
  /** As received, names in lowercase. */
  headers: Readonly<Record<string, string>>;
  /** The exact bytes received. Those of text may come as the text itself, which is not decoded again then. */
  body: Buffer | string;
};

export type TextPayload = { payload: string; encoding: 'json' | 'text' | 'base64' };

/**
 * A body that is text stays letter for letter, JSON without its byte order mark; one that is not UTF-8 becomes base64.
 */
function textPayload(body: WarehouseEvent['body']): TextPayload {
  if (isBytes(body)) return { payload: body.toString('base64'), encoding: 'base64' };
  const text = body.toString();
  const unmarked = withoutMark(text);
  return isJsonText(unmarked) ? { payload: unmarked, encoding: 'json' } : { payload: text, encoding: 'text' };
}

const isBytes = (body: WarehouseEvent['body']): body is Buffer => typeof body !== 'string' && !isUtf8(body);

/** A payload as JSON in a file: without line breaks; `encoding` is there only when the bytes are no text. */
export type PayloadText = { json: string; encoding?: 'base64' };

/**
 * A body as JSON text on one line. A body that is JSON stays as it was written: large numbers keep their digits and
 * members their order. Any other text becomes a JSON string, and bytes that are no UTF-8 a string in base64.
 */
export function payloadText(body: WarehouseEvent['body']): PayloadText {
  if (isBytes(body)) return { json: JSON.stringify(body.toString('base64')), encoding: 'base64' };
  const text = body.toString();
  const unmarked = withoutMark(text);
  try {
    JSON.parse(unmarked);
  } catch {
    return { json: JSON.stringify(text) };
  }
  // RFC 8259, section 7: strings hold no raw line breaks, so those that are there stand between tokens.
  return { json: unmarked.trim().replace(/[\r\n]+/g, ' ') };
}

// An escape of JSON: a pair of surrogates, half of one, or any other.
const ESCAPE = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u[dD][89a-fA-F][\da-fA-F]{2})|.)/gs;

/**
 * JSON text without halves of surrogate pairs, which JSON can write and Unicode does not know: many readers refuse the
 * whole file for one. Each becomes U+FFFD. In text that came as UTF-8, or that JSON.stringify wrote, they are escapes.
 */
export function wellFormed(json: string): string {
  if (!/\\u[dD][89a-fA-F]/.test(json)) return json;
  return json.replace(ESCAPE, (whole, half?: string) => (half === undefined ? whole : '\ufffd'));
}

/** Headers in the order of their names, so that the way they were stored does not show. */
export function sortedHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

// Values that did not fit their column and gave way to its default or null, counted for each column.

export type Conversion = {
  target: string;
  count: number;
  eventId: string;
};

/** Counts in the order in which columns come up. */
export class Conversions {
  readonly #byTarget = new Map<string, Conversion>();

  add({ target, count, eventId }: Conversion): void {
    const known = this.#byTarget.get(target);
    if (known === undefined) this.#byTarget.set(target, { target, count, eventId });
    else known.count += count;
  }

  get list(): Conversion[] {
    return [...this.#byTarget.values()];
  }
}

export const convertedCount = (conversions: readonly Conversion[]): number =>
  conversions.reduce((sum, { count }) => sum + count, 0);
