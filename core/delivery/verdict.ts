// Decides what the response of an attempt means for its delivery.
// Rules: DLV-19, DLV-20, DLV-22.
import { retryAfterOf, waitBeforeRetry } from './backoff.ts';
import { type DescribedError, openError } from '../text/error-summary.ts';
import { type ExpectedResponse, isSuccess } from './response-check.ts';

/** What came back from the destination. */
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
  | { status: 'failed'; error: DescribedError }
  | { status: 'retrying'; error: DescribedError; waitMs: number };

// The resource is gone for good (RFC 9110, section 15.5.11), or the request goes round in a loop (RFC 5842, section 7.2), which
// every retry would feed.
const USELESS_TO_RETRY = [410, 508];
// The two statuses whose Retry-After is respected.
const RETRY_AFTER_STATUSES = [429, 503];

/**
 * Evaluates an attempt.
 * @param retryDelay planned wait before the next attempt in ms; null when there is none left
 * @param nowMs end of the attempt, milliseconds since 1970
 */
export function judge(
  answer: Answer,
  expected: ExpectedResponse | null,
  retryDelay: number | null,
  nowMs: number,
): Verdict {
  const failure = failureOf(answer, expected);
  if (failure === null) return { status: 'delivered', error: null };
  if (!failure.retryable || retryDelay === null) return { status: 'failed', error: failure.error };
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
  const check = isSuccess(expected, answer.statusCode, answer.contains);
  if (check.success) return null;
  return { error: openError(check.reason), retryable: !USELESS_TO_RETRY.includes(answer.statusCode) };
}

function askedWait(answer: Answer, nowMs: number): number | null {
  if (answer.kind === 'error' || !RETRY_AFTER_STATUSES.includes(answer.statusCode)) return null;
  return retryAfterOf(answer.headers, nowMs);
}
