// The roll-ups of the ledger, at once.
import type { Pool } from '../../../db/connections/pool.ts';
import { mergeRollups, rollUp } from '../../../db/ledger/roll-up.ts';
import { until } from '../until.ts';
import { selectValue } from './sql.ts';

export async function rollUpAll(pool: Pool): Promise<void> {
  // Another one may be at it.
  await until('the ledger to be rolled up', async () => {
    while (await rollUp(pool));
    return selectValue<boolean>(pool)`select not exists (select from ledger_entries) as "isEmpty"`;
  });
}

const HOUR_MS = 3_600_000;
let hour = 0;

/** Merges old buckets, as housekeeping does once an hour. */
export async function mergeAll(pool: Pool): Promise<void> {
  hour += 1;
  while (await mergeRollups(pool, 20_000, Date.now() + hour * HOUR_MS));
}
