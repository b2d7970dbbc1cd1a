// Which deliveries the relay starts next: organizations with work take turns, and in each its destinations, claim by claim, within
// the in-flight limits.
import { relayClaim } from '../core/metrics/deliveries.ts';
import { writePositions } from '../core/positions.ts';
import { claimDeliveries, type OutboxRow } from '../db/hot-path/claim.ts';
import type { Pool } from '../db/connections/pool.ts';
import { ClaimCursor } from './claim-cursor.ts';
import type { InFlight } from './in-flight.ts';
import type { Found } from './relay-rests.ts';
import type { Held } from './shards.ts';

// Bound what a claim costs. With more of them a round takes several claims.
const MAX_ORGANIZATIONS_PER_CLAIM = 50;
const MAX_DESTINATIONS_PER_ORGANIZATION = 200;
// The same where there are several organizations: claims come one after the other, and with hundreds of destinations at which nothing
// may be started one takes 20 to 50 ms on a busy machine, for which the others' deliveries wait.
const MAX_DESTINATIONS_OF_SEVERAL = 40;
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
  /** Whether there is only one organization. */
  alone: () => boolean;
}

export interface Claims {
  /** The next rows to start, most urgent and oldest first, within the limits. They count as in flight from here on. */
  next(): Promise<OutboxRow[]>;
  /** Whether there may be more that no claim of this round has examined. */
  readonly midRound: boolean;
  /** Whether there is anything to claim from, and a place for it. */
  readonly mayClaim: boolean;
  /** What a round has found that has started so many. */
  found(started: number): Found;
  /** Call it when there may be more to start: claims examine everything again. */
  changed(): void;
  /** When the last claim ended, ms of the clock; undefined before the first. */
  readonly claimedAt: number | undefined;
}

export function createClaims({ hotPool, held: heldNow, inFlight, waiting, suspended, alone }: ClaimsDeps): Claims {
  const cursor = new ClaimCursor(MAX_ORGANIZATIONS_PER_CLAIM);
  let claimedAt: number | undefined;
  let hasChanged = false;
  /** What the last claim has left out, and what it was of. */
  let last = { leftOut: [] as string[], positions: '' };

  /** What is left out no more may be started, and so may what others had. */
  function compare(next: typeof last): void {
    const leftOut = new Set(next.leftOut);
    if (next.positions !== last.positions || last.leftOut.some((id) => !leftOut.has(id))) hasChanged = true;
    last = next;
  }

  const mayClaim = () => heldNow() !== null && inFlight.free > 0;

  function admitted(): (organizationId: string) => boolean {
    const waits = new Set(suspended());
    return (id) => inFlight.leftFor(id) > 0 && !waits.has(id);
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
      const fullDestinations = [...inFlight.fullDestinations(), ...waiting()];
      const known = new Set([...left.keys(), ...cursor.begun]);
      for (const id of skipped) known.delete(id);
      compare({ leftOut: [...skipped, ...fullDestinations], positions: writePositions(held.positions) });
      if (hasChanged) cursor.changed();
      hasChanged = false;
      const began = performance.now();
      const claimed = await claimDeliveries(hotPool, {
        afterOrganization: cursor.organization,
        skippedOrganizations: skipped,
        maxOrganizations: MAX_ORGANIZATIONS_PER_CLAIM,
        turns: [...known].map((id) => ({
          id,
          after: cursor.destinationIn(id),
          most: left.get(id) ?? mostOfOthers,
        })),
        mostOfOthers,
        fullDestinations,
        maxDestinations: alone() ? MAX_DESTINATIONS_PER_ORGANIZATION : MAX_DESTINATIONS_OF_SEVERAL,
        ...held,
        inFlight: inFlight.deliveryIds(),
        perDestination: MOST_PER_DESTINATION,
        most: inFlight.free,
      });
      claimedAt = performance.now();
      relayClaim.observe({}, (claimedAt - began) / 1000);
      cursor.moveOn(claimed, new Set(skipped));
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
      return cursor.organization !== '' || cursor.begun.some(admitted());
    },
    get mayClaim() {
      return mayClaim();
    },
    found(started) {
      // There may be more of it; and what is new is not heard of while nothing is held.
      if (started > 0 || heldNow() === null) hasChanged = true;
      if (started > 0) return 'work';
      // An empty claim for some destinations says nothing about the others.
      return mayClaim() && !cursor.isDone(admitted()) ? 'nothing yet' : 'nothing';
    },
    changed() {
      hasChanged = true;
    },
  };
}

function byUrgency(a: OutboxRow, b: OutboxRow): number {
  return b.priority - a.priority || (a.deliveryId < b.deliveryId ? -1 : 1);
}
