import { LIMIT_NAMES } from '../fairness/organization-limits.ts';
import { Counter, Gauge, Histogram } from './instruments.ts';

/** How a webhook was answered. The first three are answered with 200. */
const INGEST_RESULTS = [
  'stored',
  'duplicate',
  'challenge',
  'invalid',
  'unauthorized',
  'unknown_source',
  'too_slow',
  'too_large',
  'over_limit',
  'loop',
  'unavailable',
  'error',
] as const;
export type IngestResult = (typeof INGEST_RESULTS)[number];

export const GATE_STATES = ['open', 'partly_full', 'full'] as const;

export const ingestRequests = new Counter({
  name: 'hookyard_ingest_requests_total',
  help: 'Webhooks by response.',
  labels: { result: INGEST_RESULTS },
  in: ['api'],
});

export const ingestAck = new Histogram({
  name: 'hookyard_ingest_ack_duration_seconds',
  help: "Time from receiving a webhook's headers to the successful response, which is sent after the commit.",
  in: ['api'],
});

export const ingestGate = new Gauge({
  name: 'hookyard_ingest_gate_state',
  help: 'State of ingest: 1 for the current state, 0 for the others. partly_full refuses webhooks for some organizations or destinations; full refuses all webhooks.',
  labels: { state: GATE_STATES },
  in: ['api'],
});

export const ingestBuffered = new Gauge({
  name: 'hookyard_ingest_buffered_bytes',
  help: 'Memory used by the bodies of requests in progress, at most 256 MiB, or three times HOOKYARD_MAX_PAYLOAD_BYTES if that is more.',
  in: ['api'],
});

export const eventsUnrouted = new Counter({
  name: 'hookyard_events_unrouted_total',
  help: 'Stored events that no route matched.',
  in: ['api'],
});

export const quotaRefusals = new Counter({
  name: 'hookyard_quota_refusals_total',
  help: "Requests refused because of an organization's limit.",
  labels: { limit: LIMIT_NAMES },
  in: ['api'],
});
