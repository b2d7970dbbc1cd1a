// Errors in two forms. Untrusted text (from the code of a transform, a store, a destination, or a library that quotes
// them) may hold content of a webhook, which may leave PostgreSQL only for its destinations. So logs, mails and
// Temporal get the summary; PostgreSQL and the API have the detail.

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

declare const brand: unique symbol;

/**
 * A sentence without untrusted text, which PostgreSQL and Temporal can store. Only `ownWords` creates one: a plain
 * string is not assignable.
 */
export type ErrorSummary = string & { readonly [brand]: true };

export interface DescribedError {
  summary: ErrorSummary;
  /** The whole sentence. Never in a log, a mail or Temporal. */
  detail: string;
}

/** Writes a summary. Its own text is ours; a string may be part of it as a summary, or by `named`. */
export function ownWords(words: TemplateStringsArray, ...values: (ErrorSummary | number)[]): ErrorSummary {
  return errorText(String.raw({ raw: words }, ...values)) as ErrorSummary;
}

/**
 * Accepts what an organization or the operator chose (the name of a record, a host, a setting), or a constant of a
 * protocol or a library (the code of an error). Never pass a part of an event, of a response or of an error message.
 */
export function named(text: string): ErrorSummary {
  return text as ErrorSummary;
}

export function openError(summary: ErrorSummary): DescribedError {
  return { summary, detail: summary };
}
