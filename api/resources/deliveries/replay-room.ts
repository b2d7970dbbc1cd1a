// Room in the backlog for what a request replays. Replays count like webhooks, so they are refused like webhooks: by the limit
// `waitingDeliveries` of the organization, and by what all share.
// Rules: RPL-14, LIMIT-08, LIMIT-16.
import { waitingByEvent, type TakeRoom } from '../../../db/replay/replay.ts';
import { type ApiDeps, type Context, callerOf } from '../../request/context.ts';
import { limitExceeded, UNTIL_CHANGED_SECONDS } from '../../auth/limit-exceeded.ts';
import type { ApiError } from '../../request/errors.ts';

/** What is taken for the caller's organization. @returns a function that throws ApiError 429 or 503 when there is no room */
export function replayRoom(ctx: Context, { backlog }: Pick<ApiDeps, 'backlog'>): TakeRoom {
  const { id: organizationId, limits } = callerOf(ctx).organization;
  return (deliveries) => {
    const events = [...waitingByEvent(deliveries).values()];
    return backlog.takeRoomForReplay({ organizationId, limits }, events);
  };
}

/** How many deliveries an event may have that the caller replays. */
export const deliveriesPerEvent = (ctx: Context): number => callerOf(ctx).organization.limits.deliveriesPerEvent;

export function tooManyDeliveries(eventId: string, most: number): ApiError {
  const what = `The event ${eventId} leads to more than ${most} deliveries; nothing was replayed. Disable routes, or give destinationIds`;
  return limitExceeded('deliveriesPerEvent', what, UNTIL_CHANGED_SECONDS);
}
