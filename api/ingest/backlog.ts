// Backpressure: webhooks, and replays that the API is asked for, are refused while the backlog is too large, or the database is too
// large. Requests only check memory: what was read from PostgreSQL a moment ago, and what this process has let in since.
import { BacklogRoom, type NoRoom, type Sender, type WaitingOf } from '../../core/backlog-room.ts';
import type { Reservation } from '../../core/reservations.ts';
import type { Log } from '../../core/log.ts';
import { causeOf } from '../../core/log-cause.ts';
import { GATE_STATES, ingestGate } from '../../core/metrics/ingest.ts';
import { type BacklogLimits, lookAtBacklog } from '../../db/delivery/backlog.ts';
import type { NewEvent } from '../../db/hot-path/store-events.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { ApiError } from '../errors.ts';
import { limitExceeded } from '../limits.ts';
import { type AdaptivePoll, startAdaptivePoll } from './adaptive-poll.ts';
import { tellBacklog, tellDatabase, tellNoLimit } from './backlog-log.ts';

// About how long it takes until a poll finds free capacity.
const RETRY_AFTER_SECONDS = 10;
const NOT_STORED = 'nothing was stored, send it again later';
const NOT_REPLAYED = 'nothing was replayed, ask again later';
/** About what an event takes in the database besides its payload and its deliveries; bytes (docs/disk.md). */
const EVENT_BYTES = 1500;

/** `partly_full`: webhooks of some organizations, or to some destinations, are refused, because their backlog is too large. */
export type DoorState = (typeof GATE_STATES)[number];

export interface BacklogDeps {
  pool: Pool;
  settings: BacklogLimits;
  log: Log;
}

/**
 * Starts to poll the backlog; resolves after the first poll, so that a process that starts with a full backlog refuses webhooks
 * from the start.
 */
export async function watchBacklog(deps: BacklogDeps): Promise<Backlog> {
  const backlog = new Backlog(deps);
  await backlog.watch();
  return backlog;
}

export class Backlog {
  readonly #deps: BacklogDeps;
  readonly #room: BacklogRoom;
  #failing = false;
  #isUnlimitedTold = false;
  #schedule: AdaptivePoll | undefined;

  constructor(deps: BacklogDeps) {
    this.#deps = deps;
    this.#room = new BacklogRoom(deps.settings.HOOKYARD_MAX_BACKLOG);
  }

  async watch(): Promise<void> {
    ingestGate.readFrom(() => GATE_STATES.map((state) => [{ state }, state === this.state() ? 1 : 0]));
    this.#schedule = await startAdaptivePoll(() => this.#look());
  }

  /** @throws ApiError 503 when nothing is accepted */
  requireRoom(): void {
    const noRoom = this.#room.fullForAll();
    if (noRoom !== null) throw refused(noRoom, NOT_STORED);
  }

  /** @throws ApiError 503 when nothing more of this organization is stored, whatever it is */
  requireShareOfDatabase(sender: Pick<Sender, 'organizationId'>): void {
    const noRoom = this.#room.databaseRefusal(sender);
    if (noRoom !== null) throw this.#refusal(noRoom, NOT_STORED);
  }

  /**
   * Lets a webhook in, which is about to be stored.
   * @throws ApiError 503 when its organization has its share, or a delivery goes to a destination that is full; 429 when the
   * organization is at its own limit
   */
  takeRoomFor(sender: Sender, { body, deliveries }: Pick<NewEvent, 'body' | 'deliveries'>): Reservation {
    const waiting = deliveries.filter(({ status }) => status === 'pending');
    const noRoom = this.#room.refusal(sender, waiting);
    if (noRoom !== null) throw this.#refusal(noRoom, NOT_STORED);
    return this.#add(sender, waiting.length, EVENT_BYTES + body.length);
  }

  /**
   * Lets the deliveries of a replay in: all of these events, or none.
   * @throws ApiError as for a webhook, and 503 when nothing is accepted
   */
  takeRoomForReplay(sender: Sender, events: readonly WaitingOf[]): Reservation {
    const { noRoom } = this.#room.fitting(sender, events);
    if (noRoom !== null) throw this.#refusal(noRoom, NOT_REPLAYED);
    return this.#add(
      sender,
      events.reduce((sum, event) => sum + event.length, 0),
    );
  }

  /** Whether there is only one organization. */
  get alone(): boolean {
    return this.#room.alone;
  }

  state(): DoorState {
    const { admission, database } = this.#room;
    if (this.#room.fullForAll() !== null) return 'full';
    const full = [admission.fullOrganizations, admission.fullDestinations, database.fullOrganizations];
    return full.some(({ size }) => size > 0) ? 'partly_full' : 'open';
  }

  /** Resolves when no query is running. */
  async close(): Promise<void> {
    await this.#schedule?.close();
  }

  #add({ organizationId }: Sender, deliveries: number, bytes = 0): Reservation {
    const place = this.#room.add(organizationId, deliveries, bytes);
    if (this.#room.mayBeFull) this.#schedule?.hurry();
    return place;
  }

  /** What refuses an organization by what this process has let in may be gone: the next count tells. */
  #refusal(noRoom: NoRoom, consequence: string): ApiError {
    if (noRoom.full === 'waitingDeliveries' || noRoom.full === 'organization') this.#schedule?.hurry();
    return refused(noRoom, consequence);
  }

  // Failure policy: while PostgreSQL does not answer, the last state stays valid; storing fails anyway then.
  async #look(): Promise<void> {
    const { pool, settings, log } = this.#deps;
    const { database } = this.#room;
    const before = { admission: this.#room.admission, isFull: database.isFull, fullOf: database.fullOrganizations };
    try {
      const { waiting, databaseBytes, alone } = await lookAtBacklog(pool, settings, this.#room);
      tellBacklog(log, before.admission, this.#room.admission, { limit: settings.HOOKYARD_MAX_BACKLOG, waiting });
      const limit = settings.HOOKYARD_MAX_DATABASE_BYTES;
      const now = { isFull: database.isFull, fullOf: database.fullOrganizations };
      if (limit !== undefined) tellDatabase(log, before, now, { bytes: databaseBytes ?? 0, limit });
      else if (!alone && !this.#isUnlimitedTold) {
        tellNoLimit(log);
        this.#isUnlimitedTold = true;
      }
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) log.warn({ cause: causeOf(error) }, 'the backlog cannot be read; ingest stays as it is');
      this.#failing = true;
    }
  }
}

function refused(noRoom: NoRoom, consequence: string): ApiError {
  if (noRoom.full === 'waitingDeliveries') {
    const { most, waiting } = noRoom;
    const what = `${most} deliveries of this organization may wait, and ${waiting} do; ${consequence}`;
    return limitExceeded('waitingDeliveries', what, RETRY_AFTER_SECONDS);
  }
  return new ApiError(503, 'UNAVAILABLE', `${reasonOf(noRoom)}; ${consequence}`, undefined, {
    'Retry-After': String(RETRY_AFTER_SECONDS),
  });
}

function reasonOf(noRoom: Exclude<NoRoom, { full: 'waitingDeliveries' }>): string {
  if (noRoom.full === 'destination')
    return `Too many deliveries to the destination ${noRoom.destinationId} are waiting`;
  return {
    database: 'The database is as large as it may be',
    'share of the database': 'This organization holds its share of the database, which is nearly full',
    service: 'As many deliveries are waiting as may',
    organization: 'Too many deliveries of this organization are waiting',
  }[noRoom.full];
}
