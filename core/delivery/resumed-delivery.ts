// How a delivery continues whose workflow was lost.
import type { ErrorSummary } from '../text/error-summary.ts';

/** How far an open delivery had come, by its latest recorded attempt. */
export interface ResumedDelivery {
  /** Attempts recorded so far. */
  attempts: number;
  /** Until the next one, ms. */
  waitMs: number;
  statusCode: number | null;
  error: ErrorSummary | null;
}
