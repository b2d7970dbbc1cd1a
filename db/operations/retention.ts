// Ends rows before their partition is dropped, so that no acknowledged event vanishes silently and nothing refers to
// dropped rows: open deliveries, and deliveries that are younger than their event
// (activities/maintenance/deletions.ts).
import { payloadDays, type Settings } from '../../core/config/config.ts';
import { openError, ownWords } from '../../core/text/error-summary.ts';
import { idFloor, idTime } from '../../core/text/ids.ts';
import { dropWaitingBefore } from '../delivery/ordering.ts';
import { endDeliveries, endOpen } from '../delivery/delivery-commands.ts';
import { removeDeliveries } from '../delivery/deletions.ts';
import { bisectRefused, Stride, sweep } from '../sql/ranges.ts';
import { DAY_MS, daysBefore, type PartitionedTable } from '../sql/partitions.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';
import { UNDER_WAY } from '../sql/rules.ts';
import { fragment, raw, sql } from '../connections/statements.ts';

export type RetentionDays = Pick<Settings, 'HOOKYARD_PAYLOAD_RETENTION_DAYS' | 'HOOKYARD_EVENT_RETENTION_DAYS'>;

/** The first days, in days since 1970, that are kept; null keeps everything. */
export function firstKeptDays(
  settings: RetentionDays,
  nowMs: number,
): { payloads: number | null; events: number | null } {
  const first = (days: number | null) => (days === null ? null : Math.floor(nowMs / DAY_MS) - days);
  return { payloads: first(payloadDays(settings)), events: first(settings.HOOKYARD_EVENT_RETENTION_DAYS || null) };
}

export interface RetentionLag {
  /** Null: for ever. */
  keptDays: number | null;
  /** Days that should be gone; 0 when there is none. */
  lagDays: number;
}

export async function retentionLag(
  db: Queryable,
  table: PartitionedTable,
  settings: RetentionDays,
  nowMs: number,
): Promise<RetentionLag> {
  const kept = firstKeptDays(settings, nowMs);
  const first = table === 'event_payloads' ? kept.payloads : kept.events;
  if (first === null) return { keptDays: null, lagDays: 0 };
  const [oldest = first] = await daysBefore(db, table, first);
  return { keptDays: Math.floor(nowMs / DAY_MS) - first, lagDays: first - oldest };
}

// Deliveries per transaction, at most: short locks, bounded WAL.
const STEP = 500;
const ENDING = new Stride(STEP);
const REMOVING = new Stride(STEP);

export const PAYLOAD_REMOVED = openError(
  ownWords`The payload was removed by the retention policy before it was delivered`,
);

function floors(day: number): { event: string; delivery: string } {
  return { event: idFloor('evt', day * DAY_MS), delivery: idFloor('dlv', day * DAY_MS) };
}

/**
 * Fails open deliveries of events before a day. Deliveries in a warehouse file that is being written are skipped: the
 * file will be written or given up (core/config/tuning.ts).
 * @param day days since 1970
 * @param forMs starts no further step after this time, ms
 * @returns how many were failed; those that PostgreSQL refuses to change; and whether all are done
 */
export async function failOpenDeliveries(
  pool: Pool,
  day: number,
  forMs: number,
): Promise<{ failed: number; refused: string[]; done: boolean }> {
  const until = performance.now() + forMs;
  const refused: string[] = [];
  let failed = 0;
  const done = await endOpen(pool, { eventsBefore: floors(day).event }, STEP, async (open) => {
    for (const [organizationId, deliveries] of Map.groupBy(open, (delivery) => delivery.organizationId)) {
      const fail = async (deliveryIds: string[]) => {
        // A delivery that a file has taken meanwhile stays open, and its day is kept.
        const selection = { organizationId, deliveryIds, reason: PAYLOAD_REMOVED, notInBatch: true };
        failed += (await endDeliveries(pool, 'failed', selection)).length;
      };
      const ids = deliveries.map(({ id }) => id);
      for (let at = 0; at < ids.length; ) {
        at = await ENDING.step(async (size) => {
          await bisectRefused(ids.slice(at, at + size), fail, async (id) => void refused.push(id));
          return at + size;
        });
      }
    }
    return performance.now() <= until;
  });
  return { failed, refused, done };
}

/**
 * The day, in days since 1970, of the oldest event that is in a file being written; Infinity when there is none.
 * @param forSeconds a file that waits longer than this is broken and keeps nothing
 */
export async function firstDayInFiles(db: Queryable, forSeconds: number): Promise<number> {
  // An aggregate for each file: as a plain join, PostgreSQL may read all deliveries, also when there is no file at
  // all.
  const eventId = await sql(db).value<string | null>`
    select min(x.event_id) from warehouse_batches b
    cross join lateral (
      select min(d.event_id) as event_id from deliveries d
      where d.destination_id = b.destination_id and d.id between b.first_delivery_id and b.last_delivery_id
        and d.batch_id = b.id and d.status = 'pending'
    ) x
    where b.status in ${raw(UNDER_WAY)} and b.waiting_since > now() - make_interval(secs => ${forSeconds})`;
  return eventId === null ? Number.POSITIVE_INFINITY : Math.floor(idTime(eventId) / DAY_MS);
}

/**
 * Removes one step of the deliveries of events before a day that are not in a partition before that day, with their
 * attempts.
 * @returns true when there may be more
 */
export async function removeYoungerDeliveries(pool: Pool, day: number): Promise<boolean> {
  const { event, delivery } = floors(day);
  return REMOVING.step(async (size) => {
    // An event may get deliveries long after it came: by replays, by failover, and when it came right before midnight.
    // These are in later partitions than their event. Each partition is searched for ids of old events by the index of
    // events.
    const ids = await sql(pool).column`
      select id from deliveries where event_id < ${event} and id >= ${delivery} limit ${size}`;
    if (ids.length === 0) return false;
    await inTransaction(pool, (db) => removeDeliveries(db, ids));
    return ids.length === size;
  });
}

/**
 * Removes what waits for deliveries of events before a day: of deleted sources, whose deliveries are not ended one by
 * one.
 */
export async function removeWaitingBefore(pool: Pool, day: number): Promise<void> {
  const { event, delivery } = floors(day);
  await dropWaitingBefore(pool, event);
  for (const table of ['outbox', 'held_deliveries']) await sweep(pool, table, fragment`event_id < ${event}`);
  // Dropping a partition fires no trigger. A delivery that stays open gets its row again at its next attempt.
  await sweep(pool, 'retrying_deliveries', fragment`delivery_id < ${delivery}`);
}
