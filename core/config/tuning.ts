// Limits with the same value in every installation: no operator would know how to choose another. Tests start processes
// with smaller ones (test/support/tuned.ts).

export const TUNING = {
  /** Open connections of an API process. Ten addresses fit that have all they may by default. */
  maxConnections: 5000,
  /**
   * Bytes that the bodies in an API process take together, if the largest webhook needs no more.
   * docs/operate/production.md counts with it.
   */
  bufferedBytes: 256 * 1024 * 1024,
  /**
   * Requests of one address with wrong credentials that are answered 401 in a minute. People and programs err less
   * often.
   */
  failedSignInsPerMinute: 60,
  /**
   * First attempts that a worker runs at a time. Each takes a socket and its payload; these hold 1,000/s to a
   * destination of 300 ms beside others.
   */
  maxInFlight: 1500,
  /**
   * Attempts under way at a destination without `maxConcurrency`. Its limit adapts below this: 1,000/s to one that
   * answers in half a second.
   */
  maxInFlightPerDestination: 500,
  /**
   * How long no worker of the current release has asked for workflows before another release takes over, s. Temporal
   * notes when workers ask, and they do at least once a minute, however little there is to do.
   */
  releaseSilentSeconds: 120,
  /**
   * Failed deliveries whose workflows stay open. Every one costs Temporal a row for days; all others can be replayed
   * without.
   */
  maxParked: 50_000,
  /** ... of one organization, so that its outage leaves room for others. Measured with an outage of 200,000. */
  maxParkedPerOrganization: 10_000,
  /**
   * How long a subject of an issue works without a failure before the issue is resolved, s. Long enough not to open and
   * close it all the time.
   */
  issueRecoverySeconds: 60,
  /** How long a file of a warehouse is tried, s. Somebody has a day to mend the store. */
  warehouseRetrySeconds: 86_400,
};

export type Tuning = Readonly<typeof TUNING>;
