// How a service account proves itself to Google without fetching a token: with one it signs itself (AIP-4111, "Self-signed
// JWT", with scopes instead of an audience). One request less for each hour, and no other address to ask.
import { sign } from 'node:crypto';
import type { ServiceAccount } from '../../core/warehouse/config.ts';

const SCOPE = 'https://www.googleapis.com/auth/devstorage.read_write';
const LIFETIME_S = 3600;
// A new one well before the old one ends, so that none ends on its way.
const RENEW_S = 3000;

/** A token opens every bucket its account may use, so it goes to Google alone; emulators need none. */
function isTrustedWithTokens({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' && (hostname === 'googleapis.com' || hostname.endsWith('.googleapis.com'));
}

/** Makes a function that gives the headers which prove who asks to a request's address. */
export function selfSignedTokens(account: ServiceAccount): (url: URL) => Record<string, string> {
  let token = '';
  let signedAt = Number.NEGATIVE_INFINITY;
  return (url): Record<string, string> => {
    if (!isTrustedWithTokens(url)) return {};
    const now = Math.floor(Date.now() / 1000);
    // A clock that was set back makes a token of the future, which is refused.
    if (now - signedAt >= RENEW_S || now < signedAt) {
      token = signToken(account, now);
      signedAt = now;
    }
    return { authorization: `Bearer ${token}` };
  };
}

/** @param now seconds since 1970 */
function signToken({ clientEmail, privateKey, privateKeyId }: ServiceAccount, now: number): string {
  const header = { alg: 'RS256', typ: 'JWT', kid: privateKeyId };
  const claims = { iss: clientEmail, sub: clientEmail, scope: SCOPE, iat: now, exp: now + LIFETIME_S };
  const unsigned = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${unsigned}.${sign('RSA-SHA256', Buffer.from(unsigned), privateKey).toString('base64url')}`;
}
