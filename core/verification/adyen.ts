// Adyen, "Verify HMAC signatures": each item of a standard webhook has the HMAC-SHA256 of eight of its values, with colons between, in
// base64. The rest of the item is not signed.
// https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures
import { createHash } from 'node:crypto';
import { compared, hmac, type Verification } from '../signatures/scheme.ts';
import { type Credentials, memberOf, type ProviderRequest, refused, untrustedJson, withoutBody } from './request.ts';

export interface AdyenScheme {
  kind: 'adyen';
}

// A webhook has one item, or a few from older interfaces.
const MAX_BODY_BYTES = 256 * 1024;
const MAX_ITEMS = 100;
const NOT_SIGNED = refused('The body has no notificationItems with an hmacSignature in each');

export const adyenProblem = (secret: string): string | null =>
  /^(?:[0-9a-f]{2}){16,128}$/i.test(secret) ? null : 'must be the HMAC key: 32 or more hex digits';

export function verifyAdyen({ secret }: Credentials, request: ProviderRequest): Verification {
  const items = memberOf(untrustedJson(request, MAX_BODY_BYTES), 'notificationItems');
  if (!Array.isArray(items) || items.length === 0 || items.length > MAX_ITEMS) return NOT_SIGNED;
  const macs = createHash('sha256');
  for (const each of items as unknown[]) {
    const item = memberOf(each, 'NotificationRequestItem');
    const signature = memberOf(memberOf(item, 'additionalData'), 'hmacSignature');
    const mac = adyenMac(secret, item);
    if (mac === null || typeof signature !== 'string') return NOT_SIGNED;
    const outcome = compared([signature], 'base64', mac);
    if (!outcome.valid) return withoutBody(outcome);
    macs.update(mac);
  }
  return { valid: true, mac: macs.digest() };
}

/** Null: a value is neither text nor a number. */
export function adyenMac(secret: string, item: unknown): Buffer | null {
  const amount = memberOf(item, 'amount');
  const of = (name: string) => memberOf(item, name);
  const values = [
    ...[of('pspReference'), of('originalReference'), of('merchantAccountCode'), of('merchantReference')],
    ...[memberOf(amount, 'value'), memberOf(amount, 'currency'), of('eventCode'), of('success')],
  ];
  const texts = values.map((value) => (typeof value === 'number' ? String(value) : (value ?? '')));
  if (!texts.every((text) => typeof text === 'string')) return null;
  return hmac('sha256', Buffer.from(secret, 'hex'), texts.join(':'));
}
