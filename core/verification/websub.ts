// WebSub (PubSubHubbub before): the hub signs the body with an HMAC of its choice, and asks whether a subscription is the owner's.
// https://www.w3.org/TR/websub/, sections 5.3 and 7
import { createHmac } from 'node:crypto';
import { compared, isSameSecret, type Verification } from '../signatures/scheme.ts';
import { type Credentials, headerOf, type ProviderRequest, refused } from './request.ts';

export interface WebSubScheme {
  kind: 'websub';
}

export function verifyWebSub({ secret }: Credentials, request: ProviderRequest): Verification {
  const value = headerOf(request, 'X-Hub-Signature');
  if (typeof value !== 'string') return value;
  const [, method, signature = ''] = /^(sha1|sha256|sha384|sha512)=([0-9a-f]+)$/i.exec(value) ?? [];
  if (method === undefined) return refused('The header X-Hub-Signature names no method of WebSub');
  return compared([signature], 'hex', createHmac(method.toLowerCase(), secret).update(request.body).digest());
}

/**
 * The challenge of a hub that asks about a subscription which is the owner's: it has the verify token of the source
 * (`hub.verify_token`, of PubSubHubbub), or is of its topic. Null for every other one, and for its end: anyone can ask a hub to end
 * a subscription.
 * @param credentials verifyToken: the token, or the address of the topic
 */
export function subscriptionChallenge({ verifyToken }: Credentials, query: URLSearchParams): string | null {
  if (query.get('hub.mode') !== 'subscribe' || verifyToken === undefined) return null;
  const given = query.get(/^https?:/.test(verifyToken) ? 'hub.topic' : 'hub.verify_token');
  return given !== null && isSameSecret(given, verifyToken) ? query.get('hub.challenge') : null;
}
