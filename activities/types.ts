// The activities as workflows see them. Only ids and small values: inputs and results are stored in workflow histories.

import type { ReplayProgress } from '../core/delivery/event-replay.ts';
import type { ErrorSummary } from '../core/text/error-summary.ts';

export interface AttemptRequest {
  organizationId: string;
  deliveryId: string;
  eventId: string;
  /** 1 for the first. */
  attempt: number;
  /** The planned wait before the next attempt in ms; null when this is the last one. */
  retryDelay: number | null;
  /** The slot of the destination's rate limit that is reserved for this attempt, milliseconds since 1970. */
  slotAt?: number;
  queued?: boolean;
  /**
   * Whether its circuit, or the end of a pause, has just resumed it by a signal, which was sent in its organization's
   * turn.
   */
  released?: boolean;
}

/** The outcome of an attempt; `closed`: the delivery was ended or deleted meanwhile, nothing was sent. */
export type AttemptOutcome =
  | { status: 'delivered' | 'closed'; statusCode: number | null; error: ErrorSummary | null }
  /** `parked` false: the limit of deliveries that wait for a replay is reached, so this one does not wait. */
  | { status: 'failed'; statusCode: number | null; error: ErrorSummary | null; parked?: boolean }
  | { status: 'retrying'; statusCode: number | null; error: ErrorSummary | null; waitMs: number }
  /** Not made: the circuit of its route holds it until the signal `release`, or a pause of what `pausedBy` names. */
  | { status: 'held'; pausedBy?: 'route' | 'destination' }
  /**
   * Not made: the destination's rate limit has no slot now. Make it in `waitMs`, in the reserved slot (if any);
   * `queued`: or as soon as the signal `release` says that its turn has come. `for`: something else is waited for: room
   * for the transforms, or for the attempts or the large payloads (`slots`), of its organization; a slot at the
   * destination; the end of the organization's suspension (`resumption`); or whether the failures that are being
   * recorded open the circuit.
   */
  | {
      status: 'deferred';
      waitMs: number;
      slotAt?: number;
      queued?: boolean;
      for?: 'transforms' | 'resumption' | 'slots' | 'destination' | 'circuit';
    }
  | { status: 'failed_over'; statusCode: number | null; error: ErrorSummary | null; takenOverBy: string | null }
  | UnrecordedAttempt;

/**
 * An attempt whose result the database did not store. The destination has the event, so the attempt is not repeated:
 * `recordAttempt` records it once the database accepts writes. Captured headers and bodies are not included.
 */
export interface UnrecordedAttempt {
  status: 'unrecorded';
  attempt: number;
  /** The delivery's next status, unless a failover destination takes over. */
  deliveryStatus: 'delivered' | 'failed' | 'retrying';
  statusCode: number | null;
  error: ErrorSummary | null;
  /** ms */
  latency: number;
  /** ISO 8601 */
  startedAt: string;
  completedAt: string;
  /** With `retrying`: until the next attempt, ms. */
  waitMs: number | null;
  /** With `failed`: how long the delivery blocks its ordering key; absent: not at all. */
  holdSeconds?: number;
}

export type RecordedOutcome = Exclude<AttemptOutcome, { status: 'deferred' | 'held' | 'unrecorded' }>;

export interface RecordRequest {
  organizationId: string;
  deliveryId: string;
  eventId: string;
  made: UnrecordedAttempt;
}

export interface DeliveryReference {
  organizationId: string;
  deliveryId: string;
}

export interface CircuitRequest {
  organizationId: string;
  routeId: string;
  reset: boolean;
}

/** The state of a circuit, and when its workflow checks again: in `waitMs`, or (null) at the next signal. */
export type CircuitAdvice =
  /**
   * `held` is what is left to resume; 0: done. It waits only while the organization is suspended; or while the route
   * or destination is `paused`, whatever the state of the circuit: until then (ISO 8601), or null, until somebody
   * resumes it.
   */
  | { state: 'closed'; held: number; waitMs: number; suspended?: true; paused?: { until: string | null } }
  | {
      state: 'open' | 'half_open';
      held: number;
      failureCount: number;
      probeSuccessCount: number;
      probeSuccessThreshold: number;
      probeDeliveryId: string | null;
      waitMs: number | null;
      suspended?: true;
    };

/** The progress of a reconciliation: its next part, and the position in it. */
export type ReconcilePosition =
  | { part: 'wake-ups' }
  /** Open deliveries after this id. */
  | { part: 'deliveries'; after: string }
  /** Running workflows from this page on; null: from the first one, if a full listing is due. */
  | { part: 'workflows'; page: string | null };

export type Repairs = Record<string, number>;

/** Result of one step of a reconciliation; `next` null: finished. */
export interface ReconcileStep {
  next: ReconcilePosition | null;
  repairs: Repairs;
}

