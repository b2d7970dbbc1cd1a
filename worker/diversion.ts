// Handles new deliveries that the circuit of their route blocks, or a pause: they get no workflow, so a long outage costs rows
// instead of workflow histories.
import { electProbe } from '../db/circuits/circuits.ts';
import type { OutboxRow } from '../db/hot-path/claim.ts';
import { divertBlocked, nextProbe, oldestOpen } from '../db/circuits/held-deliveries.ts';
import type { Pool } from '../db/connections/pool.ts';

/**
 * Holds deliveries, or hands them to a failover destination if it is the circuit that blocks them. When a circuit is half-open and
 * nothing that counts in it is held, the oldest of them that has not ended is made the probe.
 * @returns those that stay in the outbox: the probe, what is no longer blocked, and what has ended
 */
export async function divertNew(pool: Pool, blocked: OutboxRow[]): Promise<OutboxRow[]> {
  if (blocked.length === 0) return [];
  const halfOpen = blocked.filter(({ blockedBy }) => blockedBy === 'half_open');
  for (const [routeId, waiting] of Map.groupBy(halfOpen, (row) => row.routeId)) {
    if (routeId === null) continue;
    if ((await nextProbe(pool, routeId)) !== undefined) continue;
    const oldest = await oldestOpen(
      pool,
      waiting.map((row) => row.deliveryId),
    );
    if (oldest !== undefined) await electProbe(pool, routeId, oldest);
  }
  const diverted = await divertBlocked(
    pool,
    blocked.map(({ deliveryId, routeId, destinationId, failoverOf }) => ({
      deliveryId,
      routeId,
      destinationId,
      inCircuit: failoverOf === null,
      hasWorkflow: false,
    })),
  );
  return blocked.filter(({ deliveryId }) => !diverted.has(deliveryId));
}
