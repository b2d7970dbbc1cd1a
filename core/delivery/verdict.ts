// Decides what the response of an attempt means for its delivery: whether it is a success, and whether a retry or a
// failover follows.
import { retryAfterOf, waitBeforeRetry } from './backoff.ts';
import { type DescribedError, type ErrorSummary, named, openError, ownWords } from '../text/error-summary.ts';

export type Answer =
  | {
      kind: 'response';
      statusCode: number;
      headers: Readonly<Record<string, string>>;
      /** Whether the body contains the text that is expected. */
      contains: boolean;
    }
  | ({ kind: 'error'; retryable: boolean } & DescribedError);

/** Delivered, failed for good, or to be retried after `waitMs`. */
export type Verdict =
  | { status: 'delivered'; error: null }
  /** `exhausted`: no retry is left; else a retry would change nothing. */
  | { status: 'failed'; error: DescribedError; exhausted: boolean }
  | { status: 'retrying'; error: DescribedError; waitMs: number };

// The resource is gone for good (RFC 9110, section 15.5.11), or the request goes round in a loop (RFC 5842, section
// 7.2), which every retry would feed.
const USELESS_TO_RETRY = [410, 508];
// The two statuses whose Retry-After is respected.
const RETRY_AFTER_STATUSES = [429, 503];

/**
 * @param retryDelay planned wait before the next attempt in ms; null when there is none left
 * @param nowMs end of the attempt, milliseconds since 1970
 */
export function verdictOf(
  answer: Answer,
  expected: ExpectedResponse | null,
  retryDelay: number | null,
  nowMs: number,
): Verdict {
  const failure = failureOf(answer, expected);
  if (failure === null) return { status: 'delivered', error: null };
  if (!failure.retryable || retryDelay === null) {
    return { status: 'failed', error: failure.error, exhausted: failure.retryable };
  }
  return {
    status: 'retrying',
    error: failure.error,
    waitMs: waitBeforeRetry({ planned: retryDelay, retryAfter: askedWait(answer, nowMs) }),
  };
}

function failureOf(
  answer: Answer,
  expected: ExpectedResponse | null,
): { error: DescribedError; retryable: boolean } | null {
  if (answer.kind === 'error') {
    return { error: { summary: answer.summary, detail: answer.detail }, retryable: answer.retryable };
  }
  const mismatch = mismatchOf(expected, answer.statusCode, answer.contains);
  return mismatch && { error: openError(mismatch), retryable: !USELESS_TO_RETRY.includes(answer.statusCode) };
}

function askedWait(answer: Answer, nowMs: number): number | null {
  if (answer.kind === 'error' || !RETRY_AFTER_STATUSES.includes(answer.statusCode)) return null;
  return retryAfterOf(answer.headers, nowMs);
}

/**
 * What a route expects of the response; a member that is absent is not checked, except that the default status is 2xx.
 */
export type ExpectedResponse = { statusCodes?: number[]; bodyContains?: string };

/** Why a destination's response is no success (`expectedResponse` of its route); null when it is one. */
export function mismatchOf(
  expected: ExpectedResponse | null,
  statusCode: number,
  contains: boolean,
): ErrorSummary | null {
  const statusCodes = expected?.statusCodes ?? [];
  const statusIsRight =
    statusCodes.length > 0 ? statusCodes.includes(statusCode) : statusCode >= 200 && statusCode <= 299;
  if (!statusIsRight) {
    const wanted = named(statusCodes.length > 0 ? ` (expected ${statusCodes.join(' or ')})` : '');
    return ownWords`The destination returned ${statusCode}${wanted}`;
  }
  return expected?.bodyContains && !contains
    ? ownWords`The destination returned ${statusCode}, but the response body does not contain the expected text`
    : null;
}

export interface FailoverRule {
  /** In the order in which they are tried, at most three. */
  failoverDestinationIds: string[];
  failoverAfterAttempts: number;
}

/** An attempt that did not succeed. */
export interface FailedAttempt {
  /** Whether its delivery is the first of its event by this route, not one to a failover destination. */
  isPrimary: boolean;
  /** Its destination, and those of the deliveries before it that were handed over. */
  tried: readonly string[];
  attempt: number;
  /** Whether the delivery would fail now: no retry is left, or the failure is final. */
  exhausted: boolean;
}

/**
 * The destinations that may take over, first choice first; empty when the delivery continues without failover. A
 * primary delivery is handed over after `failoverAfterAttempts` failed attempts, or when it would fail before. A
 * delivery to a failover destination has that destination's own retry policy and is handed over when it fails. None is
 * tried twice, whatever the order in the rule has become meanwhile.
 */
export function failoverCandidates(rule: FailoverRule, failed: FailedAttempt): string[] {
  const isDue = failed.exhausted || (failed.isPrimary && failed.attempt >= rule.failoverAfterAttempts);
  return isDue ? rule.failoverDestinationIds.filter((id) => !failed.tried.includes(id)) : [];
}
