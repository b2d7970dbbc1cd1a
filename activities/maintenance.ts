// Housekeeping: partitions ahead of time, retention by dropping partitions, rows of deleted sources in small steps, and the
// counts and statistics that keep lists and sums quick.
import type { Settings } from '../core/config.ts';
import type { Log } from '../core/log.ts';
import { removeEventsChildren } from '../db/delivery-commands.ts';
import { forgetEventReplays } from '../db/event-replays.ts';
import { dropExpiredPartitions, ensurePartitions } from '../db/partitions.ts';
import { mergeBuckets } from '../db/history/merge-buckets.ts';
import { forgetCountsOfSource, settleHistory } from '../db/history/settle.ts';
import { inTransaction, type Pool } from '../db/pool.ts';

// Rows of a deleted source per transaction: short locks, bounded WAL.
const PURGE_STEP = 1000;
// How long one round counts what can be settled, and how long it merges old statistics; after an upgrade both have months
// to catch up with.
const TALLY_MS = 5000;

export interface MaintenanceDeps {
  pool: Pool;
  settings: Pick<Settings, 'HOOKYARD_PAYLOAD_RETENTION_DAYS' | 'HOOKYARD_EVENT_RETENTION_DAYS'>;
  log: Log;
}

/** One round. @returns true when there is more to do right now: rows of a deleted source, hours to count or merge */
export async function maintain({ pool, settings, log }: MaintenanceDeps): Promise<boolean> {
  await ensurePartitions(pool);
  const eventDays = settings.HOOKYARD_EVENT_RETENTION_DAYS;
  const payloadDays = payloadRetention(settings);
  const dropped = [
    ...(await dropExpiredPartitions(pool, 'event_payloads', payloadDays)),
    ...(await dropExpiredPartitions(pool, 'attempts', eventDays)),
    ...(await dropExpiredPartitions(pool, 'deliveries', eventDays)),
    ...(await dropExpiredPartitions(pool, 'events', eventDays)),
  ];
  if (dropped.length > 0) log.info({ dropped }, 'retention dropped partitions');
  await pool.query('delete from idempotency_keys where expires_at < now()');
  await forgetEventReplays(pool, eventDays);
  const isPurging = await purgeDeletedSource(pool);
  const settled = await settleHistory(pool, TALLY_MS);
  const isMerging = await mergeBuckets(pool, TALLY_MS);
  return isPurging || isMerging || settled?.caughtUp === false;
}

/** A payload never outlives its event. 0 keeps for ever. */
function payloadRetention(settings: MaintenanceDeps['settings']): number {
  const { HOOKYARD_PAYLOAD_RETENTION_DAYS: payloads, HOOKYARD_EVENT_RETENTION_DAYS: events } = settings;
  if (events === 0) return payloads;
  return payloads === 0 ? events : Math.min(payloads, events);
}

async function purgeDeletedSource(pool: Pool): Promise<boolean> {
  return inTransaction(pool, async (db) => {
    const { rows: purges } = await db.query<{ source_id: string }>(
      'select source_id from source_purges order by requested_at limit 1 for update skip locked',
    );
    const sourceId = purges[0]?.source_id;
    if (sourceId === undefined) return false;
    const { rows } = await db.query<{ id: string }>(
      `delete from events where (id, source_id) in
         (select id, source_id from events where source_id = $1 order by id limit $2) returning id`,
      [sourceId, PURGE_STEP],
    );
    if (rows.length > 0)
      await removeEventsChildren(
        db,
        rows.map((row) => row.id),
      );
    if (rows.length < PURGE_STEP) {
      await forgetCountsOfSource(db, sourceId);
      await db.query('delete from source_purges where source_id = $1', [sourceId]);
    }
    return true;
  });
}
