// Relays as the database sees them, without processes.
import { ALL_POSITIONS } from '../../core/positions.ts';
import type { TakeOver } from '../../core/take-over-grace.ts';
import {
  givePositionsUp,
  type Lease,
  registerRelay,
  renewLease,
  takePositions,
} from '../../db/hot-path/relay-leases.ts';
import type { Pool } from '../../db/connections/pool.ts';
import type { Held } from '../../worker/shards.ts';

/** A relay that shares the positions with those that there are. */
export async function addRelay(pool: Pool, owner: string): Promise<void> {
  await registerRelay(pool, owner);
}

/** What a relay does again and again, with nothing in flight. @returns its lease afterwards; null when it was taken away */
export async function renewRelay(
  pool: Pool,
  owner: string,
  { session = null, takeOver = 'expired' }: { session?: string | null; takeOver?: TakeOver } = {},
): Promise<Lease | null> {
  const relay = { owner, session, takeOver, lane: 'workflow', version: '0.1.0' } as const;
  const lease = await renewLease(pool, relay);
  if (lease && !lease.isSettled) {
    await givePositionsUp(pool, owner, lease.kept, []);
    await takePositions(pool, owner, takeOver);
  }
  return renewLease(pool, relay);
}

/** A relay that is alone, whose lease does not end during a test. */
export async function aloneRelay(pool: Pool, owner: string): Promise<Held> {
  await shareOut(pool, [owner]);
  return { owner, positions: ALL_POSITIONS };
}

/** Relays that share all positions; their leases do not end during a test. */
export async function shareOut(pool: Pool, owners: string[]): Promise<Held[]> {
  await pool.query('delete from relay_leases');
  for (const owner of owners) await addRelay(pool, owner);
  const held: Held[] = [];
  for (const owner of owners) {
    const lease = await renewRelay(pool, owner);
    if (!lease?.isSettled) throw new Error(`${owner} has not got its share`);
    held.push({ owner, positions: lease.positions });
  }
  await pool.query(`update relay_leases set expires_at = now() + interval '1 hour'`);
  return held;
}
