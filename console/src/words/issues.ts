// Kinds and causes of issues in words.
import type { Issue } from '@hookyard/client';
import { choicesOf, plural } from '../format.ts';

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
