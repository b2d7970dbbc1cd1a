// Sanitizes external text, so that PostgreSQL and Temporal can store it. PostgreSQL refuses NUL in text, and in JSON
// (22021, 22P05); both refuse lone surrogates, which have no UTF-8 form. U+FFFD replaces them, and text that is too
// long is cut.

const REPLACEMENT = '\ufffd';
/** Longest stored or displayed error, in UTF-16 code units. */
export const MAX_ERROR_LENGTH = 4000;

/** The text with U+FFFD for each NUL and each half of a surrogate pair; the same text when it has none. */
export function cleanText(text: string): string {
  const clean = text.includes('\0') ? text.replaceAll('\0', REPLACEMENT) : text;
  return clean.isWellFormed() ? clean : clean.toWellFormed();
}

/** An error for storage and display: sanitized, and cut after 4,000 characters. */
export function errorText(text: string): string {
  // Cut first, because the cut may go through a pair.
  return cleanText(text.length <= MAX_ERROR_LENGTH ? text : `${text.slice(0, MAX_ERROR_LENGTH - 1)}…`);
}

// Every backslash of JSON begins an escape, so that matches from the left never begin inside one. JSON.stringify
// escapes halves of pairs only, whole ones stand as they are (ECMA-262, QuoteJSONString).
const ESCAPES = /\\(?:u[0-9a-f]{4}|.)/g;
const UNSTORABLE = /^\\u(?:0000|d[89a-f])/;

/**
 * What JSON.stringify made, with U+FFFD for each NUL and each half of a surrogate pair; the same text when it has none.
 */
export function cleanJson(json: string): string {
  if (!json.includes('\\u')) return json;
  return json.replace(ESCAPES, (match) => (UNSTORABLE.test(match) ? REPLACEMENT : match));
}
