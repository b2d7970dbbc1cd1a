// One attempt of a delivery: admission, render, send, record. An ordinary function with explicit dependencies; the activity
// is a thin wrapper around it.
import type { Lane } from '../../core/lane.ts';
import type { AttemptOutcome, AttemptRequest } from '../types.ts';
import { admit, hasJustOpened, RELOAD, routeOf } from './admission.ts';
import type { AttemptDeps } from './deps.ts';
import { awaitEarlier, record } from './record.ts';
import { renderContent, renderRequest } from './render.ts';
import { ResultsFullError } from './results.ts';
import { now, send } from './send.ts';

export type { AttemptDeps } from './deps.ts';

/**
 * Makes one attempt and records it.
 * @param lane who makes it: the delivery's workflow, or the relay (then the delivery has no workflow yet)
 * @returns what it led to; an attempt that was made before is not sent again, whether it is recorded or not yet
 * @throws when our own side is away (the database, mostly): the attempt was not made
 */
export async function attemptDelivery(deps: AttemptDeps, request: AttemptRequest, lane: Lane): Promise<AttemptOutcome> {
  // Each turn loads the delivery. A turn that finds it changed while the attempt was prepared is followed by another.
  for (;;) {
    const earlier = await awaitEarlier(deps, request, lane);
    if (earlier === RELOAD) continue;
    if (earlier) return earlier;

    const admitted = await admit(deps, request, lane);
    if (admitted === RELOAD) continue;
    if ('status' in admitted) return admitted;

    const content = await renderContent(deps, admitted);
    if ('status' in content) return content;

    const route = await routeOf(deps, admitted.context);
    if (await hasJustOpened(deps, admitted.context, route)) continue;

    // Beyond this point there is an attempt, and its result must be kept, so nothing is asked of the database any more.
    if (deps.results.isFull()) throw new ResultsFullError();
    const startedAt = now();
    const outbound = await renderRequest(deps, request, { ...admitted, ...content }, startedAt.date);
    if ('status' in outbound) return outbound;
    const sent = await send(deps, admitted.destination, outbound, startedAt);
    return record(deps, request, lane, { context: admitted.context, route, outbound, ...sent });
  }
}
