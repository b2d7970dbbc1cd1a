// Issues, and the statuses of deliveries and events, in words.
import type { Event, Delivery, Issue } from '@hookyard/client';
import { plain, choicesOf, plural } from './format.ts';

type Kind = Issue['kind'];

export const KINDS: Record<Kind, string> = {
  delivery_failing: 'Deliveries failing',
  circuit_open: 'Circuit breaker open',
  transform_failing: 'Transform failing',
  schema_refusing: 'Schema mismatch',
  signature_failing: 'Signature verification failing',
  order_blocked: 'Ordering key blocked',
  warehouse_not_writable: 'Warehouse not writable',
  quota_reached: 'Limit reached',
  ingest_refused: 'Webhooks refused',
  notification_failing: 'Notifications failing',
};

export const KIND_CHOICES = choicesOf(KINDS);
export const STATES = ['open', 'acknowledged', 'ignored', 'resolved'] as const;

/** Of deliveries and circuit breakers; the codes of the others are words already. */
const CAUSES: Record<string, string> = {
  TIMEOUT: 'timeout',
  CONNECTION_FAILED: 'connection failed',
  NAME_NOT_RESOLVED: 'host name not found',
  TLS_FAILED: 'TLS or certificate error',
  ADDRESS_REFUSED: 'address not allowed',
  NO_RESPONSE: 'connection closed without a response',
  NO_REQUEST: 'request could not be built',
  FAILURE_THRESHOLD: 'too many consecutive failures',
};

/** `HTTP 500`; a code of the API where there are no better words. */
export function causeText({ kind, cause }: Pick<Issue, 'kind' | 'cause'>): string {
  const [, status] = /^HTTP_(\d{3})$/.exec(cause) ?? [];
  if (status !== undefined) return `HTTP ${status}`;
  const isOfDeliveries = kind === 'delivery_failing' || kind === 'circuit_open';
  return (isOfDeliveries && CAUSES[cause]) || cause;
}

export const titleOf = (issue: Pick<Issue, 'kind' | 'cause'>): string => `${KINDS[issue.kind]}: ${causeText(issue)}`;

/** What the count of an issue counts; of the others failures. */
const COUNTED: Partial<Record<Kind, string>> = {
  delivery_failing: 'failed attempt',
  transform_failing: 'failed delivery',
  schema_refusing: 'schema mismatch',
  signature_failing: 'refused webhook',
  ingest_refused: 'refused webhook',
  quota_reached: 'refused webhook',
};

/** `19 failed attempts` */
export const occurrencesOf = ({ kind, count }: Pick<Issue, 'kind' | 'count'>): string =>
  kind === 'circuit_open'
    ? `Opened ${count === 1 ? 'once' : plural(count, 'time')}`
    : plural(count, COUNTED[kind] ?? 'failure');

/** Where it is: `Orders to CRM › CRM`. */
export function placeOf(issue: Issue): string {
  const names = (['source', 'route', 'destination'] as const).flatMap((what) => {
    const record = issue[what];
    return record ? [record.name ?? record.id] : [];
  });
  return names.join(' › ') || 'Organization';
}

/** Whose failed deliveries can be retried. */
export const canRetry = ({ kind }: Issue): boolean =>
  !['signature_failing', 'quota_reached', 'ingest_refused', 'notification_failing'].includes(kind);

// What the status of a delivery means, and what comes next.

type Status = Delivery['status'];

export const STATUSES: Record<Status, string> = {
  pending: 'The first attempt has not finished yet.',
  retrying: 'The last attempt failed and the next one is scheduled. "Retry now" starts it immediately.',
  circuit_open:
    'Held by the circuit breaker or by a paused route or destination. Sent automatically when the circuit breaker closes or the pause ends.',
  delivered: 'The destination accepted the event.',
  failed: 'The retries are used up, or no attempt could succeed. Fix the cause, then replay the delivery.',
  failed_over:
    'The destination failed or the circuit breaker was open. A delivery to a failover destination replaced this one.',
  schema_failed:
    "The payload does not match the route's schema, or could not be checked against it, so the event was not sent. Fix the schema or the sender, then replay the delivery.",
  filter_failed:
    "The route's filter or ordering key took too much time or memory to evaluate, so the event was not sent. Simplify the filters and schemas of the source's routes, then replay the delivery.",
  skipped: 'The destination was disabled. Enable it, then replay the delivery.',
  cancelled: 'Cancelled by a user or an operator, or because its source or destination was deleted.',
};

const LANES: Record<NonNullable<Delivery['lane']>, true> = { workflow: true, express: true };
export const LANE_NAMES = Object.keys(LANES) as (keyof typeof LANES)[];

export const STATUS_NAMES = Object.keys(STATUSES) as Status[];

/** Of one that `waitsFor` another. */
export const waitingText = ({ orderKey, routeId }: Pick<Delivery, 'orderKey' | 'routeId'>): string =>
  `Waiting for an earlier event ${orderKey === routeId ? 'on the route' : `with the key ${plain(orderKey ?? '')}`}`;

/** Those that have not ended. */
export const OPEN: Status[] = ['pending', 'retrying', 'circuit_open'];
export const isOpen = (status: Status): boolean => OPEN.includes(status);

// The status of an event as people see it.

/** The API calls an event delivered, too, that no route took: nothing of it is open. */
export const eventState = ({ status, routed, deliveriesCount }: Event): string =>
  status === 'delivered' && !routed && deliveriesCount === 0 ? 'not_routed' : status;
