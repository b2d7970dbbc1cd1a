// The limits of organizations at ingest. Counts are kept in memory, and about once a second those of all processes are
// read from PostgreSQL (db/organizations/usage.ts), so a webhook costs no statement more. How exact that is:
// docs/guide/limits.md.
import { payloadDays, type Settings } from '../../core/config/config.ts';
import { type Limits, limitsOf } from '../../core/fairness/organization-limits.ts';
import type { Log } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { adaptivePoll, type PollLoop } from '../../core/process/poll-loop.ts';
import { loadUse, type Use } from '../../db/organizations/usage.ts';
import type { Pool } from '../../db/connections/pool.ts';
import type { SourceRouting } from './routing.ts';
import { TokenBucket } from '../../core/fairness/rate-limits.ts';
import { plural } from '../../core/text/words.ts';
import { type ApiError, limitExceeded, UNTIL_CHANGED_SECONDS } from '../request/errors.ts';

/** An organization that has sent nothing for so long is forgotten. */
const FORGOTTEN_AFTER_MS = 60_000;

export interface IngestLimitDeps {
  pool: Pool;
  settings: Pick<Settings, 'HOOKYARD_PAYLOAD_RETENTION_DAYS' | 'HOOKYARD_EVENT_RETENTION_DAYS'>;
  log: Log;
}

export class IngestLimits {
  readonly #deps: IngestLimitDeps;
  readonly #uses = new Map<string, OrganizationUse>();
  readonly #loading = new Map<string, Promise<OrganizationUse>>();
  #failing = false;
  readonly #loop: PollLoop;

  constructor(deps: IngestLimitDeps) {
    this.#deps = deps;
    this.#loop = adaptivePoll(() => this.#look());
  }

  /**
   * The use of a source's organization. One with a limit is read from PostgreSQL first, when it has sent nothing for a
   * minute.
   * @throws a database error
   */
  async of({ organizationId, configVersion, standing }: SourceRouting): Promise<OrganizationUse> {
    const known = this.#uses.get(organizationId);
    known?.learn(configVersion, standing.limits);
    const use = known ?? new OrganizationUse(organizationId, configVersion, standing.limits);
    if (!use.isKnown && isLimited(use.limits)) return this.#loadOnce(use);
    if (!known) this.#uses.set(organizationId, use);
    return use;
  }

  /** For a refusal by a copy of the limits: they may have been raised a moment ago. @throws a database error */
  async learnLimits(use: OrganizationUse): Promise<void> {
    for (const { plan, limits, configVersion } of await this.#load([use.organizationId])) {
      use.learn(configVersion, limitsOf(plan, limits));
    }
  }

  async close(): Promise<void> {
    await this.#loop.stop();
  }

  #loadOnce(use: OrganizationUse): Promise<OrganizationUse> {
    const { organizationId } = use;
    const running = this.#loading.get(organizationId);
    if (running !== undefined) return running;
    const { ownBytes } = use;
    const started = this.#load([organizationId])
      .then((rows) => {
        for (const row of rows) use.know(row, ownBytes);
        this.#uses.set(organizationId, use);
        return use;
      })
      .finally(() => this.#loading.delete(organizationId));
    this.#loading.set(organizationId, started);
    return started;
  }

  #load(organizationIds: string[]) {
    return loadUse(this.#deps.pool, organizationIds, payloadDays(this.#deps.settings));
  }

  // Failure policy: while PostgreSQL does not answer, the last counts stay valid; storing fails anyway then.
  async #look(): Promise<void> {
    this.#forget();
    try {
      // Of an organization without a limit, a new limit is noticed when the next webhook is stored.
      const limited = [...this.#uses.values()].filter((use) => isLimited(use.limits));
      if (limited.length > 0) {
        const ownBytes = new Map(limited.map((use) => [use.organizationId, use.ownBytes]));
        for (const row of await this.#load([...ownBytes.keys()]))
          this.#uses.get(row.organizationId)?.know(row, ownBytes.get(row.organizationId) ?? 0);
      }
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) this.#deps.log.warn({ cause: causeOf(error) }, 'failed to read organization usage');
      this.#failing = true;
    }
  }

  #forget(): void {
    const before = performance.now() - FORGOTTEN_AFTER_MS;
    for (const [id, use] of this.#uses) if (use.isIdle && use.usedAt < before) this.#uses.delete(id);
  }
}

/** Whether a limit needs counts, or refuses before a webhook is stored. */
function isLimited({ eventsPerSecond, eventsPerMonth, storedBytes, payloadBytes, waitingDeliveries }: Limits): boolean {
  return [eventsPerSecond, eventsPerMonth, storedBytes, payloadBytes, waitingDeliveries].some(Number.isFinite);
}

/** What became of a webhook; null: nothing. */
export type Ended = 'stored' | 'duplicate' | null;

interface Count {
  events: number;
  bytes: number;
}

