// Cancels the remaining deliveries of deleted destinations. The request that deletes one cancels some of its open deliveries
// (delivery-commands.ts); the others that wait for a first attempt or for a circuit are cancelled here. One that waits for a
// retry is cancelled at its next attempt.
import { cancelDeliveries, DESTINATION_DELETED } from './delivery-commands.ts';
import type { Queryable } from '../pool.ts';
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

/** Cancels one step of the deliveries that wait for a deleted destination. @returns null when there is none */
export function cancelOfDeletedDestination(
  db: Queryable,
): Promise<{ destinationIds: string[]; cancelled: number } | null> {
  return CANCELLING.step(async (size) => cancelThese(db, await waiting(db, size)));
}

async function cancelThese(
  db: Queryable,
  rows: Waiting[],
): Promise<{ destinationIds: string[]; cancelled: number } | null> {
  if (rows.length === 0) return null;
  let cancelled = 0;
  for (const [organizationId, ofOne] of Map.groupBy(rows, (row) => row.organizationId)) {
    const deliveryIds = ofOne.map(({ deliveryId }) => deliveryId);
    const ended = await cancelDeliveries(db, { organizationId, deliveryIds, reason: DESTINATION_DELETED });
    cancelled += ended.length;
  }
  // Rows without an open delivery are removed, so that they are not found again.
  const ids = rows.map(({ deliveryId }) => deliveryId);
  const destinationIds = [...new Set(rows.map(({ destinationId }) => destinationId))];
  await db.query(
    `delete from outbox o using unnest($1::text[], $2::int[], $3::text[]) as gone(destination_id, priority, id)
     where ${outboxRow('gone')}`,
    [rows.map((row) => row.destinationId), rows.map(({ priority }) => priority), ids],
  );
  await db.query(
    `delete from held_deliveries h using unnest($1::text[], $2::text[]) as gone(route_id, id)
     where ${heldRow('gone')}`,
    [rows.map(({ routeId }) => routeId), ids],
  );
  return { destinationIds, cancelled };
}
