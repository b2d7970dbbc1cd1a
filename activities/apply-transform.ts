// The transform of a delivery's route: what is sent instead of the received bytes.
// Rules: TFM-01, TFM-08.
import type { AttemptContext } from '../db/hot-path/load-attempts.ts';
import { type DescribedError, openError, ownWords } from '../core/error-summary.ts';
import { idTime } from '../core/ids.ts';
import type { ConfigCache } from './config-cache.ts';
import { type EventContent, transformContent } from '../outbound/transforms/content.ts';
import type { Transforms } from '../outbound/transforms/index.ts';

export type { EventContent };

/**
 * Runs the transform of the delivery's route on the event.
 * @returns the content to send; the received one when the route has no transform; or why there is none
 * @throws SandboxUnavailableError, NoTurnError, or what the database throws: the transform was not run then
 */
export async function applyTransform(
  deps: { configs: Pick<ConfigCache, 'transform'>; transforms: Transforms },
  context: AttemptContext,
  received: EventContent & { sourceSlug: string },
): Promise<EventContent | { problem: DescribedError }> {
  const { organizationId, transformId, transformVersion } = context;
  if (transformId === null) return received;
  const transform =
    transformVersion === null ? null : await deps.configs.transform(organizationId, transformId, transformVersion);
  if (transform === null) return { problem: openError(ownWords`The transform of the route was deleted`) };
  const turn = { organizationId, group: transform.id, since: idTime(context.deliveryId) };
  return transformContent(deps.transforms, transform, context, received, turn);
}
