// Refused requests in the log: one line a second with their number, because a flood of requests must not be one of lines.
import type { Log } from '../../core/process/log.ts';

const EVERY_MS = 1000;
// Of each list in a line; what is beyond has one entry together. The codes are our own, and the organizations and sources exist, so
// no stranger chooses what is written.
const MOST_LISTED = 20;
const OTHERS = 'others';

export interface Refusal {
  status: number;
  /** Of the error: `RATE_LIMITED`. */
  code: string;
  requestId: string;
  client: string;
  organizationId?: string | undefined;
  /** Only of a source that exists. */
  sourceId?: string | undefined;
}

interface Cause {
  status: number;
  code: string;
  count: number;
  /** One of them, the last. */
  requestId: string;
  client: string;
}

// Strangers and floods decide how many there are. Other refusals are of somebody with a key, whose requests are limited.
const STATUSES = new Set([401, 403, 408, 413, 429, 503, 508]);

/** Whether an answer is only counted. @param isKnown whether the sender has shown a valid key */
export function isRefusal(status: number, isKnown: boolean): boolean {
  return STATUSES.has(status) || (!isKnown && status >= 400 && status < 500);
}

export class RefusedRequests {
  readonly #log: Pick<Log, 'info'>;
  #causes = new Map<string, Cause>();
  #organizations = new Map<string, number>();
  #sources = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Pick<Log, 'info'>) {
    this.#log = log;
  }

  note({ status, code, requestId, client, organizationId, sourceId }: Refusal): void {
    const place = placeIn(this.#causes, `${status} ${code}`);
    const count = (this.#causes.get(place)?.count ?? 0) + 1;
    const isNamed = place !== OTHERS;
    this.#causes.set(place, { status: isNamed ? status : 0, code: isNamed ? code : OTHERS, count, requestId, client });
    if (organizationId !== undefined) countIn(this.#organizations, organizationId);
    if (sourceId !== undefined) countIn(this.#sources, sourceId);
    this.#timer ??= setTimeout(() => this.flush(), EVERY_MS).unref();
  }

  /** Writes what was counted until now. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#causes.size === 0) return;
    const causes = [...this.#causes.values()];
    const refused = causes.reduce((sum, { count }) => sum + count, 0);
    const organizations = Object.fromEntries(this.#organizations);
    const sources = Object.fromEntries(this.#sources);
    this.#log.info({ refused, causes, organizations, sources }, 'requests were refused');
    this.#causes = new Map();
    this.#organizations = new Map();
    this.#sources = new Map();
  }
}

function placeIn(counts: ReadonlyMap<string, unknown>, name: string): string {
  return counts.has(name) || counts.size < MOST_LISTED ? name : OTHERS;
}

function countIn(counts: Map<string, number>, name: string): void {
  const place = placeIn(counts, name);
  counts.set(place, (counts.get(place) ?? 0) + 1);
}
