// Backpressure: webhooks, and replays that the API is asked for, are refused while the backlog is too large, or the
// database is too large. Requests only check memory: what was read from PostgreSQL a moment ago, and what this process
// has let in since.
import {
  BacklogRoom,
  type NoRoom,
  type Sender,
  type Settle,
  type WaitingOf,
} from '../../core/fairness/backlog-room.ts';
import type { Log } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { GATE_STATES, ingestGate } from '../../core/metrics/ingest.ts';
import { adaptivePoll, type PollLoop } from '../../core/process/poll-loop.ts';
import { plural } from '../../core/text/words.ts';
import { type BacklogLimits, lookAtBacklog } from '../../db/organizations/backlog.ts';
import type { NewEvent } from '../../db/hot-path/store-events.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { ApiError, limitExceeded } from '../request/errors.ts';

// About how long it takes until a poll finds free capacity.
const RETRY_AFTER_SECONDS = 10;
const NOT_STORED = 'nothing was stored, so send the webhook again later';
const NOT_REPLAYED = 'nothing was replayed, so try again later';
/**
 * About what an event takes in the database besides its payload and its deliveries; bytes (docs/operate/scaling.md).
 */
const EVENT_BYTES = 1500;
const NAMED_IN_LOG = 10;
const LASTS_MS = 10_000;

// After so long without a webhook nothing is looked at, or rarely where something is full; the next webhook brings the
// next look.
const QUIET_AFTER_MS = 60_000;
const QUIET_LOOK_MS = 10_000;
// As long as a timer may be.
const UNTIL_USED_MS = 2 ** 31 - 1;

/**
 * `partly_full`: webhooks of some organizations, or to some destinations, are refused, because their backlog is too
 * large.
 */
export type DoorState = (typeof GATE_STATES)[number];

interface BacklogDeps {
  pool: Pool;
  settings: BacklogLimits;
  log: Log;
}

export class Backlog {
  readonly #deps: BacklogDeps;
  readonly #room: BacklogRoom;
  #failing = false;
  #told: DoorState = 'open';
  #betterSince = 0;
  #loop: PollLoop | undefined;
  #usedAt = performance.now();

  constructor(deps: BacklogDeps) {
    this.#deps = deps;
    this.#room = new BacklogRoom(deps.settings.HOOKYARD_MAX_BACKLOG);
  }

