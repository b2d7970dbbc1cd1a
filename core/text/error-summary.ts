// Errors in two forms. Untrusted text (from the code of a transform, a store, a destination, or a library that quotes
// them) may hold content of a webhook, which may leave PostgreSQL only for its destinations. So logs, mails and
// Temporal get the summary; PostgreSQL and the API have the detail.
import { errorText } from './clean-text.ts';

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
