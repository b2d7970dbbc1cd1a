// When a delivery is handed to a failover destination, and to which.
// Rules: ROUTE-50, ROUTE-51.

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
 * The destinations that may take over, first choice first; empty when the delivery continues without failover. A primary delivery
 * is handed over after `failoverAfterAttempts` failed attempts, or when it would fail before. A delivery to a failover
 * destination has that destination's own retry policy and is handed over when it fails. None is tried twice, whatever the order
 * in the rule has become meanwhile.
 */
export function failoverCandidates(rule: FailoverRule, failed: FailedAttempt): string[] {
  const isDue = failed.exhausted || (failed.isPrimary && failed.attempt >= rule.failoverAfterAttempts);
  return isDue ? rule.failoverDestinationIds.filter((id) => !failed.tried.includes(id)) : [];
}
