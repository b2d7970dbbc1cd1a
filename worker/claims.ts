// Which deliveries the relay starts next: organizations with work take turns, and in each its destinations, claim by claim, within
// the in-flight limits.
import { type Claimed, claimDeliveries, type OutboxRow } from '../db/hot-path/claim.ts';
import type { Pool } from '../db/pool.ts';
import type { InFlight } from './in-flight.ts';

// Bound what a claim costs. With more of them a round takes several claims.
const MAX_ORGANIZATIONS_PER_CLAIM = 50;
const MAX_DESTINATIONS_PER_ORGANIZATION = 200;

export interface ClaimsDeps {
  /** Runs the claims. */
  hotPool: Pool;
  /** The shards to claim from. */
  owner: string;
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
}

export function createClaims({ hotPool, owner, inFlight, waiting, suspended }: ClaimsDeps): Claims {
  let afterOrganization = '';
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
      const held = inFlight.organizations();
      const left = new Map(held.map((each) => [each.id, each.left]));
      const mostOfOthers = Math.max(1, inFlight.leftFor());
      const full = held.filter((each) => each.left === 0).map(({ id }) => id);
      const skipped = [...full, ...suspended()];
      const known = new Set([...left.keys(), ...lastExamined.keys()]);
      for (const id of skipped) known.delete(id);
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
        owner,
        inFlight: inFlight.deliveryIds(),
        perDestination: inFlight.perDestination,
        most: inFlight.free,
      });
      moveOn(claimed, new Set(skipped));
      return claimed.rows.toSorted(byUrgency).filter((row) => {
        if (!inFlight.hasRoom(row)) return false;
        inFlight.add(row);
        return true;
      });
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
