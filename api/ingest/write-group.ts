// Stores a group of events and returns the outcome of each, even when PostgreSQL or the connection fails in between.
import { setTimeout as pause } from 'node:timers/promises';
import {
  isConnectionLost,
  isTransientDatabaseError,
  isUniqueViolation,
  isWriteConflict,
} from '../../db/connections/database-errors.ts';
import {
  findFirstEvent,
  findStored,
  type NewEvent,
  type StoreResult,
  storeEvents,
} from '../../db/hot-path/store-events.ts';
import type { Pool } from '../../db/connections/pool.ts';

/** Outcome of an event: stored, a duplicate of an earlier one, or routed by a configuration that has changed since. */
export type WriteOutcome = { kind: 'stored' } | { kind: 'duplicate'; eventId: string } | { kind: 'stale' };
/** `refused`: concerns this event alone; the others of its group have their own outcomes. */
export type GroupOutcome = WriteOutcome | { kind: 'refused'; error: unknown };

// No retry starts later than this after the first try. Senders wait for their answer, some only 3 s (Slack, "Events API"), and
// the groups behind this one wait too.
const REPEAT_FOR_MS = 2000;
// The first retry is immediate; the next waits this long, then the wait doubles.
const REPEAT_PAUSE_MS = 20;

/** @throws a database error when none of the group is known to be stored */
export async function writeGroup(pool: Pool, events: NewEvent[]): Promise<GroupOutcome[]> {
  try {
    const result = await storeSurely(pool, events);
    return await Promise.all(events.map((event) => outcomeOf(pool, event, result)));
  } catch (error) {
    if (isTransientDatabaseError(error) || events.length === 1) throw error;
    // One event that PostgreSQL refuses must not fail the others of its group.
    return Promise.all(events.map((event) => writeAlone(pool, event)));
  }
}

async function writeAlone(pool: Pool, event: NewEvent): Promise<GroupOutcome> {
  try {
    return await outcomeOf(pool, event, await storeSurely(pool, [event]));
  } catch (error) {
    return { kind: 'refused', error };
  }
}

/**
 * Stores a group. When the outcome is unknown (the connection was lost), the group is stored again: events that are already there
 * are found by their id, or refused by the primary key, which also waits for a statement that is still running. So each event is
 * stored and counted once.
 */
async function storeSurely(pool: Pool, events: NewEvent[]): Promise<StoreResult> {
  const mayRepeat = repeats();
  const found = new Set<string>();
  for (let mayBeStored = false; ; ) {
    try {
      if (mayBeStored) for (const id of await findStored(pool, events)) found.add(id);
      const left = events.filter(({ id }) => !found.has(id));
      if (left.length === 0) return { stored: found, stale: new Set() };
      const result = await storeEvents(pool, left);
      for (const id of found) result.stored.add(id);
      return result;
    } catch (error) {
      if (isConnectionLost(error) || isUniqueViolation(error)) mayBeStored = true;
      if (!(await mayRepeat(error, mayBeStored))) throw error;
    }
  }
}

/** Decides after each failure whether the group is tried again, and waits until then. */
function repeats(): (error: unknown, mayBeStored: boolean) => Promise<boolean> {
  const giveUpAt = performance.now() + REPEAT_FOR_MS;
  let conflicts = 0;
  let pauseMs = 0;
  return async (error, mayBeStored) => {
    if (isWriteConflict(error)) {
      conflicts += 1;
      return conflicts === 1;
    }
    // If the events were certainly not stored, the sender has to retry: it may reach a process that has a connection to
    // PostgreSQL.
    if (!mayBeStored || !(isTransientDatabaseError(error) || isUniqueViolation(error))) return false;
    if (performance.now() + pauseMs > giveUpAt) return false;
    await pause(pauseMs);
    pauseMs = Math.max(REPEAT_PAUSE_MS, pauseMs * 2);
    return true;
  };
}

async function outcomeOf(pool: Pool, event: NewEvent, { stored, stale }: StoreResult): Promise<GroupOutcome> {
  if (stored.has(event.id)) return { kind: 'stored' };
  if (stale.has(event.id) || !event.idempotency) return { kind: 'stale' };
  try {
    const first = await findFirstEvent(pool, event.sourceId, event.idempotency.keyHash);
    // The first one expired or was deleted between the two statements: try again.
    if (first === null) return { kind: 'stale' };
    // An earlier try, whose answer was lost, stored the key for this same event.
    return first === event.id ? { kind: 'stored' } : { kind: 'duplicate', eventId: first };
  } catch (error) {
    return { kind: 'refused', error };
  }
}