export interface Activities {
  /**
   * Sends one attempt and records it; recorded attempts are not sent again. Throws when our own infrastructure is
   * unavailable.
   */
  attemptDelivery(request: AttemptRequest): Promise<AttemptOutcome>;
  /**
   * Records an attempt that was made before, unless it is recorded already. Throws while the database does not store
   * it.
   */
  recordAttempt(request: RecordRequest): Promise<RecordedOutcome>;
  advanceCircuit(request: CircuitRequest): Promise<CircuitAdvice>;
  cancelDelivery(delivery: DeliveryReference): Promise<void>;
  /** Creates a new delivery of the same event; its id, or undefined when that is no longer possible. */
  replayDelivery(delivery: DeliveryReference): Promise<string | undefined>;
  /** One round of housekeeping: partitions, retention, deleted sources. True when there is more to do at once. */
  maintain(): Promise<boolean>;
  /** One step of comparing PostgreSQL with Temporal, repairs included. Throws when one of them is unreachable. */
  reconcile(position: ReconcilePosition): Promise<ReconcileStep>;
}

export interface MessageRequest {
  organizationId: string;
  messageId: string;
  to: 'channel' | 'route';
  via: 'mail' | 'http';
}

/**
 * The result of a message. `logged`: no mail server is set. `withheld`: no address of the route may be sent mails.
 * `unwanted`: the channel is disabled, the route does not notify of this any more, or what it was about is gone.
 * `nothing`: it has ended already.
 */
export interface MessageOutcome {
  status: 'sent' | 'logged' | 'withheld' | 'unwanted' | 'nothing';
}

/**
 * Run by separate workers with few slots, so that slow receivers hold up neither deliveries nor, without mail, mails.
 */
export interface MessageActivities {
  /** Sends a message. Throws while its receiver is away; not retryable when a retry is useless. */
  sendMessage(request: MessageRequest): Promise<MessageOutcome>;
  /** Gives up a message that could not be sent: its channel is marked, and another one notified. */
  giveUpMessage(request: MessageRequest & { reason: string }): Promise<void>;
}

export interface ReplayReference {
  organizationId: string;
  replayId: string;
}

/** Run by a separate worker, so that replays never take slots that deliveries need. */
export interface ReplayActivities {
  /**
   * Creates the page with this number unless it exists. If the answer has fewer pages and the replay is running, call
   * again. Throws when our own infrastructure is unavailable.
   */
  replayPage(page: ReplayReference & { page: number }): Promise<ReplayProgress>;
  /** Ends the replay as cancelled, unless it has ended. @returns how it ended */
  cancelReplay(replay: ReplayReference): Promise<ReplayProgress>;
}

export interface WarehouseReference {
  organizationId: string;
  destinationId: string;
}

export interface BatchReference extends WarehouseReference {
  batchId: string;
}

export type WarehouseAdvice =
  | { state: 'idle' }
  /** Deliveries wait (`waiting` of them, or more) until a file is full, or for at most `waitMs`. */
  | { state: 'filling'; waiting: number; waitMs: number }
  /** The organization is suspended: nothing is written. Look again in `waitMs`. */
  | { state: 'suspended'; waitMs: number }
  /** A batch is to be uploaded. `waitingSince`: since when its oldest delivery has waited, ms since 1970. */
  | {
      state: 'frozen';
      batchId: string;
      events: number;
      bytes: number;
      attempts: number;
      waitingSince: number;
      error: ErrorSummary | null;
    }
  /** A batch was uploaded, and its deliveries are to be recorded as delivered. */
  | { state: 'uploaded'; batchId: string; events: number };

export type UploadOutcome =
  | { status: 'uploaded' }
  | { status: 'ended' }
  /**
   * `soon`: a retry may succeed by itself; `slowly`: somebody has to fix something first; `never`: the file itself
   * cannot be written.
   */
  | { status: 'failed'; error: ErrorSummary; retry: 'soon' | 'slowly' | 'never' };

/** Why no further file is written. */
export type WritingOutcome =
  | Extract<WarehouseAdvice, { state: 'idle' | 'filling' | 'suspended' }>
  /** A batch could not be uploaded. */
  | {
      state: 'refused';
      batch: Extract<WarehouseAdvice, { state: 'frozen' }>;
      upload: Extract<UploadOutcome, { status: 'failed' }>;
    }
  | { state: 'more' };

/**
 * Run by a separate worker, so that a slow store never takes resources that deliveries need. All of them are
 * idempotent.
 */
export interface WarehouseActivities {
  /**
   * Freezes and uploads what is due, file by file, and records its deliveries, for some seconds at most. Throws when
   * our own infrastructure is unavailable.
   */
  writeFiles(warehouse: WarehouseReference): Promise<WritingOutcome>;
  /**
   * Records the deliveries of a batch that is given up. Throws when our own infrastructure is unavailable.
   * @returns false when there is more to record: call it again
   */
  finishBatch(batch: BatchReference & { outcome: 'failed' }): Promise<boolean>;
}
