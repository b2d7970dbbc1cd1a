// The unguessable part of an ingest address: `/ingest/<organization>/<source>/<token>`.
import { randomBytes } from 'node:crypto';
import { isSameSecret } from '../verification/scheme.ts';

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
