// Handles new deliveries that the circuit of their route blocks, or a pause: they get no workflow, so a long outage costs rows
// instead of workflow histories.
import { electProbe } from '../db/circuits/circuits.ts';
import type { OutboxRow } from '../db/hot-path/claim.ts';
import { divertBlocked, oldestHeld } from '../db/circuits/held-deliveries.ts';
import { isLockTimeout } from '../db/connections/database-errors.ts';
import type { Pool } from '../db/connections/pool.ts';
import { actingFor, NoTurnError } from '../db/connections/pool-turns.ts';
import { withShortLocks } from '../db/connections/short-locks.ts';

/**
 * Holds deliveries, or hands them to a failover destination if it is the circuit that blocks them. When a circuit is half-open and
 * nothing is held, the oldest of them is made the probe and stays in the outbox.
 */
async function divertNew(pool: Pool, blocked: OutboxRow[]): Promise<void> {
  const halfOpen = blocked.filter(({ blockedBy }) => blockedBy === 'half_open');
  for (const [routeId, waiting] of Map.groupBy(halfOpen, (row) => row.routeId)) {
    if (routeId === null) continue;
    const held = await oldestHeld(pool, routeId, { limit: 1 });
    const oldest = waiting.map((row) => row.deliveryId).toSorted()[0];
    if (held.length > 0 || oldest === undefined) continue;
    await withShortLocks(pool, (db) => electProbe(db, routeId, oldest));
  }
  const rows = blocked.map(({ deliveryId, routeId, destinationId, failoverOf }) => ({
    deliveryId,
    routeId,
    destinationId,
    inCircuit: failoverOf === null,
    hasWorkflow: false,
  }));
  await withShortLocks(pool, (db) => divertBlocked(db, rows));
}

/**
 * The same by organization: what one of them keeps locked holds up nobody else.
 * Failure policy: what stays locked stays in the outbox, and a later round tries it again.
 */
export function divertByOrganization(
  pool: Pool,
  blocked: OutboxRow[],
  done: (rows: OutboxRow[]) => void,
): Promise<void>[] {
  return [...Map.groupBy(blocked, ({ organizationId }) => organizationId)].map(async ([organizationId, rows]) => {
    try {
      await actingFor(organizationId, () => divertNew(pool, rows));
    } catch (error) {
      if (!isLockTimeout(error) && !(error instanceof NoTurnError)) throw error;
    } finally {
      done(rows);
    }
  });
}
