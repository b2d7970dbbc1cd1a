// Which organizations are suspended, as every attempt and claim asks: kept in memory and read again each second, so that neither of
// them costs a round trip.
import type { Log } from '../core/log.ts';
import { causeOf } from '../core/log-cause.ts';
import { throttled } from '../core/throttled-log.ts';
import { suspendedOrganizations } from '../db/organizations/suspension.ts';
import type { Pool } from '../db/connections/pool.ts';
import { watch } from './watch.ts';

const LOOK_EVERY_MS = 1000;

export interface Suspensions {
  has(organizationId: string): boolean;
  ids(): string[];
  stop(): Promise<void>;
}

/**
 * Resolves after the first look.
 * Failure policy: while the database is away, the last answer stays valid; nothing can be claimed then.
 * @param onResumed called when an organization is no longer suspended
 */
export async function watchSuspensions(
  { pool, log }: { pool: Pool; log: Log },
  onResumed: () => void,
): Promise<Suspensions> {
  let suspended = new Set(await suspendedOrganizations(pool));
  const loop = watch(
    async () => {
      const before = suspended;
      suspended = new Set(await suspendedOrganizations(pool));
      const began = [...suspended].filter((id) => !before.has(id));
      const ended = [...before].filter((id) => !suspended.has(id));
      if (began.length > 0) log.info({ organizationIds: began }, 'organizations are suspended: deliveries wait');
      if (ended.length > 0) {
        log.info({ organizationIds: ended }, 'organizations are no longer suspended: deliveries continue');
        onResumed();
      }
      return false;
    },
    {
      everyMs: LOOK_EVERY_MS,
      onError: (error) =>
        throttled(log).warn({ cause: causeOf(error) }, 'suspended organizations cannot be read: as they were'),
    },
  );
  return { has: (id) => suspended.has(id), ids: () => [...suspended], stop: () => loop.stop() };
}
