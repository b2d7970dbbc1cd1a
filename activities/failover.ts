// Chooses the delivery that takes over from one whose destination does not take the event.
import { type FailedAttempt, type FailoverRule, failoverCandidates } from '../core/failover.ts';
import { newId, shardOf } from '../core/ids.ts';
import type { AttemptContext } from '../db/hot-path/load-attempts.ts';
import type { NewFailover } from '../db/hot-path/record-results.ts';
import type { Pool } from '../db/pool.ts';

/**
 * The failover delivery to create with the result of a failed attempt, or null when the delivery goes on as it is. A
 * destination that is disabled or deleted is passed over. Only failed attempts of routes with failover come here, so the
 * query is off the usual path.
 */
export async function chooseFailover(
  pool: Pool,
  rule: FailoverRule,
  context: AttemptContext,
  failed: Omit<FailedAttempt, 'destinationId'> & { error: string },
): Promise<NewFailover | null> {
  const candidates = failoverCandidates(rule, { ...failed, destinationId: context.destinationId });
  const destinationId = await firstEnabled(pool, context.organizationId, candidates);
  return destinationId === null ? null : newFailover(context, destinationId, failed.error);
}

/** The first of these destinations that may be delivered to. */
export async function firstEnabled(
  pool: Pool,
  organizationId: string,
  destinationIds: string[],
): Promise<string | null> {
  if (destinationIds.length === 0) return null;
  const { rows } = await pool.query<{ id: string }>(
    `select id from destinations where organization_id = $1 and id = any($2::text[]) and enabled
     order by array_position($2::text[], id) limit 1`,
    [organizationId, destinationIds],
  );
  return rows[0]?.id ?? null;
}

/** The delivery to a failover destination that takes over from one that failed. */
export function newFailover(
  from: Pick<AttemptContext, 'destinationId' | 'originalDestinationId'>,
  destinationId: string,
  reason: string,
): NewFailover {
  const deliveryId = newId('dlv');
  return {
    deliveryId,
    destinationId,
    shard: shardOf(deliveryId),
    originalDestinationId: from.originalDestinationId ?? from.destinationId,
    reason,
  };
}

/**
 * Where deliveries go whose destination has finally failed: for each the first failover destination of its route that may be
 * delivered to, or null.
 */
export async function failoverTargets(
  pool: Pool,
  { organizationId, destinationId }: { organizationId: string; destinationId: string },
  routeIds: string[],
): Promise<Map<string, string | null>> {
  const { rows } = await pool.query<{ id: string } & FailoverRule>(
    `select id, failover_destination_ids as "failoverDestinationIds", failover_after_attempts as "failoverAfterAttempts"
     from routes where organization_id = $1 and id = any($2::text[])`,
    [organizationId, routeIds],
  );
  const targets = new Map<string, string | null>();
  for (const rule of rows) {
    const candidates = failoverCandidates(rule, { destinationId, attempt: 1, exhausted: true });
    targets.set(rule.id, await firstEnabled(pool, organizationId, candidates));
  }
  return targets;
}
