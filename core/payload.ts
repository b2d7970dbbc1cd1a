// How a stored body is shown and hashed. The bytes themselves are never changed.
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';

/** An event's `payload`; `payloadEncoding` is there only when the bytes are no text. */
export type PayloadView = { payload: unknown; payloadEncoding?: 'base64' };

/** Shows a body as the JSON it parses to, else as its text, else (not UTF-8) in base64. */
export function viewPayload(bytes: Buffer): PayloadView {
  if (!isUtf8(bytes)) return { payload: bytes.toString('base64'), payloadEncoding: 'base64' };
  const text = bytes.toString('utf8');
  try {
    // RFC 8259, section 8.1: a parser may ignore a byte order mark.
    return { payload: JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text) };
  } catch {
    return { payload: text };
  }
}

/** An event's `payloadHash`: `sha256:` and the hex digest of the bytes. */
export function hashPayload(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
