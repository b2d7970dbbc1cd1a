// Which deliveries the relay starts next: it goes round all destinations with work, claim by claim, and keeps to what may be
// in flight.
import { claimDeliveries, type OutboxRow } from '../db/hot-path/claim.ts';
import type { Pool } from '../db/pool.ts';
import type { InFlight } from './in-flight.ts';

// Bounds what a claim costs. With more destinations a round takes several claims.
const MAX_DESTINATIONS_PER_CLAIM = 200;

export interface ClaimsDeps {
  /** Runs the claims. */
  hotPool: Pool;
  /** Whose shards are claimed from. */
  owner: string;
  inFlight: InFlight;
  /** Destinations that are not to be claimed at the moment. */
  waiting: () => string[];
}

export interface Claims {
  /** The next rows to start, most urgent and oldest first, within the limits. They are in flight from here on. */
  next(): Promise<OutboxRow[]>;
  /** Whether destinations are left in this round that no claim has examined. */
  readonly midRound: boolean;
}

export function createClaims({ hotPool, owner, inFlight, waiting }: ClaimsDeps): Claims {
  let afterDestination = '';
  return {
    async next() {
      const { rows, examinedTo } = await claimDeliveries(hotPool, {
        afterDestination,
        fullDestinations: [...inFlight.fullDestinations(), ...waiting()],
        maxDestinations: MAX_DESTINATIONS_PER_CLAIM,
        owner,
        inFlight: inFlight.deliveryIds(),
        perDestination: inFlight.perDestination,
        most: inFlight.free,
      });
      afterDestination = examinedTo;
      rows.sort(byUrgency);
      return rows.filter((row) => {
        if (!inFlight.hasRoom(row.destinationId)) return false;
        inFlight.add(row);
        return true;
      });
    },
    get midRound() {
      return afterDestination !== '';
    },
  };
}

function byUrgency(a: OutboxRow, b: OutboxRow): number {
  return b.priority - a.priority || (a.deliveryId < b.deliveryId ? -1 : 1);
}
