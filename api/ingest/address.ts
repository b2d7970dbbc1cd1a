// What follows the source in the address of a webhook.
// Rules: SRC-31, SRC-42, INGEST-25.
import { isIngestAddress, readBelow } from '../../core/ingest/ingest-token.ts';
import type { Received } from './received.ts';
import type { SourceRouting } from './routing.ts';

type Addressed = Pick<SourceRouting, 'tokens' | 'allowsPaths'>;

/** The path below a source, and below its token; empty without one. */
export function pathBelow({ tokens, allowsPaths }: Addressed, { below }: Pick<Received, 'below'>): string {
  return readBelow(below, tokens.rule, allowsPaths).path;
}

/** Why an address is none of the source; null when it is one. */
export function addressProblem(
  { tokens, allowsPaths }: Addressed,
  { below }: Pick<Received, 'below'>,
  nowMs: number,
): 'token' | 'path' | null {
  const { token, path } = readBelow(below, tokens.rule, allowsPaths);
  if (!isIngestAddress(tokens, token, nowMs)) return 'token';
  return path === '' || allowsPaths ? null : 'path';
}
