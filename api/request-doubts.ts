// Why the request of an attempt may not have been, or may not become, the one that its records make now.
import type { AttemptRecord } from '../db/history/deliveries.ts';
import type { RecordVersion, RequestRecords } from '../db/history/request-records.ts';

export const DOUBTS = {
  DESTINATION_CHANGED: 'The destination was changed after this attempt: its method and its url may have been others',
  ROUTE_CHANGED: 'The route was changed after this attempt: it may have had another transform, or none',
  ROUTE_DELETED: 'The route was deleted: whether it had a transform is not known, and the body is shown without one',
  TRANSFORM_CHANGED: 'The transform was changed after this attempt: the body may have been another one',
  HEADERS_NOT_KEPT: 'The headers of this attempt were not kept: these are made of the destination as it is now',
  SIGNED_LATER: 'The signature and its time are made when the request is sent',
  DESTINATION_DISABLED: 'The destination is disabled: unless it is enabled, the delivery ends as skipped instead',
} as const;
export type DoubtCode = keyof typeof DOUBTS;

export interface Doubt {
  code: DoubtCode;
  /** When the record was changed last. */
  changedAt: Date | null;
}

export const doubt = (code: DoubtCode, record: RecordVersion | null = null): Doubt => ({
  code,
  changedAt: record?.updatedAt ?? null,
});

// Attempts of earlier releases have no versions, so times decide: those of two processes, and the attempt loaded the records some
// time before it started.
const MARGIN_MS = 60_000;

/** What was changed since an attempt was made. */
export function changesSince(
  attempt: AttemptRecord | undefined,
  now: RequestRecords,
  { routeId }: { routeId: string | null },
): Doubt[] {
  const { destination, route, transform } = attempt?.exchange?.versions ?? {};
  const differs = (record: RecordVersion, version: number | null | undefined): boolean => {
    if (version !== undefined) return version !== record.version;
    return attempt === undefined || record.updatedAt.getTime() > attempt.startedAt.getTime() - MARGIN_MS;
  };
  const doubts: Doubt[] = [];
  if (now.destination && differs(now.destination, destination)) {
    doubts.push(doubt('DESTINATION_CHANGED', now.destination));
  }
  if (routeId !== null && !now.route && transform === undefined) doubts.push(doubt('ROUTE_DELETED'));
  if (now.route && differs(now.route, route)) doubts.push(doubt('ROUTE_CHANGED', now.route));
  // An attempt without a transform is one of another version of the route.
  if (now.transform && transform !== null && differs(now.transform, transform)) {
    doubts.push(doubt('TRANSFORM_CHANGED', now.transform));
  }
  return doubts;
}
