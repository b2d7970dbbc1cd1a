// The headers of a refused webhook, as they are kept: nobody has proved who sent them, so they may hold anything, of
// any size.
import { maskHeaders, maskTexts } from '../text/redaction.ts';

const MAX_HEADERS = 64;
const MAX_NAME = 256;
const MAX_VALUE = 512;
const MAX_TOTAL = 4096;
const CUT = '…';

export interface Hidden {
  /** Names of headers, in lower case, whose values are masked besides those that look secret. */
  names: readonly string[];
  /** Texts that are masked wherever they are: a proxy may have copied the address with its token into a header. */
  texts: readonly string[];
}

/** The first headers, with secrets masked and long values cut. What goes beyond the bounds is left out. */
export function shownHeaders(received: Readonly<Record<string, string>>, hidden: Hidden): Record<string, string> {
  const first = Object.entries(received).slice(0, MAX_HEADERS);
  const masked = maskHeaders(Object.fromEntries(first), hidden.names);
  const shown = Object.create(null) as Record<string, string>;
  let total = 0;
  for (const [name, value] of Object.entries(masked)) {
    // Masked before it is cut, so that no part of a secret is left.
    const text = cut(maskTexts(value, hidden.texts));
    const size = name.length + text.length;
    if (name.length > MAX_NAME || total + size > MAX_TOTAL) continue;
    total += size;
    shown[name] = text;
  }
  return shown;
}

const cut = (text: string): string => (text.length > MAX_VALUE ? text.slice(0, MAX_VALUE) + CUT : text);
