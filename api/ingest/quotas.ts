// The limits of organizations at ingest. Counts are kept in memory, and about once a second those of all processes are read from
// PostgreSQL (db/organizations/usage.ts), so a webhook costs no statement more. How exact that is: docs/quotas.md.
import type { Settings } from '../../core/config/config.ts';
import { type Limits, limitsOf } from '../../core/fairness/limits.ts';
import type { Log } from '../../core/process/log.ts';
import { causeOf } from '../../core/process/log-cause.ts';
import { payloadDays } from '../../core/config/payload-days.ts';
import type { PollLoop } from '../../core/process/poll-loop.ts';
import { loadUse } from '../../db/organizations/usage.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { adaptivePoll } from './adaptive-poll.ts';
import { OrganizationUse } from './organization-use.ts';
import type { SourceRouting } from './routing.ts';

/** An organization that has sent nothing for so long is forgotten. */
const FORGOTTEN_AFTER_MS = 60_000;

export interface QuotaDeps {
  pool: Pool;
  settings: Pick<Settings, 'HOOKYARD_PAYLOAD_RETENTION_DAYS' | 'HOOKYARD_EVENT_RETENTION_DAYS'>;
  log: Log;
}

/** Starts to keep the counts. */
export async function watchQuotas(deps: QuotaDeps): Promise<Quotas> {
  const quotas = new Quotas(deps);
  quotas.watch();
  return Promise.resolve(quotas);
}

export class Quotas {
  readonly #deps: QuotaDeps;
  readonly #uses = new Map<string, OrganizationUse>();
  readonly #loading = new Map<string, Promise<OrganizationUse>>();
  #failing = false;
  #loop: PollLoop | undefined;

  constructor(deps: QuotaDeps) {
    this.#deps = deps;
  }

  watch(): void {
    this.#loop = adaptivePoll(() => this.#look());
  }

  /**
   * The use of a source's organization. One with a limit is read from PostgreSQL first, when it has sent nothing for a minute.
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
    await this.#loop?.stop();
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
      if (!this.#failing) this.#deps.log.warn({ cause: causeOf(error) }, 'the use of organizations cannot be read');
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
