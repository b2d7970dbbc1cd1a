// A path below the address of a source: `/ingest/<organization>/<source>[/<token>]/any/path`. It may be added to the
// address of a destination, so nothing is taken that a server behind it may read as a step up, or as another number of
// steps.
import { randomBytes } from 'node:crypto';
import { isSameSecret } from '../verification/scheme.ts';

export const MAX_PATH_LENGTH = 1024;

/**
 * What is wrong with a path, as the end of a sentence; null when nothing is.
 * @param path as received, with its first slash; empty: none
 */
export function pathProblem(path: string): string | null {
  if (path.length > MAX_PATH_LENGTH) return `must be at most ${MAX_PATH_LENGTH} characters long`;
  const segments = path.split('/').slice(1);
  // The last one may be empty: the path ends in a slash.
  if (segments.slice(0, -1).includes('')) return 'must not contain consecutive slashes';
  for (const segment of segments) {
    const problem = segmentProblem(segment);
    if (problem !== null) return problem;
  }
  // Node refuses such a request, but not who names a path in a test: it travels byte by byte.
  return isReceivable(path) && !path.includes('?')
    ? null
    : 'must percent-encode ?, # and all characters other than visible ASCII';
}

/** Whether a text can be part of the address of a request as it is (RFC 9112, section 3.2, and what Node takes). */
export const isReceivable = (text: string): boolean => /^[\x21\x22\x24-\x7e]*$/.test(text);

const NO_ESCAPE = 'must contain % only as part of percent-encoded UTF-8';

// Behind a proxy that decodes, another one may decode again: each reading counts. The first one must be exact; a later
// one may be that of a server which leaves a % alone that begins no escape.
function segmentProblem(segment: string): string | null {
  if (/%(?![0-9a-f]{2})/i.test(segment)) return NO_ESCAPE;
  for (let text = segment; ; ) {
    const problem = readingProblem(text);
    if (problem !== null) return problem;
    const next = decoded(text);
    if (next === null) return NO_ESCAPE;
    if (next === text) return null;
    text = next;
  }
}

function readingProblem(text: string): string | null {
  // Some servers take a full-width slash or dot for the plain one.
  const plain = text.normalize('NFKC');
  if (/[/\\]/.test(plain)) return 'must not contain an encoded slash or a backslash';
  if (/\p{Cc}/u.test(plain)) return 'must not contain control characters';
  // Tomcat cuts a segment off at its semicolon, Windows drops spaces.
  if (/^\s*\.{1,2}\s*(?:;|$)/.test(plain)) return 'must not contain the segments . or ..';
  return null;
}

// `%u002f` is a slash to servers of Microsoft.
const ESCAPES = /%u([0-9a-f]{4})|(?:%[0-9a-f]{2})+/gi;

/** With all its escapes decoded, and everything else as it is; null when some stand for bytes that are no UTF-8. */
function decoded(text: string): string | null {
  try {
    return text.replaceAll(ESCAPES, (escapes, unit?: string) =>
      unit === undefined ? decodeURIComponent(escapes) : String.fromCharCode(Number.parseInt(unit, 16)),
    );
  } catch {
    return null;
  }
}

// The unguessable part of an ingest address: `/ingest/<organization>/<source>/<token>`.

/**
 * Whether a source's address has a token: `optional` takes webhooks with and without, while a provider is moved to the
 * new one.
 */
export const INGEST_TOKEN_RULES = ['none', 'optional', 'required'] as const;
export type IngestTokenRule = (typeof INGEST_TOKEN_RULES)[number];

/** 192 bits, as 32 characters that need no escaping in an address. */
const TOKEN_BYTES = 24;

export function newIngestToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

const TOKEN_FORM = /^[A-Za-z0-9_-]{32}$/;

/**
 * What follows the source in an address: its token, and a path below. Where a token may be left out, a part that looks
 * like one is one: else a token that is not valid any more would be taken for a path, stored and passed on.
 * @param below as received, with its first slash; empty: nothing
 */
export function readBelow(
  below: string,
  rule: IngestTokenRule,
  allowsPaths: boolean,
): { token: string | null; path: string } {
  const [, first = '', path = ''] = /^\/([^/]*)(.*)$/s.exec(below) ?? [];
  const isToken = rule === 'required' || (rule === 'optional' && (!allowsPaths || TOKEN_FORM.test(first)));
  return below !== '' && isToken ? { token: first, path } : { token: null, path: below };
}

/** What a source asks of the address; the token before is valid until a time (ms since 1970). */
export interface IngestTokens {
  rule: IngestTokenRule;
  current: string | null;
  previous: { token: string; untilMs: number } | null;
}

/** Whether an address is that of the source. @param given the token of the address; null without one */
export function isIngestAddress(tokens: IngestTokens, given: string | null, nowMs: number): boolean {
  if (given === null) return tokens.rule !== 'required';
  if (tokens.rule === 'none') return false;
  const isCurrent = tokens.current !== null && isSameSecret(given, tokens.current);
  const { previous } = tokens;
  const isPrevious = previous !== null && isSameSecret(given, previous.token) && nowMs < previous.untilMs;
  return isCurrent || isPrevious;
}
