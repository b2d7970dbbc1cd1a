// The activities as workflows see them. Ids and small facts only: what goes in and comes out stands in a history.
import type { ErrorSummary } from '../core/error-summary.ts';
import type { ReplayProgress } from '../core/event-replay.ts';

/** One attempt to make. */
export interface AttemptRequest {
  /** Absent in the express lane, and in what an earlier release has asked for. */
  organizationId?: string;
  deliveryId: string;
  eventId: string;
  /** 1 for the first. */
  attempt: number;
  /** The planned wait before the next attempt in ms; null when this is the last one. */
  retryDelay: number | null;
  /** The slot of the destination's rate limit that is reserved for this attempt, milliseconds since 1970. */
  slotAt?: number;
  /** Whether the caller can be told by `release` that its turn has come. */
  waitsForTurn?: boolean;
  /** Whether it was queued for its turn when it was last asked for. */
  queued?: boolean;
  /** Whether the caller knows the outcome `unrecorded`; workflows of earlier versions do not. */
  recordsLater?: boolean;
}

/** What an attempt led to; `closed`: the delivery was ended or deleted meanwhile, nothing was sent. */
export type AttemptOutcome =
  | { status: 'delivered' | 'closed'; statusCode: number | null; error: ErrorSummary | null }
  /** `parked` false: so many others wait in Temporal to be replayed that this one does not. */
  | { status: 'failed'; statusCode: number | null; error: ErrorSummary | null; parked?: boolean }
  | { status: 'retrying'; statusCode: number | null; error: ErrorSummary | null; waitMs: number }
  /** Not made: the circuit of its route keeps it; to be made when the signal `release` says so. */
  | { status: 'held' }
  /**
   * Not made: the destination's rate limit has no slot now. To be made in `waitMs`, in the slot that is reserved (if any);
   * `queued`: or as soon as the signal `release` says that its turn has come.
   */
  | { status: 'deferred'; waitMs: number; slotAt?: number; queued?: boolean }
  /** Ended here; `takenOverBy` is the delivery to the failover destination. */
  | { status: 'failed_over'; statusCode: number | null; error: ErrorSummary | null; takenOverBy: string | null }
  | UnrecordedAttempt;

/**
 * An attempt that was made and that the database did not take the result of. The destination has the event, so it is not made
 * again: `recordAttempt` records it when the database takes writes again. What was captured of it is not part of it.
 */
export interface UnrecordedAttempt {
  status: 'unrecorded';
  attempt: number;
  /** What becomes of the delivery, unless a failover destination takes over. */
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
}

/** An outcome that stands in the records. */
export type RecordedOutcome = Exclude<AttemptOutcome, { status: 'deferred' | 'held' | 'unrecorded' }>;

export interface RecordRequest {
  /** Absent in what an earlier release has asked for. */
  organizationId?: string;
  deliveryId: string;
  eventId: string;
  made: UnrecordedAttempt;
}

export interface DeliveryReference {
  organizationId: string;
  deliveryId: string;
}

export interface CircuitRequest {
  routeId: string;
  /** An operator has asked for a reset. */
  reset: boolean;
}

/** What a circuit is, and when its workflow looks again: in `waitMs`, or (null) when it hears of a change. */
export type CircuitAdvice =
  /** `held` is what is left to release; 0: done. */
  | { state: 'closed'; held: number; waitMs: 0 }
  | {
      state: 'open' | 'half_open';
      held: number;
      failureCount: number;
      probeSuccessCount: number;
      probeSuccessThreshold: number;
      probeDeliveryId: string | null;
      waitMs: number | null;
    };

/** How far a reconciliation is: which of its parts comes next, and where in it. */
export type ReconcilePosition =
  /** Workflows whose wake-up was lost. The name stands in histories. */
  | { part: 'sleepers' }
  /** Open deliveries after this id. */
  | { part: 'deliveries'; after: string }
  /** Running workflows from this page on; null: the first one, when it is time to go through them. */
  | { part: 'workflows'; page: string | null };

/** How many repairs were made, by kind. */
export type Repairs = Record<string, number>;

/** What one step of a reconciliation came to; `next` null: it is through. */
export interface ReconcileStep {
  next: ReconcilePosition | null;
  repairs: Repairs;
}

