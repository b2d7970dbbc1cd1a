// The unguessable part of an ingest address: `/ingest/<organization>/<source>/<token>`.
// Rules: SRC-31, SRC-33.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Whether a source's address has a token: `optional` takes webhooks with and without, while a provider is moved to the new one. */
export const INGEST_TOKEN_RULES = ['none', 'optional', 'required'] as const;
export type IngestTokenRule = (typeof INGEST_TOKEN_RULES)[number];

/** 192 bits, as 32 characters that need no escaping in an address. */
const TOKEN_BYTES = 24;

export function newIngestToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** What a source asks of the address; a former token is valid until a time (ms since 1970). */
export interface IngestTokens {
  rule: IngestTokenRule;
  current: string | null;
  former: { token: string; untilMs: number } | null;
}

/** Whether an address is that of the source. @param given the token of the address; null without one */
export function isIngestAddress(tokens: IngestTokens, given: string | null, nowMs: number): boolean {
  if (given === null) return tokens.rule !== 'required';
  if (tokens.rule === 'none') return false;
  const isCurrent = tokens.current !== null && isSame(given, tokens.current);
  const { former } = tokens;
  const isFormer = former !== null && isSame(given, former.token) && nowMs < former.untilMs;
  return isCurrent || isFormer;
}

/** Compares in constant time, also texts of different lengths. */
function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
