// Which deliveries the relay starts next: organizations with work take turns, and in each its destinations, claim by claim, within
// the in-flight limits.
import { relayClaim } from '../core/metrics/deliveries.ts';
import { type Claimed, claimDeliveries, type OutboxRow } from '../db/hot-path/claim.ts';
import type { Pool } from '../db/connections/pool.ts';
import type { InFlight } from './in-flight.ts';
import type { Held } from './shards.ts';

// Bound what a claim costs. With more of them a round takes several claims.
const MAX_ORGANIZATIONS_PER_CLAIM = 50;
const MAX_DESTINATIONS_PER_ORGANIZATION = 200;
// Rows of one destination in a claim. One that copes with more gets them by the next claims, which follow at once.
const MOST_PER_DESTINATION = 50;

export interface ClaimsDeps {
  /** Runs the claims. */
  hotPool: Pool;
  /** What to claim from. */
  held: () => Held | null;
  inFlight: InFlight;
  /** Destinations to skip at the moment. */
  waiting: () => string[];
  /** Organizations whose deliveries wait. */
  suspended: () => string[];
}

export interface Claims {
  /** The next rows to start, most urgent and oldest first, within the limits. They count as in flight from here on. */
  next(): Promise<OutboxRow[]>;
  /** Whether there may be more that no claim of this round has examined. */
  readonly midRound: boolean;
  /** When the last claim ended, ms of the clock; undefined before the first. */
  readonly claimedAt: number | undefined;
}

export function createClaims({ hotPool, held: heldNow, inFlight, waiting, suspended }: ClaimsDeps): Claims {
  let afterOrganization = '';
  let claimedAt: number | undefined;
  /** Of organizations that were not examined to the end: the last examined destination. */
  const lastExamined = new Map<string, string>();

  /** @param skipped organizations at their limit, and suspended ones */
  function moveOn({ examinedTo, isFull }: Claimed, skipped: ReadonlySet<string>): void {
    const last = [...examinedTo.keys()].at(-1) ?? '';
    const isLast = !isFull && examinedTo.size < MAX_ORGANIZATIONS_PER_CLAIM;
    for (const id of lastExamined.keys()) {
      const isPassed = id > afterOrganization && (isLast || id <= last);
      // It has nothing in the outbox any more.
      if (isPassed && !examinedTo.has(id) && !skipped.has(id)) lastExamined.delete(id);
    }
    for (const [id, destinationId] of examinedTo) {
      if (destinationId === '') lastExamined.delete(id);
      else lastExamined.set(id, destinationId);
    }
    afterOrganization = isLast ? '' : last;
  }

  return {
    async next() {
      const held = heldNow();
      if (!held) return [];
      const busy = inFlight.organizations();
      const left = new Map(busy.map((each) => [each.id, each.left]));
      const mostOfOthers = Math.max(1, inFlight.leftFor());
      const full = busy.filter((each) => each.left === 0).map(({ id }) => id);
      const skipped = [...full, ...suspended()];
      const known = new Set([...left.keys(), ...lastExamined.keys()]);
      for (const id of skipped) known.delete(id);
      const began = performance.now();
      const claimed = await claimDeliveries(hotPool, {
        afterOrganization,
        skippedOrganizations: skipped,
        maxOrganizations: MAX_ORGANIZATIONS_PER_CLAIM,
        turns: [...known].map((id) => ({
          id,
          after: lastExamined.get(id) ?? '',
          most: left.get(id) ?? mostOfOthers,
        })),
        mostOfOthers,
        fullDestinations: [...inFlight.fullDestinations(), ...waiting()],
        maxDestinations: MAX_DESTINATIONS_PER_ORGANIZATION,
        ...held,
        inFlight: inFlight.deliveryIds(),
        perDestination: MOST_PER_DESTINATION,
        most: inFlight.free,
      });
      claimedAt = performance.now();
      relayClaim.observe({}, (claimedAt - began) / 1000);
      moveOn(claimed, new Set(skipped));
      return claimed.rows.toSorted(byUrgency).filter((row) => {
        if (!inFlight.hasRoom(row)) return false;
        inFlight.add(row);
        return true;
      });
    },
    get claimedAt() {
      return claimedAt;
    },
    get midRound() {
      if (afterOrganization !== '') return true;
      const waits = new Set(suspended());
      return [...lastExamined.keys()].some((id) => inFlight.leftFor(id) > 0 && !waits.has(id));
    },
  };
}

function byUrgency(a: OutboxRow, b: OutboxRow): number {
  return b.priority - a.priority || (a.deliveryId < b.deliveryId ? -1 : 1);
}
