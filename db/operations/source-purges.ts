// Removes the rows of deleted sources, in steps: each is one short transaction that also stores the progress, so that a
// crash loses one step at most.
import { removeEventsChildren } from '../delivery/deletions.ts';
import { countRemoved } from '../ledger/entries.ts';
import { inTransaction, type Pool, type Queryable } from '../connections/pool.ts';
import { Stride, sweep } from '../sql/ranges.ts';
import { fragment, raw, sql } from '../connections/statements.ts';

// Events in a step, at most.
const EVENTS = new Stride(1000);
const KEYS_PER_EVENT = 5;
/** After this time, webhooks that were being stored when their source was deleted have been stored or refused. */
const LAST_LOOK = `interval '1 minute'`;

export interface PurgeStep {
  sourceId: string;
  eventsRemoved: number;
  eventsRemovedNow: number;
  finished: boolean;
}

interface Purge {
  eventsRemoved: number;
  isLastLook: boolean;
}

const IS_DUE = `(emptied_at is null or emptied_at < now() - ${LAST_LOOK})`;

/**
 * Whose turn it is to be removed: organizations take turns, and so do the sources of each. Noted at once, so that a
 * step that fails or never ends keeps no other waiting.
 * @param skipped those that have failed just now
 */
export async function nextPurge(db: Queryable, skipped: string[] = []): Promise<string | null> {
  const [sourceId = null] = await sql(db).column`
    update source_purges p set tried_at = clock_timestamp()
    from (
      select source_id from (
        select *, max(tried_at) over (partition by organization_id) as of_organization from source_purges
      ) s where ${raw(IS_DUE)} and source_id <> all(${skipped}::text[])
      order by of_organization nulls first, tried_at nulls first, requested_at limit 1
    ) next where p.source_id = next.source_id
    returning p.source_id`;
  return sourceId;
}

/** Removes one step of a deleted source. @returns null when there is nothing to do, or another process does it */
export async function purgeStep(pool: Pool, sourceId: string): Promise<PurgeStep | null> {
  const step = await EVENTS.step((size) => removeStep(pool, sourceId, size));
  if (step === null) return null;
  const { eventsRemoved, eventsRemovedNow, isEmpty, isLastLook } = step;
  const finished = isEmpty && isLastLook;
  // After a crash in between, the next step comes here again.
  if (isEmpty) {
    // Destinations keep their statistics.
    await sweep(pool, 'rollups', fragment`source_id = ${sourceId} and destination_id = ''`);
    if (finished) await sql(pool).run`delete from source_purges where source_id = ${sourceId}`;
    else await sql(pool).run`update source_purges set emptied_at = now() where source_id = ${sourceId}`;
  }
  return { sourceId, eventsRemoved, eventsRemovedNow, finished };
}

async function removeStep(
  pool: Pool,
  sourceId: string,
  size: number,
): Promise<(Purge & Pick<PurgeStep, 'eventsRemovedNow'> & { isEmpty: boolean }) | null> {
  return inTransaction(pool, async (db) => {
    const purge = await sql(db).first<Purge>`
      select events_removed, coalesce(emptied_at < now() - ${raw(LAST_LOOK)}, false) as is_last_look
      from source_purges where source_id = ${sourceId} and ${raw(IS_DUE)} for update skip locked`;
    if (!purge) return null;
    const removed = await removeEvents(db, sourceId, size);
    const isEmpty = removed < size && !(await removeKeys(db, sourceId, size * KEYS_PER_EVENT));
    const eventsRemoved = purge.eventsRemoved + removed;
    await sql(db).run`
      update source_purges set events_removed = ${eventsRemoved}, emptied_at = null where source_id = ${sourceId}`;
    return { ...purge, eventsRemoved, eventsRemovedNow: removed, isEmpty };
  });
}

async function removeEvents(db: Queryable, sourceId: string, most: number): Promise<number> {
  const ids = await sql(db).column`select id from events where source_id = ${sourceId} order by id limit ${most}`;
  if (ids.length === 0) return 0;
  await removeEventsChildren(db, ids);
  await sql(db).run`
    with gone as (
      delete from events where id = any(${ids}::text[]) and id between ${ids[0]} and ${ids.at(-1)}
      returning organization_id, source_id, received_at, payload_size
    ), ${raw(countRemoved('gone'))}
    select from gone`;
  return ids.length;
}

/** @returns whether there may be more */
async function removeKeys(db: Queryable, sourceId: string, most: number): Promise<boolean> {
  const removed = await sql(db).run`
    delete from idempotency_keys where source_id = ${sourceId} and key_hash in
      (select key_hash from idempotency_keys where source_id = ${sourceId} order by key_hash limit ${most})`;
  return removed === most;
}