/**
 * What one organization has used of its limits: what PostgreSQL has counted of all processes, and what this one has
 * accepted since.
 */
export class OrganizationUse {
  readonly organizationId: string;
  #limits: Limits;
  #configVersion: number;
  readonly #bucket: TokenBucket;
  readonly #stored: Count = { events: 0, bytes: 0 };
  readonly #underWay: Count = { events: 0, bytes: 0 };
  /** The month that PostgreSQL was asked about last, as 2026-11; null before that. */
  #month: string | null = null;
  /** Of `stored`, what came before `month` was first asked about: PostgreSQL has counted it. */
  #before = 0;
  /** Events of the month that are not `stored` since `before`: of other processes, and what is older. It only grows. */
  #others = 0;
  /** What is stored, and how many bytes this process had stored before it asked. */
  #known = { storedBytes: 0, ownBytes: 0 };
  /** Of the last request, by the monotonic clock. */
  usedAt = performance.now();

  constructor(organizationId: string, configVersion: number, limits: Limits) {
    this.organizationId = organizationId;
    this.#configVersion = configVersion;
    this.#limits = limits;
    this.#bucket = new TokenBucket(limits.eventsPerSecond, performance.now());
  }

  get limits(): Limits {
    return this.#limits;
  }

  get isKnown(): boolean {
    return this.#month !== null;
  }

  get isIdle(): boolean {
    return this.#underWay.events === 0;
  }

  learn(configVersion: number, limits: Limits): void {
    if (configVersion <= this.#configVersion) return;
    this.#configVersion = configVersion;
    this.#limits = limits;
    this.#bucket.limit(limits.eventsPerSecond, performance.now());
  }

  /** How many bytes this process has stored: to be read before PostgreSQL is asked. */
  get ownBytes(): number {
    return this.#stored.bytes;
  }

  /**
   * Takes over what PostgreSQL has counted. It may lack, or have already, what this process stored while it was asked:
   * so of the events only what must be of others counts, which is exact while there are none; and such bytes count
   * twice until the next time.
   */
  know(use: Use, ownBytes: number): void {
    this.learn(use.configVersion, limitsOf(use.plan, use.limits));
    this.#known = { storedBytes: use.storedBytes, ownBytes };
    const month = use.today.slice(0, '2026-11'.length);
    if (month !== this.#month) {
      this.#month = month;
      this.#before = this.#stored.events;
      this.#others = Math.max(0, use.monthEvents - this.#underWay.events);
      return;
    }
    const more = use.monthEvents - this.#monthEvents;
    if (more <= 0) return;
    this.#others += more;
    this.#bucket.drain(more, performance.now());
  }

  get #monthEvents(): number {
    return this.#others + this.#stored.events - this.#before + this.#underWay.events;
  }

  /** Whether one more webhook may be stored; counts nothing. @param bytes known of its payload @throws ApiError 429 */
  requireRoom(bytes: number): void {
    this.usedAt = performance.now();
    const refusal = this.#refusal(bytes);
    if (refusal) throw refusal;
  }

  /** Counts a webhook that is about to be stored. @returns to be told what became of it @throws ApiError 429 */
  take(bytes: number): (ended: Ended) => void {
    this.requireRoom(bytes);
    this.#bucket.take(this.usedAt);
    this.#underWay.events += 1;
    this.#underWay.bytes += bytes;
    return (ended) => {
      this.#underWay.events -= 1;
      this.#underWay.bytes -= bytes;
      if (ended === null) this.#bucket.giveBack();
      if (ended !== 'stored') return;
      this.#stored.events += 1;
      this.#stored.bytes += bytes;
    };
  }

  #refusal(bytes: number): ApiError | null {
    const { eventsPerSecond, eventsPerMonth, storedBytes } = this.#limits;
    if (!this.#bucket.has(this.usedAt)) {
      const what = `This organization is limited to ${plural(eventsPerSecond, 'webhook')} per second; nothing was stored, so send the webhook again`;
      return limitExceeded('eventsPerSecond', what, this.#bucket.waitMs(this.usedAt) / 1000);
    }
    if (Number.isFinite(eventsPerMonth) && this.#monthEvents >= eventsPerMonth) {
      const what = `This organization has used up its quota of ${plural(eventsPerMonth, 'event')} for this month; nothing was stored`;
      return limitExceeded('eventsPerMonth', what, secondsLeftInMonth());
    }
    const stored = this.#known.storedBytes + this.#stored.bytes - this.#known.ownBytes + this.#underWay.bytes;
    if (Number.isFinite(storedBytes) && stored + bytes > storedBytes) {
      const what = `This organization is limited to ${storedBytes} bytes of stored payloads, which this webhook would exceed; nothing was stored`;
      return limitExceeded('storedBytes', what, UNTIL_CHANGED_SECONDS);
    }
    return null;
  }
}

function secondsLeftInMonth(): number {
  const now = new Date();
  return (Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) - now.getTime()) / 1000;
}
