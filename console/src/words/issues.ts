// Kinds and causes of issues in words.
import type { Issue } from 'hookyard/client';
import { choicesOf } from './choices.ts';

type Kind = Issue['kind'];

export const KINDS: Record<Kind, string> = {
  delivery_failing: 'Deliveries fail',
  circuit_open: 'A circuit is open',
  transform_failing: 'A transform fails',
  schema_refusing: 'A schema refuses payloads',
  signature_failing: 'Signatures are wrong',
  warehouse_not_writable: 'A warehouse cannot be written',
  quota_reached: 'A limit is reached',
  ingest_refused: 'Webhooks are refused',
  notification_failing: 'Mails of a route are not sent',
};

export const KIND_CHOICES = choicesOf(KINDS);
export const STATES = ['open', 'acknowledged', 'ignored', 'resolved'] as const;

/** Of deliveries and circuits; the codes of the others are words already. */
const CAUSES: Record<string, string> = {
  TIMEOUT: 'no answer in time',
  CONNECTION_FAILED: 'no connection',
  NAME_NOT_RESOLVED: 'the name of its host is not known',
  TLS_FAILED: 'its certificate or TLS is not right',
  ADDRESS_REFUSED: 'its address may not be called',
  NO_RESPONSE: 'the connection ended without an answer',
  NO_REQUEST: 'its credentials are missing',
  FAILURE_THRESHOLD: 'too many failed attempts in a row',
};

/** `it answered 500`; a code of the API where there are no better words. */
export function causeText({ kind, cause }: Pick<Issue, 'kind' | 'cause'>): string {
  const [, status] = /^HTTP_(\d{3})$/.exec(cause) ?? [];
  if (status !== undefined) return `it answered ${status}`;
  const isOfDeliveries = kind === 'delivery_failing' || kind === 'circuit_open';
  return (isOfDeliveries && CAUSES[cause]) || cause;
}

export const titleOf = (issue: Pick<Issue, 'kind' | 'cause'>): string => `${KINDS[issue.kind]}: ${causeText(issue)}`;

/** Where it is: `route Orders to CRM, destination CRM`. */
export function placeOf(issue: Issue): string {
  const names = (['source', 'route', 'destination'] as const).flatMap((what) => {
    const record = issue[what];
    return record ? [`${what} ${record.name ?? record.id}`] : [];
  });
  return names.join(', ') || 'the organization';
}

/** Whose failed deliveries can be made again. */
export const canRetry = ({ kind }: Issue): boolean =>
  !['signature_failing', 'quota_reached', 'ingest_refused', 'notification_failing'].includes(kind);
