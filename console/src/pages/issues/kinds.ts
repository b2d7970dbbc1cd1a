// Kinds of issues, and what helps.
import type { Issue } from 'hookyard/client';

type Kind = Issue['kind'];

export const KINDS: Record<Kind, { title: string; help: string }> = {
  delivery_failing: {
    title: 'Deliveries fail',
    help: 'See what the destination answered to the sample delivery. Repair the destination, then retry what failed.',
  },
  circuit_open: {
    title: 'A circuit is open',
    help: 'The other issues of the route say why. The circuit closes by itself once the destination answers; the page of the route closes it now. That releases what it held; retry what failed.',
  },
  transform_failing: {
    title: 'A transform fails',
    help: 'See the error of the sample delivery, correct the transform with that event, then retry what failed.',
  },
  schema_refusing: {
    title: 'A schema refuses payloads',
    help: 'See the error of the sample delivery, correct the schema or the sender, then retry what failed.',
  },
  signature_failing: {
    title: 'Signatures are wrong',
    help: 'See the refused webhooks of the source, and set the secret that its sender uses.',
  },
  warehouse_not_writable: {
    title: 'A warehouse cannot be written',
    help: 'See the error of its last file on the page of the destination. Repair the bucket, the credentials or the permission; the files are written again by themselves.',
  },
  quota_reached: { title: 'A limit is reached', help: 'See Usage. Send less, or ask the operator for more.' },
  ingest_refused: {
    title: 'Webhooks are refused',
    help: 'The refused webhooks of the source say why, and what helps.',
  },
  notification_failing: {
    title: 'Mails of a route are not sent',
    help: 'The mail server refuses them, or cannot be reached. Check the addresses of the route; for its mail server ask the operator.',
  },
};

export const KIND_CHOICES = Object.entries(KINDS).map(([value, { title }]) => ({ value, label: title }));
export const STATES = ['open', 'acknowledged', 'ignored', 'resolved'] as const;

/** Whose failed deliveries can be made again (ISS-12). */
export const canRetry = ({ kind }: Issue): boolean =>
  !['signature_failing', 'quota_reached', 'ingest_refused', 'notification_failing'].includes(kind);
