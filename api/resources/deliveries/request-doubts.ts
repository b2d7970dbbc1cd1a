// Why the request of an attempt may not have been, or may not become, the one that its records make now.
import type { AttemptRecord } from '../../../db/history/deliveries.ts';
import type { RecordVersion } from '../../../db/history/request-records.ts';

export const DOUBTS = {
  DESTINATION_CHANGED: 'The destination was changed after this attempt: its method and its url may have been others',
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

// An attempt that was recorded from a summary has no version, so times decide: those of two processes, and the attempt loaded the
// records some time before it started.
const MARGIN_MS = 60_000;

/** Whether the destination was changed since an attempt was made. The route and its transform are those of the delivery. */
export function changesSince(attempt: AttemptRecord | undefined, now: RecordVersion | null): Doubt[] {
  if (now === null) return [];
  const version = attempt?.exchange?.destinationVersion ?? null;
  const isOther =
    version === null
      ? attempt === undefined || now.updatedAt.getTime() > attempt.startedAt.getTime() - MARGIN_MS
      : version !== now.version;
  return isOther ? [doubt('DESTINATION_CHANGED', now)] : [];
}
