// What a transform makes of an event: the headers and the body that are sent instead of the received ones.
import { type DescribedError, named, ownWords } from '../../core/text/error-summary.ts';
import { type HeaderBytes, headerTexts } from '../../core/http/headers.ts';
import type { Threads } from '../threads/index.ts';
import type { TransformCode, TransformFailure, TransformOutput, TransformProblem } from './language.ts';

/** Headers and body of an event, as received or as transformed. */
export interface EventContent {
  headers: HeaderBytes;
  body: Buffer;
}

export interface StoredTransform extends Omit<TransformCode, 'key'> {
  id: string;
  version: number;
  name: string;
}

export interface TransformRefusal {
  problem: DescribedError;
  reason: TransformFailure;
}

/** What else a transform is told of an event; null: not known any more. */
export interface EventFacts {
  eventId: string;
  eventMethod: string | null;
  eventPath: string | null;
  eventQuery: string | null;
  receivedAt: Date | null;
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
 * @returns the content to send, or why there is none
 * @throws NoThreadError, NoTurnError: the transform was not run then
 */
export async function transformContent(
  threads: Pick<Threads, 'runTransform'>,
  transform: StoredTransform,
  { eventId: id, eventMethod, eventPath, eventQuery, receivedAt }: EventFacts,
  { sourceSlug: source, headers, body }: EventContent & { sourceSlug: string },
  organizationId: string,
): Promise<EventContent | TransformRefusal> {
  const result = await threads.runTransform(
    { ...transform, key: `${transform.id}:${transform.version}` },
    {
      id,
      source,
      method: eventMethod ?? '',
      path: eventPath ?? '',
      query: eventQuery ?? '',
      headers: headerTexts(headers),
      body,
      receivedAt: receivedAt ?? new Date(0),
    },
    organizationId,
  );
  if (!result.ok) return { problem: transformError(transform.name, result.problem), reason: result.problem.reason };
  return contentOf(headers, result.output);
}

function contentOf(received: HeaderBytes, output: TransformOutput): EventContent {
  const kept = Object.entries(received).filter(([name]) => !OF_THE_BYTES.has(name.toLowerCase()));
  return {
    headers: { ...Object.fromEntries(kept), 'Content-Type': output.contentType },
    body: Buffer.from(output.body.buffer, output.body.byteOffset, output.body.byteLength),
  };
}

/** Errors that a transform throws are written by the tenant's code, and may hold the event. */
export function transformError(transform: string, problem: TransformProblem): DescribedError {
  return {
    summary: ownWords`The transform ${named(transform)} failed; see the details in the API`,
    detail: `The transform ${transform} failed: ${inWords(problem)}`,
  };
}

function inWords({ message, line, column }: TransformProblem): string {
  return line === null ? message : `${message} (line ${line}, column ${column})`;
}
