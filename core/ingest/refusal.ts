// A refused webhook as its organization is told of it. The sender may be told less (api/ingest/verification.ts).
import type { LimitName } from '../fairness/organization-limits.ts';

/** Why. What each means: docs/guide/refused-webhooks.md. */
export const REFUSAL_CAUSES = [
  'signature',
  'token',
  'path',
  'disabled',
  'suspended',
  'too_large',
  'incomplete',
  'too_slow',
  'limit',
  'unavailable',
  'error',
] as const;
export type RefusalCause = (typeof REFUSAL_CAUSES)[number];

export const KEPT_REFUSALS = 100;
/** Of the payload of a refused webhook, in bytes. */
export const KEPT_PAYLOAD_BYTES = 1024;
/** How many days refusals are kept at most; payloads may be kept shorter, and they with them. */
export const REFUSAL_DAYS = 30;

export interface Refusal {
  cause: RefusalCause;
  limit: LimitName | null;
  status: number;
  message: string;
}

export interface RefusalOwner {
  organizationId: string;
  sourceId: string;
}

export interface RefusedWebhook extends Refusal, RefusalOwner {
  id: string;
  at: Date;
  method: string;
  clientAddress: string;
  /** Secrets are masked. */
  headers: Record<string, string>;
  /** Bytes; null when it was neither read nor announced. */
  payloadSize: number | null;
  /** Null when it was refused before the body was read. */
  payloadStart: Buffer | null;
}

export interface RefusalCount extends RefusalOwner, Pick<Refusal, 'cause' | 'limit'> {
  /** ms since 1970 */
  hour: number;
  count: number;
  /** ms since 1970 */
  lastAt: number;
}
