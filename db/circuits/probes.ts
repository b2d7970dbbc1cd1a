// Which delivery is to be the next probe of a circuit.
// Rules: CIRC-03.
import type { Queryable } from '../connections/pool.ts';
import { bounds } from '../parameters.ts';
import { OPEN } from '../sql-rules.ts';

// A disabled destination gets no attempt, and one whose rate limit has a minute's worth waiting may get none for longer than a probe has
// time. Deliveries to these are probes only when no other one is held: else each of them would keep the other destinations waiting.
// What is held for paused destinations is not under the route (held-deliveries.ts).
const NEXT = `
with later as materialized (
  select t.id from routes r join destinations t on t.id = any(r.destination_ids)
  where r.id = $1 and (not t.enabled or t.rate_limit_per_minute <= (
    select count(*) from (select from outbox o where o.organization_id = t.organization_id and o.destination_id = t.id limit t.rate_limit_per_minute) waiting))
)
(select delivery_id as id from held_deliveries
 where route_id = $1 and not outside_circuit and destination_id not in (select id from later) order by delivery_id limit 1)
union all
(select delivery_id from held_deliveries where route_id = $1 and not outside_circuit order by delivery_id limit 1)
limit 1`;

/** Of the held deliveries that count in the circuit, the one that waits the longest. The attempt of another would tell it nothing. */
export async function nextProbe(db: Queryable, routeId: string): Promise<string | undefined> {
  const { rows } = await db.query<{ id: string }>(NEXT, [routeId]);
  return rows[0]?.id;
}

/** The oldest of these deliveries that has not ended. */
export async function oldestOpen(db: Queryable, deliveryIds: string[]): Promise<string | undefined> {
  const { ids, low, high } = bounds(deliveryIds);
  const { rows } = await db.query<{ id: string }>(
    `select id from deliveries where id = any($1::text[]) and id between $2 and $3 and status in ${OPEN} order by id limit 1`,
    [ids, low, high],
  );
  return rows[0]?.id;
}
