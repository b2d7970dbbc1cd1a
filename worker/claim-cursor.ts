// Where claims continue, and whether they have examined everything since something changed. They go from organization to organization,
// and inside each from destination to destination; with many of them one claim gets only a part of the way.
import type { Claimed } from '../db/hot-path/claim.ts';

/** Where claims stood in an organization when something changed. */
interface Start {
  /** Behind this destination. */
  after: string;
  /** Whether they have been at its last one since. */
  hasWrapped: boolean;
}

export class ClaimCursor {
  readonly #mostOrganizations: number;
  /** Claims continue behind this organization. */
  #organization = '';
  /** Of organizations that were not examined to the end: the last examined destination. */
  readonly #destinations = new Map<string, string>();
  /** Where claims stood among the organizations when something changed; null: they have examined each since, at least a part of it. */
  #start: Start | null = { after: '', hasWrapped: false };
  /** Those of which a part was not examined since. */
  #open = new Map<string, Start>();

  /** @param mostOrganizations that a claim examines */
  constructor(mostOrganizations: number) {
    this.#mostOrganizations = mostOrganizations;
  }

  get organization(): string {
    return this.#organization;
  }

  /** Organizations that were not examined to the end. */
  get begun(): string[] {
    return [...this.#destinations.keys()];
  }

  /** Claims of this organization continue behind this destination. */
  destinationIn(organizationId: string): string {
    return this.#destinations.get(organizationId) ?? '';
  }

  /** There may be something to start anywhere. */
  changed(): void {
    this.#start = startAt(this.#organization);
    this.#open = new Map([...this.#destinations].map(([id, after]) => [id, startAt(after)]));
  }

  /** @param skipped organizations that the claim has left out */
  moveOn({ examinedTo, isFull }: Claimed, skipped: ReadonlySet<string>): void {
    const last = [...examinedTo.keys()].at(-1) ?? '';
    const isLast = !isFull && examinedTo.size < this.#mostOrganizations;
    for (const id of new Set([...this.#destinations.keys(), ...this.#open.keys()])) {
      const isPassed = id > this.#organization && (isLast || id <= last);
      if (!isPassed || examinedTo.has(id) || skipped.has(id)) continue;
      // It has nothing in the outbox any more.
      this.#destinations.delete(id);
      this.#open.delete(id);
    }
    for (const [id, destinationId] of examinedTo) this.#examined(id, destinationId);
    this.#organization = isLast ? '' : last;
    if (this.#start && isAround(this.#start, this.#organization)) this.#start = null;
  }

  /**
   * Whether everything was examined since something changed.
   * @param mayClaim whether anything may be claimed of an organization
   */
  isDone(mayClaim: (organizationId: string) => boolean): boolean {
    return this.#start === null && ![...this.#open.keys()].some(mayClaim);
  }

  /** @param to the last examined destination; '' when none is left behind it */
  #examined(organizationId: string, to: string): void {
    // Its first part since.
    const start = this.#open.get(organizationId) ?? (this.#start && startAt(this.destinationIn(organizationId)));
    if (start === null || isAround(start, to)) this.#open.delete(organizationId);
    else this.#open.set(organizationId, start);
    if (to === '') this.#destinations.delete(organizationId);
    else this.#destinations.set(organizationId, to);
  }
}

const startAt = (after: string): Start => ({ after, hasWrapped: false });

/** @param to where claims stand now; '' at the end */
function isAround(start: Start, to: string): boolean {
  if (to !== '') return start.hasWrapped && to >= start.after;
  if (start.hasWrapped || start.after === '') return true;
  start.hasWrapped = true;
  return false;
}
