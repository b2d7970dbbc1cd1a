// Handles new deliveries that the circuit of their route blocks, or a pause: they get no workflow, so a long outage costs rows
// instead of workflow histories.
import { electProbe, loadCircuits } from '../../db/circuits/circuits.ts';
import type { OutboxRow } from '../../db/hot-path/claim.ts';
import { divertBlocked } from '../../db/circuits/held-deliveries.ts';
import { nextProbe, oldestOpen } from '../../db/circuits/probes.ts';
import { isLockTimeout } from '../../db/connections/database-errors.ts';
import type { Pool } from '../../db/connections/pool.ts';
import { actingFor, NoTurnError } from '../../db/connections/pool-turns.ts';
import { withShortLocks } from '../../db/connections/short-locks.ts';

/**
 * Holds deliveries, or hands them to a failover destination if it is the circuit that blocks them. When a circuit is half-open and
 * nothing that counts in it is held, the oldest of them that has not ended is made the probe.
 * Failure policy: what stays locked stays in the outbox, and a later round tries it again.
 * @param blocked of one organization: what it keeps locked holds up nobody else
 * @returns those to be started: the probe, what is no longer blocked, and what has ended
 */
export async function holdOrFailOver(pool: Pool, blocked: OutboxRow[]): Promise<OutboxRow[]> {
  const [first] = blocked;
  if (first === undefined) return [];
  try {
    return await actingFor(first.organizationId, () => divert(pool, blocked));
  } catch (error) {
    if (!isLockTimeout(error) && !(error instanceof NoTurnError)) throw error;
    return [];
  }
}

async function divert(pool: Pool, blocked: OutboxRow[]): Promise<OutboxRow[]> {
  const routes = await loadCircuits(pool, [...new Set(blocked.flatMap(({ routeId }) => routeId ?? []))]);
  // As an attempt finds out (db/hot-path/load-attempts.ts); the claim knows failovers only.
  const inCircuit = ({ routeId, destinationId, failoverOf }: OutboxRow) =>
    failoverOf === null && routes.get(routeId ?? '')?.destinationIds.includes(destinationId) === true;
  const halfOpen = blocked.filter((row) => row.blockedBy === 'half_open' && inCircuit(row));
  for (const [routeId, waiting] of Map.groupBy(halfOpen, (row) => row.routeId)) {
    if (routeId === null) continue;
    if ((await nextProbe(pool, routeId)) !== undefined) continue;
    const oldest = await oldestOpen(
      pool,
      waiting.map((row) => row.deliveryId),
    );
    if (oldest !== undefined) await withShortLocks(pool, (db) => electProbe(db, routeId, oldest));
  }
  const rows = blocked.map((row) => ({
    deliveryId: row.deliveryId,
    routeId: row.routeId,
    destinationId: row.destinationId,
    inCircuit: inCircuit(row),
    hasWorkflow: false,
  }));
  const diverted = await withShortLocks(pool, (db) => divertBlocked(db, rows));
  return blocked.filter(({ deliveryId }) => !diverted.has(deliveryId));
}
