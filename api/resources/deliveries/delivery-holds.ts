// Why deliveries are held: by a pause, or by the circuit of their route (DLV-51).
import { isId } from '../../../core/text/ids.ts';
import { circuitStates } from '../../../db/circuits/circuits.ts';
import { type Pause, pausesOf } from '../../../db/circuits/pauses.ts';
import type { Queryable } from '../../../db/connections/pool.ts';
import type { DeliveryRecord } from '../../../db/history/deliveries.ts';

export interface Hold {
  reason: string;
  /** How it ends now. */
  advice: string;
}

const RELEASED: Hold = {
  reason: 'What was held is released in order, and its turn has not come',
  advice: 'it continues by itself',
};

/** Why each delivery that is held is, by its id. */
export async function holdsOf(
  db: Queryable,
  organizationId: string,
  deliveries: readonly DeliveryRecord[],
): Promise<Map<string, Hold>> {
  const held = deliveries.filter(({ status }) => status === 'circuit_open');
  if (held.length === 0) return new Map();
  const routeIds = [...new Set(held.flatMap(({ routeId }) => routeId ?? []))];
  const destinationIds = [...new Set(held.map(({ destinationId }) => destinationId))];
  const [pauses, states] = await Promise.all([
    pausesOf(db, organizationId, [...routeIds, ...destinationIds]),
    circuitStates(db, routeIds),
  ]);
  const holdOf = ({ routeId, destinationId, failoverOf }: DeliveryRecord): Hold => {
    const [ofRoute, ofDestination] = [pauses.get(routeId ?? ''), pauses.get(destinationId)];
    if (routeId !== null && ofRoute) return pausedHold('route', routeId, ofRoute);
    // The circuit counts for neither a failover nor a warehouse.
    const inCircuit = failoverOf === null && !isId('dst_wh', destinationId);
    if (routeId !== null && inCircuit && states.has(routeId)) return circuitHold(routeId);
    return ofDestination ? pausedHold('destination', destinationId, ofDestination) : RELEASED;
  };
  return new Map(held.map((delivery) => [delivery.id, holdOf(delivery)]));
}

function circuitHold(routeId: string): Hold {
  return {
    reason: 'The circuit of its route is open',
    advice: `it continues when that closes (POST /api/routes/${routeId}/reset-circuit closes it now)`,
  };
}

function pausedHold(kind: 'route' | 'destination', id: string, { since, until, reason }: Pause): Hold {
  const end = until === null ? '' : `, until ${until.toISOString()}`;
  const why = reason === null ? '' : `: ${reason}`;
  return {
    reason: `The ${kind} is paused since ${since.toISOString()}${end}${why}`,
    advice: `it continues when that is resumed (POST /api/${kind}s/${id}/resume)`,
  };
}
