// WebSub (PubSubHubbub before): the hub signs the body with an HMAC of its choice, and asks whether a subscription is the owner's.
// https://www.w3.org/TR/websub/, sections 5.3 and 7
import { createHmac } from 'node:crypto';
import { compared, isSameSecret, type Verification } from '../signatures/scheme.ts';
import { type Credentials, headerOf, type ProviderRequest, refused } from './request.ts';

export interface WebSubScheme {
  kind: 'websub';
}

export function verifyWebSub(_scheme: WebSubScheme, { secret }: Credentials, request: ProviderRequest): Verification {
  const value = headerOf(request, 'X-Hub-Signature');
  if (typeof value !== 'string') return value;
  const [, method, signature = ''] = /^(sha1|sha256|sha384|sha512)=([0-9a-f]+)$/i.exec(value) ?? [];
  if (method === undefined) return refused('The header X-Hub-Signature names no method of WebSub');
  return compared([signature], 'hex', createHmac(method.toLowerCase(), secret).update(request.body).digest());
}

export interface Subscription {
  challenge: string;
  /** For how long the hub sends; null: it does not say. */
  leaseSeconds: number | null;
}

const MAX_LEASE_SECONDS = 10 * 365 * 86_400;

/**
 * What a hub asks about a subscription that is the owner's: it has the verify token of the source (`hub.verify_token`), or is of its
 * topic. Null for every other one, and for its end: anyone can ask a hub to end a subscription.
 * @param credentials verifyToken: the token, or the address of the topic
 */
export function subscriptionOf({ verifyToken }: Credentials, query: URLSearchParams): Subscription | null {
  const [mode, challenge] = [query.get('hub.mode'), query.get('hub.challenge')];
  if (mode !== 'subscribe' || challenge === null || verifyToken === undefined) return null;
  const given = query.get(/^https?:/.test(verifyToken) ? 'hub.topic' : 'hub.verify_token');
  if (given === null || !isSameSecret(given, verifyToken)) return null;
  const lease = query.get('hub.lease_seconds') ?? '';
  const seconds = /^\d{1,10}$/.test(lease) ? Math.min(Number(lease), MAX_LEASE_SECONDS) : null;
  return { challenge, leaseSeconds: seconds };
}
