// Errors in two forms. What a stranger wrote (the code of a transform, a store, a destination, a library that quotes them) may
// hold content of a webhook, which leaves PostgreSQL for its destinations only. So logs, mails and Temporal have the summary, and
// PostgreSQL and the API the detail.
import { errorText } from './clean-text.ts';

declare const brand: unique symbol;

/** A sentence without a stranger's words, as PostgreSQL and Temporal can hold it. Made by `ownWords` only: a string is none. */
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
 * What an organization or the operator chose (the name of a record, a host, a setting), or a word of a protocol or a library (the
 * code of an error). Never a part of an event, of an answer or of somebody's message.
 */
export function named(text: string): ErrorSummary {
  return text as ErrorSummary;
}

/** An error with nothing to hide. */
export function openError(summary: ErrorSummary): DescribedError {
  return { summary, detail: summary };
}

/** The error of a record that an earlier release wrote, without its summary. */
export const UNKNOWN_ERROR = ownWords`The API tells why`;
