// Backpressure of ingest: webhooks are refused while the backlog is too large, or the database is too large. Requests only check
// memory: what was read from PostgreSQL a moment ago, and what this process has let in since.
import { type Admission, ALL_OPEN, admit, mayBeFullFrom, type Waiting } from '../../core/backlog-limit.ts';
import type { Settings } from '../../core/config.ts';
import { leftFor } from '../../core/fair-share.ts';
import type { Limits } from '../../core/limits.ts';
import type { Log } from '../../core/log.ts';
import { causeOf } from '../../core/log-cause.ts';
import { GATE_STATES, ingestGate } from '../../core/metrics/ingest.ts';
import { backlogBounds, countWaiting, databaseBytes } from '../../db/delivery/backlog.ts';
import type { NewDelivery } from '../../db/hot-path/store-events.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { ApiError } from '../errors.ts';
import { limitExceeded } from '../limits.ts';
import { type AdaptivePoll, startAdaptivePoll } from './adaptive-poll.ts';
import { tellBacklog, tellDatabase } from './backlog-log.ts';
import { LetIn } from './let-in.ts';
import type { Place } from './organization-use.ts';

// About how long it takes until a poll finds free capacity.
const RETRY_AFTER_SECONDS = 10;
// Ingest reopens when the database falls below this part of its limit; it shrinks by whole days (retention).
const DATABASE_REOPENS_AT = 0.98;

/** `partly_full`: webhooks of some organizations, or to some destinations, are refused, because their backlog is too large. */
export type DoorState = (typeof GATE_STATES)[number];

export interface BacklogDeps {
  pool: Pool;
  settings: Pick<Settings, 'HOOKYARD_MAX_BACKLOG' | 'HOOKYARD_MAX_DATABASE_BYTES'>;
  log: Log;
}

/** An organization that sends a webhook, with the limits in force. */
interface Sender {
  organizationId: string;
  limits: Pick<Limits, 'waitingDeliveries'>;
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
  #admission: Admission = ALL_OPEN;
  /** The last count. */
  #counted = { total: 0, organizations: new Map<string, number>(), alone: false };
  readonly #letIn = new LetIn();
  #databaseFull = false;
  #failing = false;
  #schedule: AdaptivePoll | undefined;

  constructor(deps: BacklogDeps) {
    this.#deps = deps;
  }

  async watch(): Promise<void> {
    ingestGate.readFrom(() => GATE_STATES.map((state) => [{ state }, state === this.state() ? 1 : 0]));
    this.#schedule = await startAdaptivePoll(() => this.#look());
  }

  /** @throws ApiError 503 when nothing is accepted */
  requireRoom(): void {
    if (this.#databaseFull) throw refused('The database is as large as it may be');
    if (this.#admission.full) throw refused('As many deliveries are waiting as may');
  }

  /**
   * Lets the deliveries of a webhook in, which are about to be stored.
   * @throws ApiError 503 when its organization has its share, or one goes to a destination that is full; 429 when the organization
   * is at its own limit
   */
  takeRoomFor({ organizationId, limits }: Sender, deliveries: NewDelivery[]): Place {
    const { fullOrganizations, fullDestinations, margin } = this.#admission;
    let count = 0;
    for (const { status, destinationId } of deliveries) {
      if (status !== 'pending') continue;
      if (fullDestinations.has(destinationId))
        throw refused(`Too many deliveries to the destination ${destinationId} are waiting`);
      count += 1;
    }
    if (count > 0) {
      const own = (this.#counted.organizations.get(organizationId) ?? 0) + this.#letIn.of(organizationId);
      this.#requireOwnLimit(own, limits.waitingDeliveries);
      if (fullOrganizations.has(organizationId) || !this.#hasShareLeft(own)) {
        this.#schedule?.hurry();
        throw refused('Too many deliveries of this organization are waiting');
      }
    }
    const place = this.#letIn.add(organizationId, count);
    // Something that is open may be full by now.
    if (this.#letIn.total >= margin) this.#schedule?.hurry();
    return place;
  }

  /** Whether there is only one organization. */
  get alone(): boolean {
    return this.#counted.alone;
  }

  state(): DoorState {
    const { full, fullOrganizations, fullDestinations } = this.#admission;
    if (this.#databaseFull || full) return 'full';
    return fullOrganizations.size + fullDestinations.size > 0 ? 'partly_full' : 'open';
  }

  /** Resolves when no query is running. */
  async close(): Promise<void> {
    await this.#schedule?.close();
  }

  #requireOwnLimit(own: number, limit: number): void {
    if (own < limit) return;
    this.#schedule?.hurry();
    const what = `${limit} deliveries of this organization may wait, and ${own} do; nothing was stored, send it again later`;
    throw limitExceeded('waitingDeliveries', what, RETRY_AFTER_SECONDS);
  }

  #hasShareLeft(own: number): boolean {
    const limit = this.#deps.settings.HOOKYARD_MAX_BACKLOG;
    const { total, alone } = this.#counted;
    return limit === 0 || alone || leftFor({ limit, taken: total + this.#letIn.total, alone }, own) > 0;
  }

  // Failure policy: while PostgreSQL does not answer, the last state stays valid; storing fails anyway then.
  async #look(): Promise<void> {
    const { settings, log } = this.#deps;
    this.#letIn.countBegins();
    let counted = false;
    try {
      const waiting = await this.#waiting();
      counted = true;
      this.#admit(waiting);
      if (settings.HOOKYARD_MAX_DATABASE_BYTES !== undefined)
        await this.#lookAtDatabase(settings.HOOKYARD_MAX_DATABASE_BYTES);
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) log.warn({ cause: causeOf(error) }, 'the backlog cannot be read; ingest stays as it is');
      this.#failing = true;
    } finally {
      this.#letIn.countEnds(counted);
    }
  }

  /** Counts only when somebody could be full; otherwise all that waits counts for nobody. */
  async #waiting(): Promise<Waiting> {
    const { pool, settings } = this.#deps;
    const { atMost, smallestLimit, alone } = await backlogBounds(pool);
    const limit = settings.HOOKYARD_MAX_BACKLOG || Number.POSITIVE_INFINITY;
    if (atMost >= Math.min(mayBeFullFrom(limit, alone), smallestLimit)) return { ...(await countWaiting(pool)), alone };
    return { total: atMost, organizations: [], destinations: [], alone };
  }

  #admit(waiting: Waiting): void {
    const { total, organizations, alone } = waiting;
    this.#counted = { total, organizations: new Map(organizations.map(({ id, waiting }) => [id, waiting])), alone };
    const limit = this.#deps.settings.HOOKYARD_MAX_BACKLOG;
    if (limit === 0) return;
    const before = this.#admission;
    this.#admission = admit(limit, waiting, before);
    tellBacklog(this.#deps.log, before, this.#admission, { limit, waiting: total });
  }

  async #lookAtDatabase(limit: number): Promise<void> {
    const bytes = await databaseBytes(this.#deps.pool);
    const wasFull = this.#databaseFull;
    this.#databaseFull = bytes >= (wasFull ? limit * DATABASE_REOPENS_AT : limit);
    tellDatabase(this.#deps.log, { wasFull, isFull: this.#databaseFull }, { bytes, limit });
  }
}

function refused(reason: string): ApiError {
  return new ApiError(503, 'UNAVAILABLE', `${reason}; nothing was stored, send it again later`, undefined, {
    'Retry-After': String(RETRY_AFTER_SECONDS),
  });
}
