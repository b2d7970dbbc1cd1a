// Backpressure of ingest: webhooks are refused while the backlog is too large, or the database is too large. Requests only check
// memory; the state in memory was read from PostgreSQL a moment ago.
import { type Admission, ALL_OPEN, admit } from '../../core/backlog-limit.ts';
import type { Settings } from '../../core/config.ts';
import type { Log } from '../../core/log.ts';
import { countWaiting, databaseBytes, waitingAtMost } from '../../db/delivery/backlog.ts';
import type { NewDelivery } from '../../db/hot-path/store-events.ts';
import type { Pool } from '../../db/pool.ts';
import { ApiError } from '../errors.ts';
import { type AdaptivePoll, startAdaptivePoll } from './adaptive-poll.ts';

// About how long it takes until a poll finds free capacity.
const RETRY_AFTER_SECONDS = '10';
// Ingest reopens when the database falls below this part of its limit; it shrinks by whole days (retention).
const DATABASE_REOPENS_AT = 0.98;
const NAMED_IN_LOG = 10;

/** `partly_full`: webhooks to destinations whose backlog is too large are refused. */
export type DoorState = 'open' | 'partly_full' | 'full';

export interface BacklogDeps {
  pool: Pool;
  settings: Pick<Settings, 'HOOKYARD_MAX_BACKLOG' | 'HOOKYARD_MAX_DATABASE_BYTES'>;
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
  #admission: Admission = ALL_OPEN;
  #databaseFull = false;
  /** Deliveries that this process has accepted since the last poll began. */
  #accepted = 0;
  #failing = false;
  #schedule: AdaptivePoll | undefined;

  constructor(deps: BacklogDeps) {
    this.#deps = deps;
  }

  async watch(): Promise<void> {
    const { HOOKYARD_MAX_BACKLOG, HOOKYARD_MAX_DATABASE_BYTES } = this.#deps.settings;
    if (HOOKYARD_MAX_BACKLOG === 0 && HOOKYARD_MAX_DATABASE_BYTES === undefined) return;
    this.#schedule = await startAdaptivePoll(() => this.#look());
  }

  /** @throws ApiError 503 when nothing is accepted */
  requireRoom(): void {
    if (this.#databaseFull) throw refused('The database is as large as it may be');
    if (this.#admission.full) throw refused('As many deliveries are waiting as may');
  }

  /** Counts deliveries that are about to be stored. @throws ApiError 503 when one goes to a destination that is full */
  requireRoomFor(deliveries: NewDelivery[]): void {
    const { fullDestinations, margin } = this.#admission;
    for (const { status, destinationId } of deliveries) {
      if (status !== 'pending') continue;
      if (fullDestinations.has(destinationId))
        throw refused(`Too many deliveries to the destination ${destinationId} are waiting`);
      this.#accepted += 1;
    }
    // An open destination may be full by now.
    if (this.#accepted >= margin) this.#schedule?.hurry();
  }

  state(): DoorState {
    if (this.#databaseFull || this.#admission.full) return 'full';
    return this.#admission.fullDestinations.size > 0 ? 'partly_full' : 'open';
  }

  /** Resolves when no query is running. */
  async close(): Promise<void> {
    await this.#schedule?.close();
  }

  // Failure policy: while PostgreSQL does not answer, the last state stays valid; storing fails anyway then.
  async #look(): Promise<void> {
    const { settings, log } = this.#deps;
    this.#accepted = 0;
    try {
      if (settings.HOOKYARD_MAX_BACKLOG > 0) await this.#lookAtBacklog(settings.HOOKYARD_MAX_BACKLOG);
      if (settings.HOOKYARD_MAX_DATABASE_BYTES !== undefined)
        await this.#lookAtDatabase(settings.HOOKYARD_MAX_DATABASE_BYTES);
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) log.warn({ error: String(error) }, 'the backlog cannot be read; ingest stays as it is');
      this.#failing = true;
    }
  }

  async #lookAtBacklog(limit: number): Promise<void> {
    const atMost = await waitingAtMost(this.#deps.pool);
    // While the backlog is below half of the limit, no destination can exceed the free capacity.
    const counted = atMost * 2 >= limit;
    const before = this.#admission;
    const waiting = counted
      ? await countWaiting(this.#deps.pool)
      : { total: atMost, destinations: [{ id: '', waiting: atMost }] };
    this.#admission = admit(limit, waiting, before);
    this.#tell(before, { limit, ...(counted && { waiting: waiting.total }) });
  }

  #tell(before: Admission, facts: object): void {
    const { log } = this.#deps;
    const { full, fullDestinations } = this.#admission;
    if (full && !before.full)
      log.error(facts, 'ingest answers 503: as many deliveries wait as may (HOOKYARD_MAX_BACKLOG)');
    if (!full && before.full) log.info(facts, 'ingest accepts webhooks again: the backlog has room');
    const closing = without(fullDestinations, before.fullDestinations);
    const opening = without(before.fullDestinations, fullDestinations);
    if (closing.length > 0)
      log.warn(
        { ...facts, ...named(closing) },
        'ingest answers 503 to what goes to these destinations: too much waits',
      );
    if (opening.length > 0)
      log.info({ ...facts, ...named(opening) }, 'ingest accepts webhooks for these destinations again');
  }

  async #lookAtDatabase(limit: number): Promise<void> {
    const bytes = await databaseBytes(this.#deps.pool);
    const wasFull = this.#databaseFull;
    this.#databaseFull = bytes >= (wasFull ? limit * DATABASE_REOPENS_AT : limit);
    const { log } = this.#deps;
    if (this.#databaseFull && !wasFull)
      log.error({ bytes, limit }, 'ingest answers 503: the database is full (HOOKYARD_MAX_DATABASE_BYTES)');
    if (!this.#databaseFull && wasFull)
      log.info({ bytes, limit }, 'ingest accepts webhooks again: the database has room');
  }
}

function without(all: ReadonlySet<string>, others: ReadonlySet<string>): string[] {
  return [...all].filter((id) => !others.has(id));
}

function named(destinations: string[]): { destinations: string[]; count: number } {
  return { destinations: destinations.slice(0, NAMED_IN_LOG), count: destinations.length };
}

function refused(reason: string): ApiError {
  return new ApiError(503, 'UNAVAILABLE', `${reason}; nothing was stored, send it again later`, undefined, {
    'Retry-After': RETRY_AFTER_SECONDS,
  });
}
