import { createHash, randomBytes } from 'node:crypto';

export function newToken(): string {
  return `whr_${randomBytes(32).toString('base64url')}`;
}

/** SHA-256 of a token: the only form of it in the table of API keys. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
