// Paces the starts of deliveries to rate-limited destinations: a delivery is started shortly before its slot. Deliveries without
// a slot stay in the outbox, where they do not block other destinations. The slot itself is reserved by the attempt, right before
// it sends (activities/attempt/rate-limit.ts), so a slow start does not violate the limit.
import type { OutboxRow } from '../db/hot-path/claim.ts';
import type { Pool } from '../db/connections/pool.ts';
import { nextSlots, slotInterval } from '../db/delivery/rate-limits.ts';

// How long before its slot a delivery is started: about what a start takes on a busy machine.
const AHEAD_MS = 200;
// A destination without a slot soon is checked again after at most this time, so that a raised limit takes effect.
const LOOK_AGAIN_MS = 1000;
const LOOK_AGAIN_SOON_MS = 20;
// A start whose attempt has not reserved a slot by then runs elsewhere, or is lost and will be claimed again.
const UNHEARD_MS = 5000;

export interface Pacing {
  /** Destinations to skip, because their next slot is too far away. */
  waiting(): string[];
  /** Which of the claimed rows to start now; the others wait for a later claim. Rows are in order of urgency. */
  pace(rows: OutboxRow[], limitOf: (row: OutboxRow) => number | null): Promise<OutboxRow[]>;
  /** An attempt has reserved its slot. */
  slotTaken(destinationId: string, deliveryId: string): void;
}

export function createPacing(pool: Pool): Pacing {
  // When a destination may be claimed again, performance.now() ms.
  const notBefore = new Map<string, number>();
  // Started deliveries that have not reserved their slot yet, each with its deadline.
  const started = new Map<string, Map<string, number>>();

  function awaiting(destinationId: string): number {
    const deliveries = started.get(destinationId);
    const now = performance.now();
    for (const [id, until] of deliveries ?? []) if (until <= now) deliveries?.delete(id);
    return deliveries?.size ?? 0;
  }

  function takeNear(rows: OutboxRow[], destinationId: string, perMinute: number, nextInMs: number): OutboxRow[] {
    const slots = Math.floor((AHEAD_MS - nextInMs) / slotInterval(perMinute)) + 1;
    const taken = rows.slice(0, Math.max(0, slots - awaiting(destinationId)));
    const now = performance.now();
    if (taken.length < rows.length) {
      const wait = Math.min(LOOK_AGAIN_MS, Math.max(LOOK_AGAIN_SOON_MS, nextInMs - AHEAD_MS));
      notBefore.set(destinationId, now + wait);
    }
    const deliveries = started.get(destinationId) ?? new Map<string, number>();
    for (const row of taken) deliveries.set(row.deliveryId, now + UNHEARD_MS);
    started.set(destinationId, deliveries);
    return taken;
  }

  return {
    waiting() {
      const now = performance.now();
      for (const [id, at] of notBefore) if (at <= now) notBefore.delete(id);
      return [...notBefore.keys()];
    },
    async pace(rows, limitOf) {
      const limited = rows.filter((row) => limitOf(row) !== null);
      if (limited.length === 0) return rows;
      const byDestination = Map.groupBy(limited, (row) => row.destinationId);
      const slots = await nextSlots(pool, [...byDestination.keys()]);
      const unlimited = rows.filter((row) => limitOf(row) === null);
      const near = [...byDestination].flatMap(([id, waiting]) => {
        const [first] = waiting;
        return takeNear(waiting, id, (first && limitOf(first)) ?? 1, slots.get(id) ?? 0);
      });
      return [...unlimited, ...near];
    },
    slotTaken(destinationId, deliveryId) {
      const deliveries = started.get(destinationId);
      deliveries?.delete(deliveryId);
      if (deliveries?.size === 0) started.delete(destinationId);
    },
  };
}
