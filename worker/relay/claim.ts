// Which deliveries the relay starts next: organizations with work take turns, and in each its destinations, claim by
// claim, within the in-flight limits.
import { relayClaim } from '../../core/metrics/deliveries.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { type Claimed, claimDeliveries, type OutboxRow } from '../../db/hot-path/claim.ts';
import type { InFlight } from './in-flight.ts';
import type { Held } from './shards.ts';

// Bound what a claim costs. With more of them it takes several claims to examine everything.
const MAX_ORGANIZATIONS_PER_CLAIM = 50;
// Claims come one after the other: with hundreds of destinations at which nothing may be started, one takes 20 to 50 ms
// on a busy machine, for which the deliveries of other organizations wait.
const MAX_DESTINATIONS_PER_ORGANIZATION = 40;
// Rows of one destination in a claim. One that copes with more gets them by the next claims, which follow soon.
const MOST_PER_DESTINATION = 50;

export interface ClaimsDeps {
  hotPool: Pool;
  held: () => Held | null;
  inFlight: InFlight;
  waiting: () => string[];
  suspended: () => string[];
}

export class Claims {
  readonly #deps: ClaimsDeps;
  readonly #cursor = new ClaimCursor(MAX_ORGANIZATIONS_PER_CLAIM);
  #isSweeping = false;
  #leftOut: string[] = [];
  /** When the last claim ended, ms of the clock; undefined before the first. */
  claimedAt: number | undefined;
  /** Whether the last claim has found rows, started or not. */
  hasFound = false;
  /** Whether it has left rows of a destination because a claim takes no more. */
  hasMore = false;

  constructor(deps: ClaimsDeps) {
    this.#deps = deps;
  }

  /** Claims before the next call of `sweep` do not count for it. */
  endSweep(): void {
    this.#isSweeping = false;
  }

  /** From here on `isSwept` tells whether claims have examined everything; while a sweep runs it goes on. */
  sweep(): void {
    if (!this.#isSweeping) this.#cursor.changed();
    this.#isSweeping = true;
  }

  /** Whether the claims since `sweep` have examined everything that may be claimed. */
  get isSwept(): boolean {
    const { inFlight, suspended } = this.#deps;
    const waits = new Set(suspended());
    return this.#isSweeping && this.#cursor.isDone((id) => inFlight.roomFor(id) > 0 && !waits.has(id));
  }

  /** The next rows to start, most urgent and oldest first, within the limits. They count as in flight from here on. */
  async next(): Promise<OutboxRow[]> {
    const { hotPool, held: heldNow, inFlight, waiting, suspended } = this.#deps;
    const held = heldNow();
    this.hasFound = false;
    this.hasMore = false;
    if (!held) return [];
    const cursor = this.#cursor;
    const busy = inFlight.organizations();
    const left = new Map(busy.map((each) => [each.id, each.left]));
    const mostOfOthers = Math.max(1, inFlight.roomFor());
    const skipped = [...busy.filter((each) => each.left === 0).map(({ id }) => id), ...suspended()];
    const fullDestinations = [...inFlight.fullDestinations(), ...waiting()];
    const known = new Set([...left.keys(), ...cursor.begun]);
    for (const id of skipped) known.delete(id);
    this.#leave([...skipped, ...fullDestinations]);
    const began = performance.now();
    const claimed = await claimDeliveries(hotPool, {
      afterOrganization: cursor.organization,
      skippedOrganizations: skipped,
      maxOrganizations: MAX_ORGANIZATIONS_PER_CLAIM,
      turns: [...known].map((id) => ({ id, after: cursor.destinationIn(id), most: left.get(id) ?? mostOfOthers })),
      mostOfOthers,
      fullDestinations,
      maxDestinations: MAX_DESTINATIONS_PER_ORGANIZATION,
      ...held,
      inFlight: inFlight.deliveryIds(),
      perDestination: MOST_PER_DESTINATION,
      most: inFlight.free,
    });
    this.claimedAt = performance.now();
    relayClaim.observe({}, (this.claimedAt - began) / 1000);
    this.hasFound = claimed.rows.length > 0;
    this.hasMore = isAnyCut(claimed.rows);
    cursor.moveOn(claimed, new Set(skipped));
    return claimed.rows.toSorted(byUrgency).filter((row) => {
      // One of an ordering key may be under way since the claim began (ordered.ts).
      if (inFlight.has(row.deliveryId) || !inFlight.hasRoom(row)) return false;
      inFlight.add(row);
      return true;
    });
  }

  /** What is left out no more may be started: a sweep begins again. */
  #leave(leftOut: string[]): void {
    const isLeftOut = new Set(leftOut);
    if (this.#leftOut.some((id) => !isLeftOut.has(id))) this.#cursor.changed();
    this.#leftOut = leftOut;
  }
}

/** @param rows by destination */
const isAnyCut = (rows: OutboxRow[]) =>
  rows.some(({ destinationId }, index) => rows[index - MOST_PER_DESTINATION + 1]?.destinationId === destinationId);

function byUrgency(a: OutboxRow, b: OutboxRow): number {
  return b.priority - a.priority || (a.deliveryId < b.deliveryId ? -1 : 1);
}

/** Where claims stood in an organization when something changed. */
interface Start {
  after: string;
  /** Whether they have been at its last one since. */
  hasWrapped: boolean;
}

/**
 * Where claims continue, and whether they have examined everything since something changed. They go from organization
 * to organization, and inside each from destination to destination; with many of them one claim gets only a part of the
 * way.
 */
export class ClaimCursor {
  readonly #mostOrganizations: number;
  #organization = '';
  /** Of organizations that were not examined to the end: the last examined destination. */
  readonly #destinations = new Map<string, string>();
  /**
   * Where claims stood among the organizations when something changed; null: they have examined each since, at least a
   * part of it.
   */
  #start: Start | null = { after: '', hasWrapped: false };
  /** Those of which a part was not examined since. */
  #open = new Map<string, Start>();

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

  destinationIn(organizationId: string): string {
    return this.#destinations.get(organizationId) ?? '';
  }

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
