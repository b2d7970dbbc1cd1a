// The transform of a delivery's route: what is sent instead of the received bytes.
// Rules: TFM-01, TFM-08.
import type { AttemptContext } from '../db/hot-path/load-attempts.ts';
import { type DescribedError, named, openError, ownWords } from '../core/error-summary.ts';
import type { ConfigCache } from './config-cache.ts';
import type { Transforms, TransformOutput, TransformProblem } from '../outbound/transforms/index.ts';

/** Headers and body of an event, as received or as transformed. */
export interface EventContent {
  headers: Record<string, string>;
  body: Buffer;
}

// Headers that describe the received bytes, and would be wrong for other bytes.
const OF_THE_BYTES: ReadonlySet<string> = new Set([
  'content-digest',
  'content-encoding',
  'content-language',
  'content-md5',
  'content-range',
  'content-type',
  'digest',
  'repr-digest',
]);

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
  const result = await deps.transforms.run(
    { ...transform, key: `${transform.id}:${transform.version}` },
    {
      id: context.eventId,
      source: received.sourceSlug,
      method: context.eventMethod ?? '',
      query: context.eventQuery ?? '',
      headers: received.headers,
      body: received.body,
      receivedAt: context.receivedAt ?? new Date(0),
    },
    { organizationId, group: transform.id },
  );
  if (!result.ok) return { problem: transformError(transform.name, result.problem) };
  return contentOf(received.headers, result.output);
}

function contentOf(received: Record<string, string>, output: TransformOutput): EventContent {
  const kept = Object.entries(received).filter(([name]) => !OF_THE_BYTES.has(name.toLowerCase()));
  return {
    headers: { ...Object.fromEntries(kept), 'Content-Type': output.contentType },
    body: Buffer.from(output.body.buffer, output.body.byteOffset, output.body.byteLength),
  };
}

/** Errors that a transform throws are written by the tenant's code, and may hold the event. */
export function transformError(transform: string, problem: TransformProblem): DescribedError {
  return {
    summary: ownWords`The transform ${named(transform)} failed; the API tells why`,
    detail: `The transform ${transform} failed: ${inWords(problem)}`,
  };
}

function inWords({ message, line, column }: TransformProblem): string {
  return line === null ? message : `${message} (line ${line}, column ${column})`;
}
