// The transform of a delivery's route, in the version of the delivery: what is sent instead of the received bytes.
// Rules: TFM-01, TFM-08.
import type { AttemptContext } from '../db/hot-path/load-attempts.ts';
import { type DescribedError, openError, ownWords } from '../core/text/error-summary.ts';
import { type IssueSink, issueSubjects } from '../core/messages/issues.ts';
import type { ConfigCache, RouteConfig } from './config-cache.ts';
import { type EventContent, transformContent } from '../outbound/transforms/content.ts';
import type { Transforms } from '../outbound/transforms/index.ts';
import type { TransformFailure } from '../outbound/transforms/types.ts';

export type { EventContent };

// The causes of issues (docs/issues.md).
const CAUSES: Record<TransformFailure | 'deleted', string> = {
  code: 'EXCEPTION',
  time: 'TIMEOUT',
  memory: 'OUT_OF_MEMORY',
  output: 'OUTPUT_TOO_LARGE',
  nothing: 'NO_OUTPUT',
  deleted: 'DELETED',
};

interface TransformDeps {
  configs: Pick<ConfigCache, 'transform'>;
  transforms: Transforms;
  issues: IssueSink;
}

type Problem = { problem: DescribedError; reason: TransformFailure | 'deleted' };

/**
 * Runs the transform of the delivery's route on the event.
 * @param route as `routeOf` finds it
 * @returns the content to send; the received one when the route has no transform; or why there is none
 * @throws SandboxUnavailableError, NoTurnError, or what the database throws: the transform was not run then
 */
export async function applyTransform(
  deps: TransformDeps,
  context: AttemptContext,
  route: Pick<RouteConfig, 'transformId'> | null,
  received: EventContent & { sourceSlug: string },
): Promise<EventContent | { problem: DescribedError }> {
  if (route === null || route.transformId === null) return received;
  const content = await transformed(deps, context, route.transformId, received);
  const { organizationId, routeId, eventId, deliveryId } = context;
  const subject = issueSubjects.transform(organizationId, routeId);
  if ('problem' in content) {
    const cause = CAUSES[content.reason];
    deps.issues.failed(subject, { cause, at: Date.now(), isFinal: true, eventId, deliveryId });
  } else deps.issues.worked(subject);
  return content;
}

async function transformed(
  deps: TransformDeps,
  context: AttemptContext,
  transformId: string,
  received: EventContent & { sourceSlug: string },
): Promise<EventContent | Problem> {
  const { organizationId, transformVersion } = context;
  const transform =
    transformVersion === null ? null : await deps.configs.transform(organizationId, transformId, transformVersion);
  if (transform === null) {
    const gone = ownWords`The transform was changed or deleted, and the version that the delivery was made by is not kept any more`;
    return { problem: openError(gone), reason: 'deleted' };
  }
  return transformContent(deps.transforms, transform, context, received, organizationId);
}
