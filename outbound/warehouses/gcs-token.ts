// How requests to Google prove who asks. A service account does not fetch a token: it signs one itself (AIP-4111, "Self-signed JWT", with
// scopes instead of an audience). One request less for each hour, and no other address to ask. The identity of this service (WH-42) gets
// its tokens by Google's own library, which asks the metadata server or what GOOGLE_APPLICATION_CREDENTIALS names, by its own transport.
import { sign } from 'node:crypto';
import type { ServiceAccount } from '../../core/warehouse/service-account.ts';
import type { Authorize } from './gcs-transport.ts';
import { IdentityError } from './store.ts';

const SCOPE = 'https://www.googleapis.com/auth/devstorage.read_write';
const LIFETIME_S = 3600;
// A new one well before the old one ends, so that none ends on its way.
const RENEW_S = 3000;

/** A token opens every bucket its account may use, so it goes to Google alone; emulators need none. */
function isTrustedWithTokens({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' && (hostname === 'googleapis.com' || hostname.endsWith('.googleapis.com'));
}

/** Proves a service account. */
export function selfSignedTokens(account: ServiceAccount): Authorize {
  let token = '';
  let signedAt = Number.NEGATIVE_INFINITY;
  return async (url): Promise<Record<string, string>> => {
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

/** Proves the identity of this service. The library keeps a token until it ends. */
export async function identityTokens(projectId: string): Promise<Authorize> {
  const { GoogleAuth } = await import('google-auth-library');
  // With the project, so that the library does not look for it by running programs.
  const auth = new GoogleAuth({ scopes: [SCOPE], projectId });
  return async (url): Promise<Record<string, string>> => {
    if (!isTrustedWithTokens(url)) return {};
    try {
      return { authorization: `Bearer ${await auth.getAccessToken()}` };
    } catch (error) {
      throw new IdentityError(error);
    }
  };
}

/** @param now seconds since 1970 */
function signToken({ clientEmail, privateKey, privateKeyId }: ServiceAccount, now: number): string {
  const header = { alg: 'RS256', typ: 'JWT', kid: privateKeyId };
  const claims = { iss: clientEmail, sub: clientEmail, scope: SCOPE, iat: now, exp: now + LIFETIME_S };
  const unsigned = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${unsigned}.${sign('RSA-SHA256', Buffer.from(unsigned), privateKey).toString('base64url')}`;
}
