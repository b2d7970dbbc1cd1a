// How many deliveries of an organization have not ended, from the counts of the lists.
import { OPEN_STATUSES } from '../../../core/delivery-status.ts';
import { inSnapshot, type Pool } from '../../connections/pool.ts';
import { countStretches } from './page.ts';

/** Open deliveries: waiting for their first attempt, for the next one, or for a circuit. */
export function countOpenDeliveries(pool: Pool, organizationId: string): Promise<number> {
  return inSnapshot(pool, async (db) => {
    let total = 0;
    for (const status of OPEN_STATUSES) {
      const stretches = await countStretches(db, { kind: 'delivery', organizationId, where: { status } });
      for (const stretch of stretches) total += stretch.total;
    }
    return total;
  });
}