export interface Activities {
  /** Sends one attempt and records it; recorded attempts are not sent again. Throws when our own side is away. */
  attemptDelivery(request: AttemptRequest): Promise<AttemptOutcome>;
  /** Records an attempt that was made before, unless that was done. Throws as long as the database does not take it. */
  recordAttempt(request: RecordRequest): Promise<RecordedOutcome>;
  /** Brings a route's circuit as far as it can go now: half-open, probe, release. */
  advanceCircuit(request: CircuitRequest): Promise<CircuitAdvice>;
  /** Ends an open delivery as cancelled. */
  cancelDelivery(delivery: DeliveryReference): Promise<void>;
  /** Creates a new delivery of the same event; its id, or undefined when that is not possible any more. */
  replayDelivery(delivery: DeliveryReference): Promise<string | undefined>;
  /** One round of housekeeping: partitions, retention, deleted sources. True when there is more to do at once. */
  maintain(): Promise<boolean>;
  /** One step of comparing PostgreSQL with Temporal, repairs included. Throws when one of them is away. */
  reconcile(position: ReconcilePosition): Promise<ReconcileStep>;
}

/** Which notification: of a route, of a kind. */
export interface NotificationRequest {
  routeId: string;
  kind: 'failure' | 'recovery' | 'success';
}

/** What became of a notification; `count` is how many deliveries it told of. */
export interface NotificationOutcome {
  /** `logged`: no mail server is set. `unwanted`: the route is gone or does not want it. `nothing`: told already. */
  status: 'sent' | 'logged' | 'unwanted' | 'nothing';
  count: number;
}

/** Run by a worker of their own, so that a slow mail server never holds what deliveries need. */
export interface NotifyActivities {
  /** Sends what is due in one mail. Throws while the mail server is away; `MailRefused` when trying again is no use. */
  sendNotification(request: NotificationRequest): Promise<NotificationOutcome>;
  /** Gives up the mail that could not be sent. */
  dropNotification(request: NotificationRequest & { reason: string }): Promise<void>;
}

/** A replay of events chosen by a filter. */
export interface ReplayReference {
  organizationId: string;
  replayId: string;
}

/** Run by a worker of their own, so that replays never take places that deliveries need. */
export interface ReplayActivities {
  /**
   * Makes the page with this number unless it was made before. With fewer pages in the answer while the replay is
   * running, it goes on at the next call. Throws when our own side is away.
   */
  replayPage(page: ReplayReference & { page: number }): Promise<ReplayProgress>;
  /** Ends the replay as cancelled, unless it has ended. @returns how it ended */
  cancelReplay(replay: ReplayReference): Promise<ReplayProgress>;
}

/** A warehouse destination. */
export interface WarehouseReference {
  organizationId: string;
  destinationId: string;
}

export interface BatchReference extends WarehouseReference {
  batchId: string;
}

/** What is next for a warehouse destination. */
export type WarehouseAdvice =
  /** Nothing waits. */
  | { state: 'idle' }
  /** Deliveries wait (`waiting` of them, or more) until a file is full, or at most `waitMs`. */
  | { state: 'filling'; waiting: number; waitMs: number }
  /** A batch is to be uploaded. `waitingSince`: when its oldest delivery was made, ms since 1970. */
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

/** What came of an upload; `ended`: there was nothing to upload (any more), or the batch was halved: look again. */
export type UploadOutcome =
  | { status: 'uploaded' }
  | { status: 'ended' }
  /**
   * `soon`: it may succeed although nobody changes anything; `slowly`: somebody has to change something first; `never`: the
   * file itself cannot be written.
   */
  | { status: 'failed'; error: ErrorSummary; retry: 'soon' | 'slowly' | 'never' };

/** Run by a worker of their own, so that a slow store never holds what deliveries need. All of them may be repeated. */
export interface WarehouseActivities {
  /**
   * Looks what waits, and fixes the deliveries of the next batch when it is due. Throws when our own side is away.
   * `finishing`: the batch whose deliveries are being recorded meanwhile.
   */
  prepareBatch(warehouse: WarehouseReference & { finishing: string | null }): Promise<WarehouseAdvice>;
  /** Writes the object of a batch: the same one, with the same bytes, every time. Throws when our own side is away. */
  uploadBatch(batch: BatchReference): Promise<UploadOutcome>;
  /**
   * Records the end of a batch's deliveries. @returns false when there is more to record: call it again
   * Throws when our own side is away.
   */
  finishBatch(batch: BatchReference & { outcome: 'delivered' | 'failed' }): Promise<boolean>;
}
