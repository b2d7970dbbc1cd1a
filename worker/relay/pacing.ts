// Paces the starts of deliveries to rate-limited destinations: a delivery is started shortly before its slot.
// Deliveries without a slot stay in the outbox, where they do not block other destinations. The slot itself is reserved
// by the attempt, right before it sends (activities/attempt/rate-and-concurrency.ts), so a slow start does not violate
// the limit.
import { LRUCache } from 'lru-cache';
import type { OutboxRow } from '../../db/hot-path/claim.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { nextSlots, type Slot, slotInterval } from '../../db/delivery/rate-limits.ts';

// How long before its slot a delivery is started: about what a start takes on a busy machine.
const AHEAD_MS = 200;
// A destination without a slot soon is checked again after at most this time, so that a raised limit takes effect.
const LOOK_AGAIN_MS = 1000;
const LOOK_AGAIN_SOON_MS = 20;
// A start whose attempt has not reserved a slot by then is lost, and will be claimed again.
const UNHEARD_MS = 5000;
const NONE_RESERVED: Slot = { at: 0, inMs: 0 };
// Of destinations; one that is forgotten is looked at anew.
const MOST_REMEMBERED = 10_000;

export type Pacing = ReturnType<typeof createPacing>;

export function createPacing(pool: Pool) {
  // When a destination may be claimed again, performance.now() ms.
  const notBefore = new Map<string, number>();
  // Started deliveries that have not reserved their slot yet, each with its deadline; oldest first.
  const started = new Map<string, Map<string, number>>();
  // The next slot as it was at the last look, and how many attempts of this process have reserved one since.
  const looks = new LRUCache<string, { slot: Slot; heard: number }>({ max: MOST_REMEMBERED });

  function awaiting(destinationId: string): number {
    const deliveries = started.get(destinationId);
    const now = performance.now();
    for (const [id, until] of deliveries ?? []) if (until <= now) deliveries?.delete(id);
    return deliveries?.size ?? 0;
  }

  /**
   * Attempts of other workers take slots, too: they may have been started here, because workflows run anywhere. Should
   * they be others, this one starts as many too early, which then wait with a slot of their own.
   */
  function hearOfOthers(destinationId: string, perMinute: number, slot: Slot): void {
    const before = looks.get(destinationId);
    looks.set(destinationId, { slot, heard: 0 });
    if (before === undefined || slot.at <= before.slot.at) return;
    const from = Math.max(before.slot.at, before.slot.at - before.slot.inMs);
    const reserved = Math.max(1, Math.floor((slot.at - from) / slotInterval(perMinute)));
    const deliveries = [...(started.get(destinationId)?.keys() ?? [])];
    for (const id of deliveries.slice(0, Math.max(0, reserved - before.heard))) started.get(destinationId)?.delete(id);
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
    /** Destinations to skip, because their next slot is too far away. */
    waiting(): string[] {
      const now = performance.now();
      for (const [id, at] of notBefore) if (at <= now) notBefore.delete(id);
      return [...notBefore.keys()];
    },
    /** When the first of them may be claimed again, ms from now; infinite when there is none. */
    nextInMs: () => Math.min(...notBefore.values()) - performance.now(),
    /** Which of the claimed rows to start now; the others wait for a later claim. Rows are in order of urgency. */
    async pace(rows: OutboxRow[], limitOf: (row: OutboxRow) => number | null): Promise<OutboxRow[]> {
      const limited = rows.filter((row) => limitOf(row) !== null);
      if (limited.length === 0) return rows;
      const byDestination = Map.groupBy(limited, (row) => row.destinationId);
      const slots = await nextSlots(pool, [...byDestination.keys()]);
      const unlimited = rows.filter((row) => limitOf(row) === null);
      const near = [...byDestination].flatMap(([id, waiting]) => {
        const [first] = waiting;
        const perMinute = (first && limitOf(first)) ?? 1;
        const slot = slots.get(id) ?? NONE_RESERVED;
        hearOfOthers(id, perMinute, slot);
        return takeNear(waiting, id, perMinute, Math.max(0, slot.inMs));
      });
      return [...unlimited, ...near];
    },
    slotTaken(destinationId: string, deliveryId: string): void {
      const deliveries = started.get(destinationId);
      deliveries?.delete(deliveryId);
      const look = looks.get(destinationId);
      if (look) look.heard += 1;
      if (deliveries?.size === 0) started.delete(destinationId);
    },
  };
}