  /**
   * Starts to poll the backlog; resolves after the first poll, so that a process that starts with a full backlog
   * refuses webhooks from the start.
   */
  async watch(): Promise<void> {
    ingestGate.readFrom(() => GATE_STATES.map((state) => [{ state }, state === this.state() ? 1 : 0]));
    await this.#look();
    this.#loop = adaptivePoll(
      () => this.#look(),
      () => this.#idleMs(),
    );
  }

  /** @throws ApiError 503 when nothing is accepted */
  requireRoom(): void {
    this.#used();
    const noRoom = this.#room.fullForAll();
    if (noRoom !== null) throw refused(noRoom, NOT_STORED);
  }

  /** @throws ApiError 503 when nothing more of this organization is stored, whatever it is */
  requireShareOfDatabase(sender: Pick<Sender, 'organizationId'>): void {
    const noRoom = this.#room.databaseRefusal(sender);
    if (noRoom !== null) throw refused(noRoom, NOT_STORED);
  }

  /**
   * @throws ApiError 503 when its organization has its share, or a delivery goes to a destination that is full; 429
   * when the organization is at its own limit
   */
  takeRoomFor(sender: Sender, { body, deliveries }: Pick<NewEvent, 'body' | 'deliveries'>): Settle {
    const waiting = deliveries.filter(({ status }) => status === 'pending');
    const noRoom = this.#room.refusal(sender, waiting);
    if (noRoom !== null) throw refused(noRoom, NOT_STORED);
    return this.#room.add(sender.organizationId, waiting, EVENT_BYTES + body.length);
  }

  /**
   * Lets the deliveries of a replay in: all of these events, or none.
   * @throws ApiError as for a webhook, and 503 when nothing is accepted
   */
  takeRoomForReplay(sender: Sender, events: readonly WaitingOf[]): Settle {
    this.#used();
    const { noRoom } = this.#room.fitting(sender, events);
    if (noRoom !== null) throw refused(noRoom, NOT_REPLAYED);
    return this.#room.add(sender.organizationId, events.flat());
  }

  state(): DoorState {
    const { all, organizations, destinations } = this.#room.full;
    if (all) return 'full';
    return organizations.length + destinations.length > 0 ? 'partly_full' : 'open';
  }

  async close(): Promise<void> {
    await this.#loop?.stop();
  }

  #used(): void {
    const wasIdle = this.#idleMs() > 0;
    this.#usedAt = performance.now();
    if (wasIdle) this.#loop?.endPause();
  }

  #idleMs(): number {
    if (performance.now() - this.#usedAt < QUIET_AFTER_MS) return 0;
    const isClear = this.state() === 'open' && this.#room.backlog.counted.own.size === 0 && !this.#failing;
    return isClear ? UNTIL_USED_MS : QUIET_LOOK_MS;
  }

  // Failure policy: while PostgreSQL does not answer, the last state stays valid; storing fails anyway then.
  async #look(): Promise<void> {
    const { pool, settings, log } = this.#deps;
    try {
      await lookAtBacklog(pool, settings, this.#room);
      this.#tell(performance.now());
      this.#failing = false;
    } catch (error) {
      if (!this.#failing)
        log.warn({ cause: causeOf(error) }, 'failed to read the backlog; the ingest state stays the same');
      this.#failing = true;
    }
  }

  /** Near the limit the state may change with every look, so a better state is logged only when it lasts. */
  #tell(now: number): void {
    const state = this.state();
    const better = GATE_STATES.indexOf(this.#told) - GATE_STATES.indexOf(state);
    if (better <= 0) this.#betterSince = now;
    if (better === 0 || (better > 0 && now - this.#betterSince < LASTS_MS)) return;
    this.#told = state;
    const { organizations, destinations } = this.#room.full;
    const facts = {
      waiting: this.#room.backlog.counted.total,
      bytes: this.#room.database.counted.total,
      organizations: organizations.slice(0, NAMED_IN_LOG),
      destinations: destinations.slice(0, NAMED_IN_LOG),
    };
    if (state === 'full') this.#deps.log.error(facts, 'ingest returns 503: the backlog or the database is full');
    else if (state === 'open') this.#deps.log.info(facts, 'ingest accepts all webhooks again');
    else
      this.#deps.log.warn(
        facts,
        'ingest returns 503 for some organizations or destinations: their share of the backlog or the database is used up',
      );
  }
}

function refused(noRoom: NoRoom, consequence: string): ApiError {
  if (noRoom.full === 'waitingDeliveries') {
    const { most, waiting } = noRoom;
    const what = `This organization is limited to ${plural(most, 'waiting delivery')}, and ${plural(waiting, 'is', 'are')} waiting; ${consequence}`;
    return limitExceeded('waitingDeliveries', what, RETRY_AFTER_SECONDS);
  }
  return new ApiError(503, 'UNAVAILABLE', `${reasonOf(noRoom)}; ${consequence}`, undefined, {
    'Retry-After': String(RETRY_AFTER_SECONDS),
  });
}

function reasonOf(noRoom: Exclude<NoRoom, { full: 'waitingDeliveries' }>): string {
  if (noRoom.full === 'destination') return `The destination ${noRoom.destinationId} has too many waiting deliveries`;
  return {
    database: 'The database has reached its maximum size',
    'share of the database': 'This organization has used up its share of the database, and the database is nearly full',
    service: 'The service has reached its maximum number of waiting deliveries',
    organization: 'This organization has too many waiting deliveries',
  }[noRoom.full];
}
