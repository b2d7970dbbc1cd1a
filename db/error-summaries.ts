// Errors of records, as they may leave PostgreSQL (core/error-summary.ts).
import { UNKNOWN_ERROR } from '../core/error-summary.ts';

/**
 * The summary of a row's error, null when it has none. A row that an earlier release wrote has no summary, and its error may be
 * anything.
 * @param table has the columns `error` and `error_summary`
 */
export const errorSummary = (table: string): string =>
  `case when ${table}.error is not null then coalesce(${table}.error_summary, '${UNKNOWN_ERROR}') end`;
