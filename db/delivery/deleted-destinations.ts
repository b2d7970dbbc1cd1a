// Cancels the remaining deliveries of deleted destinations. The request that deletes one cancels some of its open deliveries
// (delivery-commands.ts); the others that wait for a first attempt or for a circuit are cancelled here. One that waits for a
// retry is cancelled at its next attempt.
import { cancelDeliveries, DESTINATION_DELETED } from './delivery-commands.ts';
import { isOfRows } from '../connections/database-errors.ts';
import type { Queryable } from '../connections/pool.ts';
import { heldRow, queuedDestinations, unqueue } from '../sql-rules.ts';
import { type Pages, Stride, throughPages } from '../ranges.ts';

const CANCELLING = new Stride(500);
// Pages of what is held.
const LOOKING = new Stride(5000);

interface Waiting {
  deliveryId: string;
  organizationId: string;
  destinationId: string;
  routeId: string | null;
  priority: number;
}

const COLUMNS = `delivery_id as "deliveryId", w.organization_id as "organizationId", destination_id as "destinationId", route_id as "routeId", priority`;

// Any of them: so they take turns.
const QUEUED = `
with recursive ${queuedDestinations('destination')}, gone as (
  select organization_id, id from destination d
  where id <> all($2::text[]) and not exists (select from destinations t where t.id = d.id)
  order by random() limit 1
)
select ${COLUMNS} from gone g join outbox w on w.organization_id = g.organization_id and w.destination_id = g.id limit $1`;

// Held deliveries have no index by destination.
const HELD = `
select ${COLUMNS} from held_deliveries w
where ctid >= $2::tid and ctid < $3::tid and destination_id <> all($4::text[])
  and not exists (select from destinations t where t.id = w.destination_id) limit $1`;

async function waiting(db: Queryable, most: number, skipped: string[]): Promise<Waiting[]> {
  const { rows } = await db.query<Waiting>(QUEUED, [most, skipped]);
  let found = rows;
  if (found.length > 0) return found;
  const look = async ({ from, to }: Pages) => {
    found = (await db.query<Waiting>(HELD, [most, from, to, skipped])).rows;
    return found.length;
  };
  await throughPages(db, 'held_deliveries', LOOKING, look, (count) => count === 0);
  return found;
}

/** What a step has cancelled. */
export interface Cancelled {
  destinationIds: string[];
  cancelled: number;
}

/**
 * Cancels one step of the deliveries that wait for a deleted destination.
 * @param failed destinations that are left out; those whose deliveries cannot be cancelled now are added, with the error
 * @returns null when there is none
 * @throws a database error that does not come from the deliveries: the database is down, for example
 */
export async function cancelOfDeletedDestination(
  db: Queryable,
  failed: Map<string, unknown> = new Map(),
): Promise<Cancelled | null> {
  // Of all tries: what one has cancelled before it took too long stays cancelled.
  const destinationIds = new Set<string>();
  let cancelled = 0;
  let trying: Waiting[] = [];
  const step = async (size: number): Promise<boolean> => {
    const rows = await waiting(db, size, [...failed.keys()]);
    for (const { destinationId } of rows) destinationIds.add(destinationId);
    for (const [organizationId, ofOne] of Map.groupBy(rows, (row) => row.organizationId)) {
      trying = ofOne;
      const deliveryIds = ofOne.map(({ deliveryId }) => deliveryId);
      const ended = await cancelDeliveries(db, { organizationId, deliveryIds, reason: DESTINATION_DELETED });
      cancelled += ended.length;
    }
    trying = [];
    if (rows.length > 0) await forget(db, rows);
    return rows.length > 0;
  };
  try {
    const found = await CANCELLING.step(step);
    return found || cancelled > 0 ? { destinationIds: [...destinationIds], cancelled } : null;
  } catch (error) {
    if (trying.length === 0 || !isOfRows(error)) throw error;
    for (const { destinationId } of trying) failed.set(destinationId, error);
    return { destinationIds: [...destinationIds], cancelled };
  }
}

/** Removes rows without an open delivery, so that they are not found again. */
async function forget(db: Queryable, rows: Waiting[]): Promise<void> {
  const ids = rows.map(({ deliveryId }) => deliveryId);
  await db.query(
    unqueue(
      '(select * from unnest($1::text[], $2::text[], $3::int[], $4::text[]) as gone(organization_id, destination_id, priority, id))',
    ),
    [
      rows.map((row) => row.organizationId),
      rows.map((row) => row.destinationId),
      rows.map(({ priority }) => priority),
      ids,
    ],
  );
  await db.query(
    `delete from held_deliveries h using unnest($1::text[], $2::text[], $3::text[]) as gone(route_id, destination_id, id)
     where ${heldRow('gone')}`,
    [rows.map(({ routeId }) => routeId), rows.map(({ destinationId }) => destinationId), ids],
  );
}
