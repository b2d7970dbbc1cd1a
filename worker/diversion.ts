// Handles new deliveries that the circuit of their route blocks, or a pause: they get no workflow, so a long outage costs rows
// instead of workflow histories.
import { electProbe } from '../db/circuits/circuits.ts';
import type { OutboxRow } from '../db/hot-path/claim.ts';
import { divertBlocked, oldestHeld } from '../db/circuits/held-deliveries.ts';
import type { Pool } from '../db/connections/pool.ts';

/**
 * Holds deliveries, or hands them to a failover destination if it is the circuit that blocks them. When a circuit is half-open and
 * nothing is held, the oldest of them is made the probe and stays in the outbox.
 */
export async function divertNew(pool: Pool, blocked: OutboxRow[]): Promise<void> {
  if (blocked.length === 0) return;
  const halfOpen = blocked.filter(({ blockedBy }) => blockedBy === 'half_open');
  for (const [routeId, waiting] of Map.groupBy(halfOpen, (row) => row.routeId)) {
    if (routeId === null) continue;
    const held = await oldestHeld(pool, routeId, { limit: 1 });
    const oldest = waiting.map((row) => row.deliveryId).toSorted()[0];
    if (held.length === 0 && oldest !== undefined) await electProbe(pool, routeId, oldest);
  }
  await divertBlocked(
    pool,
    blocked.map(({ deliveryId, routeId, destinationId, failoverOf }) => ({
      deliveryId,
      routeId,
      destinationId,
      inCircuit: failoverOf === null,
      hasWorkflow: false,
    })),
  );
}
