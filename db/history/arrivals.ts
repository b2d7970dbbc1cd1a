// Events in the order in which they arrive. Ids are in the order of receipt, but what is received first may be stored second, so each
// look begins a little before the latest event that was seen.
import { idTime } from '../../core/text/ids.ts';
import type { Pool } from '../connections/pool.ts';
import { type EventFilter, type EventRecord, listEvents } from './events.ts';

/** How much later than others an event may be stored and still be found, ms. Storing takes milliseconds. */
export const OVERLAP_MS = 5000;
const PAGE = 100;
/** Pages of one look. */
const MOST_PAGES = 10;

/** What one look found, oldest first. */
export interface Arrived {
  events: EventRecord[];
  /** More arrived than one look reads: the oldest of it was left out. */
  isCut: boolean;
}

export class Arrivals {
  readonly #pool: Pool;
  readonly #organizationId: string;
  readonly #filter: Pick<EventFilter, 'sourceId' | 'routed'>;
  readonly #fromMs: number;
  #latestMs: number;
  readonly #seen = new Map<string, number>();

  /** @param fromMs what was received from then on, ms since 1970 */
  constructor(pool: Pool, organizationId: string, filter: Pick<EventFilter, 'sourceId' | 'routed'>, fromMs: number) {
    this.#pool = pool;
    this.#organizationId = organizationId;
    this.#filter = filter;
    this.#fromMs = fromMs;
    this.#latestMs = fromMs;
  }

  /** What arrived since the last look, at most 1,000 events. @throws while the database is away */
  async next(): Promise<Arrived> {
    const from = new Date(Math.max(this.#fromMs, this.#latestMs - OVERLAP_MS));
    const fresh: EventRecord[] = [];
    let after: string | null = null;
    for (let pages = 0; pages < MOST_PAGES; pages += 1) {
      const part = { limit: PAGE, after, withTotal: false };
      const { events, next } = await listEvents(this.#pool, this.#organizationId, { ...this.#filter, from }, part);
      fresh.push(...events.filter(({ id }) => !this.#seen.has(id)));
      after = next;
      if (after === null) break;
    }
    for (const { id } of fresh) this.#seen.set(id, idTime(id));
    this.#latestMs = Math.max(this.#latestMs, ...fresh.map(({ id }) => idTime(id)));
    for (const [id, ms] of this.#seen) if (ms < this.#latestMs - OVERLAP_MS) this.#seen.delete(id);
    return { events: fresh.toReversed(), isCut: after !== null };
  }
}
