// The transform of a delivery's route: what is sent instead of the received bytes.
// Rules: TFM-01, TFM-08.
import type { AttemptContext } from '../db/hot-path/load-attempts.ts';
import { type DescribedError, openError, ownWords } from '../core/error-summary.ts';
import { idTime } from '../core/ids.ts';
import { type IssueSink, issueSubjects } from '../core/issues.ts';
import type { ConfigCache } from './config-cache.ts';
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
 * @returns the content to send; the received one when the route has no transform; or why there is none
 * @throws SandboxUnavailableError, NoTurnError, or what the database throws: the transform was not run then
 */
export async function applyTransform(
  deps: TransformDeps,
  context: AttemptContext,
  received: EventContent & { sourceSlug: string },
): Promise<EventContent | { problem: DescribedError }> {
  if (context.transformId === null) return received;
  const content = await transformed(deps, context, context.transformId, received);
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
    return { problem: openError(ownWords`The transform of the route was deleted`), reason: 'deleted' };
  }
  const turn = { organizationId, group: transform.id, since: idTime(context.deliveryId) };
  return transformContent(deps.transforms, transform, context, received, turn);
}
