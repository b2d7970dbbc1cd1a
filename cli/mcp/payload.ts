// Payloads and bodies, as much of them as was asked for.

export interface Shown extends Record<string, unknown> {
  text?: string;
  /** What is no text. */
  base64?: string;
  /** bytes of the whole */
  size: number;
  isCut: boolean;
}

/** The first bytes, as text where all of them are. */
export function shownBytes(bytes: Uint8Array, most: number): Shown {
  const isCut = bytes.length > most;
  const shown = { size: bytes.length, isCut };
  const part = Buffer.from(bytes.subarray(0, most));
  if (!isText(bytes)) return { base64: part.toString('base64'), ...shown };
  const text = part.toString('utf8');
  // A character at the end may be cut in two.
  return { text: isCut ? text.replace(/\uFFFD$/, '') : text, ...shown };
}

/** The same of a text, or of base64, that the API gave. @param size bytes of the whole */
export function shownText(body: string, encoding: 'base64' | undefined, size: number, most: number): Shown {
  const shown = shownBytes(Buffer.from(body, encoding ?? 'utf8'), most);
  return { ...shown, size, isCut: shown.isCut || shown.size < size };
}

function isText(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
