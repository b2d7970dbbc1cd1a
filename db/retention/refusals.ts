// Removes refused webhooks and their counts when their days have passed.
import { idFloor } from '../../core/text/ids.ts';
import { REFUSAL_DAYS } from '../../core/ingest/refusal.ts';
import { databaseTime } from '../clock.ts';
import type { Queryable } from '../connections/pool.ts';
import { Stride } from '../ranges.ts';
import { DAY_MS } from './partitions.ts';

// Rows that one statement removes, at most.
const FORGETTING = new Stride(5000);

// Rows that an API process is writing or removing at this moment are skipped.
const WEBHOOKS = `
delete from refused_webhooks where id in
  (select id from refused_webhooks where id < $1 order by id limit $2 for update skip locked)`;
const COUNTS = `
delete from refusal_counts where (source_id, hour, cause, limit_name) in
  (select source_id, hour, cause, limit_name from refusal_counts where hour < $1 order by hour limit $2
   for update skip locked)`;

/**
 * Removes one step of each.
 * @param payloadDays how many days payloads are kept; null: for ever. Refusals are not kept longer than REFUSAL_DAYS
 * @returns true when there may be more
 */
export async function forgetRefusals(db: Queryable, payloadDays: number | null): Promise<boolean> {
  const today = Math.floor((await databaseTime(db)) / DAY_MS);
  const first = (today - Math.min(payloadDays ?? REFUSAL_DAYS, REFUSAL_DAYS)) * DAY_MS;
  const webhooks = await forget(db, WEBHOOKS, idFloor('ref', first));
  const counts = await forget(db, COUNTS, new Date(first));
  return webhooks || counts;
}

function forget(db: Queryable, statement: string, before: string | Date): Promise<boolean> {
  return FORGETTING.step(async (size) => {
    const { rowCount } = await db.query(statement, [before, size]);
    return rowCount === size;
  });
}
