// Issues: failures that last. One per (organization, kind, source, route, destination, cause) that is not resolved; a
// failure after `resolved` opens it again within an hour, and later a new one, with a new id. What each kind means, and
// when it recovers: docs/guide/issues-and-alerts.md.

const FAILURES_IN_A_ROW = 5;

/** How many failures in a row open an issue: a retry, or the next webhook, may mend the first ones of these kinds. */
export const OPENS_AFTER = {
  delivery_failing: FAILURES_IN_A_ROW,
  circuit_open: 1,
  transform_failing: 1,
  schema_refusing: 1,
  signature_failing: FAILURES_IN_A_ROW,
  warehouse_not_writable: FAILURES_IN_A_ROW,
  order_blocked: 1,
  quota_reached: FAILURES_IN_A_ROW,
  ingest_refused: FAILURES_IN_A_ROW,
  notification_failing: FAILURES_IN_A_ROW,
};
export type IssueKind = keyof typeof OPENS_AFTER;
export const ISSUE_KINDS = Object.keys(OPENS_AFTER) as [IssueKind, ...IssueKind[]];

/**
 * `ignored` counts on and stays as it is until somebody changes it, or what it is about is deleted. `open` and
 * `acknowledged` resolve themselves on recovery.
 */
export const ISSUE_STATES = ['open', 'acknowledged', 'resolved', 'ignored'] as const;
export type IssueState = (typeof ISSUE_STATES)[number];

/** What an issue is about. Null: the kind is about another thing. */
export interface IssueSubject {
  organizationId: string;
  kind: IssueKind;
  sourceId: string | null;
  routeId: string | null;
  destinationId: string | null;
}

export interface Issue extends IssueSubject {
  id: string;
  /**
   * A short stable code: `HTTP_500`, `TIMEOUT`, the name of a limit. `OTHER` counts together what is beyond the bounds.
   */
  cause: string;
  state: IssueState;
  /** Of the failures that are counted. The first ones may have come before it opened. */
  firstSeenAt: Date;
  lastSeenAt: Date;
  count: number;
  /** Of a late failure; null where failures of the kind have none. */
  sampleEventId: string | null;
  sampleDeliveryId: string | null;
  openedAt: Date;
  resolvedAt: Date | null;
  changedAt: Date;
}

/** The cause of what is counted together because there are too many causes. */
export const OTHER_CAUSE = 'OTHER';

export interface IssueFailure {
  /** A constant or what a limit is called, never a text of a tenant. */
  cause: string;
  /** ms since 1970 */
  at: number;
  /** It will not be tried again, or would fail again: it opens an issue at once, whatever the kind. */
  isFinal?: boolean;
  eventId?: string | null;
  deliveryId?: string | null;
}

/** Where failures and successes are told. Both cost memory only, and little. */
export interface IssueSink {
  failed(subject: IssueSubject, failure: IssueFailure): void;
  worked(subject: IssueSubject): void;
}

const subject = (
  organizationId: string,
  kind: IssueKind,
  named: Partial<Pick<IssueSubject, 'sourceId' | 'routeId' | 'destinationId'>> = {},
): IssueSubject => ({ organizationId, kind, sourceId: null, routeId: null, destinationId: null, ...named });

export const issueSubjects = {
  delivery: (organizationId: string, routeId: string | null, destinationId: string) =>
    subject(organizationId, 'delivery_failing', { routeId, destinationId }),
  transform: (organizationId: string, routeId: string | null) =>
    subject(organizationId, 'transform_failing', { routeId }),
  schema: (organizationId: string, routeId: string) => subject(organizationId, 'schema_refusing', { routeId }),
  signature: (organizationId: string, sourceId: string) => subject(organizationId, 'signature_failing', { sourceId }),
  ingest: (organizationId: string, sourceId: string) => subject(organizationId, 'ingest_refused', { sourceId }),
  order: (organizationId: string, destinationId: string) => subject(organizationId, 'order_blocked', { destinationId }),
  warehouse: (organizationId: string, destinationId: string) =>
    subject(organizationId, 'warehouse_not_writable', { destinationId }),
  notification: (organizationId: string, routeId: string) =>
    subject(organizationId, 'notification_failing', { routeId }),
  quota: (organizationId: string) => subject(organizationId, 'quota_reached'),
};

/** So many causes of one subject are told apart at a time; tenants and strangers choose what fails, and how. */
export const MAX_CAUSES = 10;
/** So many issues of an organization are told apart that are not resolved. Further ones are counted by kind. */
export const MAX_ISSUES = 1000;
/**
 * A failure so soon after `resolved` opens the same issue again: what fails now and then has one, and its alerts one
 * incident.
 */
export const REOPENS_WITHIN_MINUTES = 60;
/** How many days an issue is kept after it was resolved. */
export const ISSUE_DAYS = 90;
