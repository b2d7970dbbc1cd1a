// Whether a destination's response counts as success (`expectedResponse` of its route).
// Rules: ROUTE-22, DLV-18.
import { type ErrorSummary, named, ownWords } from '../text/error-summary.ts';

/** What a route expects of the response; a member that is absent is not checked, except that the default status is 2xx. */
export type ExpectedResponse = { statusCodes?: number[]; bodyContains?: string };

export type ResponseCheck = { success: true } | { success: false; reason: ErrorSummary };

/**
 * Evaluates a response.
 * @param expected the route's expectation, or null
 * @param contains whether the response's body contains the text that is expected
 * @returns success, or why not in one sentence
 */
export function isSuccess(expected: ExpectedResponse | null, statusCode: number, contains: boolean): ResponseCheck {
  const statusCodes = expected?.statusCodes ?? [];
  const statusIsRight =
    statusCodes.length > 0 ? statusCodes.includes(statusCode) : statusCode >= 200 && statusCode <= 299;
  if (!statusIsRight) {
    const wanted = named(statusCodes.length > 0 ? `, expected ${statusCodes.join(' or ')}` : '');
    return { success: false, reason: ownWords`The destination answered ${statusCode}${wanted}` };
  }
  if (expected?.bodyContains && !contains) {
    return {
      success: false,
      reason: ownWords`The destination answered ${statusCode}, but the body lacks the expected text`,
    };
  }
  return { success: true };
}
