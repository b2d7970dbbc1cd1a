// Refusals because of a limit of the organization (core/fairness/limits.ts).
// Rules: LIMIT-01, LIMIT-02, LIMIT-12.
import { countBeforeAdding, type LimitedRecords } from '../../db/organizations/record-counts.ts';
import type { EntityManager } from '../../db/orm.ts';
import { type ApiState, callerOf } from '../request/context.ts';
import { limitExceeded, UNTIL_CHANGED_SECONDS } from './limit-exceeded.ts';

const NAMES: Record<LimitedRecords, string> = {
  sources: 'sources',
  destinations: 'destinations',
  filters: 'filters',
  transforms: 'transforms',
  schemas: 'schemas',
  alertChannels: 'alert channels',
  apiKeys: 'API keys',
};

/**
 * Must run in the transaction that adds the records, before it does.
 * @param added how many
 * @throws ApiError 429 when the organization would have more than it may
 */
export async function requireRecordRoom(
  em: EntityManager,
  ctx: { state: ApiState },
  records: LimitedRecords,
  added = 1,
): Promise<void> {
  const { id, limits } = callerOf(ctx).organization;
  const most = limits[records];
  if (added === 0 || !Number.isFinite(most)) return;
  if ((await countBeforeAdding(em, id, records, most)) + added <= most) return;
  const what = `This organization may have ${most} ${NAMES[records]}, which ${added} more would exceed; delete some`;
  throw limitExceeded(records, what, UNTIL_CHANGED_SECONDS);
}

/** @param routes how many a source would have @throws ApiError 429 when they are more than a source may have */
export function requireRouteRoom(ctx: { state: ApiState }, routes: number): void {
  const most = callerOf(ctx).organization.limits.routesPerSource;
  if (routes <= most) return;
  const what = `A source may have ${most} routes, and this one would have ${routes}; delete some`;
  throw limitExceeded('routesPerSource', what, UNTIL_CHANGED_SECONDS);
}
