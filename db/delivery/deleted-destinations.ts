// Cancels the remaining deliveries of deleted destinations. The request that deletes one cancels some of its open deliveries
// (delivery-commands.ts); the others that wait for a first attempt or for a circuit are cancelled here. One that waits for a
// retry is cancelled at its next attempt.
import { cancelDeliveries, DESTINATION_DELETED } from './delivery-commands.ts';
import type { Queryable } from '../connections/pool.ts';
import { heldRow, hops, outboxRow } from '../sql-rules.ts';
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

const QUEUED = `
with recursive ${hops('destination', 'outbox', 'destination_id')}, gone as (
  select id from destination d where id is not null and not exists (select from destinations t where t.id = d.id) limit 1
)
select ${COLUMNS} from gone g join outbox w on w.destination_id = g.id limit $1`;

// Held deliveries have no index by destination.
const HELD = `
select ${COLUMNS} from held_deliveries w
where ctid >= $2::tid and ctid < $3::tid and not exists (select from destinations t where t.id = w.destination_id) limit $1`;

async function waiting(db: Queryable, most: number): Promise<Waiting[]> {
  const { rows } = await db.query<Waiting>(QUEUED, [most]);
  let found = rows;
  if (found.length > 0) return found;
  const look = async ({ from, to }: Pages) => {
    found = (await db.query<Waiting>(HELD, [most, from, to])).rows;
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

/** Cancels one step of the deliveries that wait for a deleted destination. @returns null when there is none */
export async function cancelOfDeletedDestination(db: Queryable): Promise<Cancelled | null> {
  // Of all tries: what one has cancelled before it took too long stays cancelled.
  const destinationIds = new Set<string>();
  let cancelled = 0;
  const found = await CANCELLING.step(async (size) => {
    const rows = await waiting(db, size);
    for (const { destinationId } of rows) destinationIds.add(destinationId);
    for (const [organizationId, ofOne] of Map.groupBy(rows, (row) => row.organizationId)) {
      const deliveryIds = ofOne.map(({ deliveryId }) => deliveryId);
      const ended = await cancelDeliveries(db, { organizationId, deliveryIds, reason: DESTINATION_DELETED });
      cancelled += ended.length;
    }
    if (rows.length > 0) await unqueue(db, rows);
    return rows.length > 0;
  });
  return found || cancelled > 0 ? { destinationIds: [...destinationIds], cancelled } : null;
}

/** Removes rows without an open delivery, so that they are not found again. */
async function unqueue(db: Queryable, rows: Waiting[]): Promise<void> {
  const ids = rows.map(({ deliveryId }) => deliveryId);
  await db.query(
    `delete from outbox o using unnest($1::text[], $2::int[], $3::text[]) as gone(destination_id, priority, id)
     where ${outboxRow('gone')}`,
    [rows.map((row) => row.destinationId), rows.map(({ priority }) => priority), ids],
  );
  await db.query(
    `delete from held_deliveries h using unnest($1::text[], $2::text[], $3::text[]) as gone(route_id, destination_id, id)
     where ${heldRow('gone')}`,
    [rows.map(({ routeId }) => routeId), rows.map(({ destinationId }) => destinationId), ids],
  );
}
