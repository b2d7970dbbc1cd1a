// Which deliveries the relay starts next: a round-robin over all destinations with work, claim by claim, within the in-flight
// limits.
import { claimDeliveries, type OutboxRow } from '../db/hot-path/claim.ts';
import type { Pool } from '../db/pool.ts';
import type { InFlight } from './in-flight.ts';

// Bounds what a claim costs. With more destinations a round takes several claims.
const MAX_DESTINATIONS_PER_CLAIM = 200;

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
  /** Whether destinations are left in this round that no claim has examined. */
  readonly midRound: boolean;
}

export function createClaims({ hotPool, owner, inFlight, waiting, suspended }: ClaimsDeps): Claims {
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
        suspended: suspended(),
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
