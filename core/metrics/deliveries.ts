import { CIRCUIT_STATES } from '../delivery/circuit.ts';
import { LANES } from '../delivery/delivery.ts';
import { REASONS_FOR_RELAY } from '../delivery/lane-rule.ts';
import { Counter, Gauge, Histogram, REQUESTS, WAITS } from './instruments.ts';

/** What became of an attempt: `retrying` has failed, and another one follows. */
const ATTEMPT_OUTCOMES = ['delivered', 'retrying', 'failed'] as const;
const CODE_CLASSES = [
  '1xx',
  '2xx',
  '3xx',
  '4xx',
  '5xx',
  'timeout',
  'connection',
  'dns',
  'tls',
  'refused',
  'other',
] as const;
export type CodeClass = (typeof CODE_CLASSES)[number];

/**
 * How deliveries end. Those that end as they are stored (filters, schemas, disabled destinations) are not among them.
 */
const FINISHED = ['delivered', 'failed', 'failed_over', 'cancelled', 'skipped'] as const;

export const attempts = new Counter({
  name: 'hookyard_attempts_total',
  help: 'Attempts by outcome, by status code class or failure reason, and by whether they were the first of their delivery.',
  labels: { outcome: ATTEMPT_OUTCOMES, code_class: CODE_CLASSES, kind: ['first', 'retry'] },
  in: ['worker'],
});

export const attemptDuration = new Histogram({
  name: 'hookyard_attempt_duration_seconds',
  help: 'Duration of attempts, until the response or the error.',
  bounds: REQUESTS,
  in: ['worker'],
});

export const deliveryLatency = new Histogram({
  name: 'hookyard_delivery_latency_seconds',
  help: 'Time from the creation of a delivery (by a webhook or a replay) to its success, by the lane of its last attempt.',
  labels: { lane: [...LANES, 'warehouse'] },
  bounds: WAITS,
  in: ['worker'],
});

export const deliveriesFinished = new Counter({
  name: 'hookyard_deliveries_finished_total',
  help: 'Finished deliveries, by status, except those that ended when they were created, such as those with a schema mismatch.',
  labels: { status: FINISHED },
});

export const rateLimited = new Counter({
  name: 'hookyard_rate_limited_total',
  help: "Attempts postponed because of their destination's rate limit. Most are retries; first attempts wait in the outbox until it is their turn.",
  in: ['worker'],
});

export const relayClaim = new Histogram({
  name: 'hookyard_relay_claim_duration_seconds',
  help: 'Time that a relay took to claim the next deliveries to start.',
  in: ['worker'],
});

export const releaseUnserved = new Gauge({
  name: 'hookyard_release_unserved',
  help: 'Is 1 if, as far as this worker knows, workflows are not being processed (it receives none, and no worker of the current release polls for them); otherwise 0.',
  in: ['worker'],
});

export const relayShards = new Gauge({
  name: 'hookyard_outbox_shards',
  help: 'Outbox shards that this relay owns, out of 64.',
  in: ['worker'],
});

export const relayInFlight = new Gauge({
  name: 'hookyard_relay_in_flight',
  help: 'Deliveries that this relay has started and whose first result has not been recorded yet.',
  in: ['worker'],
});

export const workflowTurnsAwaited = new Gauge({
  name: 'hookyard_workflow_turns_awaited',
  help: 'Deliveries that wait in this worker until their organization may start or signal another workflow.',
  in: ['worker'],
});

export const laneChanges = new Counter({
  name: 'hookyard_lane_changes_total',
  help: 'Changes of the lane that this worker uses for adaptive deliveries.',
  labels: { to: LANES },
  in: ['worker'],
});

export const leftToRelay = new Counter({
  name: 'hookyard_left_to_relay_total',
  help: 'First attempts that the relay made although their lane assigns them to a workflow, by reason.',
  labels: { reason: REASONS_FOR_RELAY },
  in: ['worker'],
});

export const concurrencyLimit = new Gauge({
  name: 'hookyard_concurrency_limit',
  help: "Minimum, median and maximum of this worker's limits on concurrent attempts per destination.",
  labels: { stat: ['min', 'median', 'max'] },
  in: ['worker'],
});

export const concurrencyDestinations = new Gauge({
  name: 'hookyard_concurrency_destinations',
  help: 'Number of destinations that hookyard_concurrency_limit includes: those used in the last minute.',
  in: ['worker'],
});

export const circuitTransitions = new Counter({
  name: 'hookyard_circuit_transitions_total',
  help: 'State changes of circuit breakers.',
  labels: { to: CIRCUIT_STATES },
});
