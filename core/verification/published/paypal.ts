// PayPal, "Integrate webhooks", self-verification: the id and the time of the transmission, the id of the webhook, and the CRC-32 of the
// body, signed with the key of a certificate that PayPal serves. Others can make a body of the same CRC-32.
// https://developer.paypal.com/api/rest/webhooks/rest/
import { createHash, verify } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Verification } from '../../signatures/scheme.ts';
import { type Credentials, headerOf, type ProviderRequest, type Refused, refused, timeProblem } from '../request.ts';
import { certificateKey, type PublishedKeys } from './keys.ts';

export interface PaypalScheme {
  kind: 'paypal';
}

export const PAYPAL_HEADERS = [
  'PAYPAL-TRANSMISSION-ID',
  'PAYPAL-TRANSMISSION-TIME',
  'PAYPAL-TRANSMISSION-SIG',
  'PAYPAL-CERT-URL',
  'PAYPAL-AUTH-ALGO',
] as const;

const CERTIFICATE_URL =
  /^https:\/\/api(?:-m)?(?:\.sandbox)?\.paypal\.com\/v1\/notifications\/certs\/CERT-[0-9A-Za-z-]{1,128}$/;
const SIGNATURE = /^[A-Za-z0-9+/]{300,1400}={0,2}$/;
const ID = /^[\w-]{1,64}$/;
// PayPal sends a webhook that was not accepted again for three days, and does not say whether with another time.
const TOLERANCE_SECONDS = 3 * 86_400;

/** What is wrong with what the owner enters; null when nothing is. */
export const webhookIdProblem = (secret: string): string | null =>
  /^[0-9A-Za-z]{16,50}$/.test(secret) ? null : 'must be the id of the webhook: 16 or more letters and digits';

export async function verifyPaypal(
  _scheme: PaypalScheme,
  { secret: webhookId }: Credentials,
  request: ProviderRequest,
  keys: PublishedKeys,
): Promise<Verification> {
  const values = valuesOf(request);
  if (!Array.isArray(values)) return values;
  const [id = '', time = '', signature = '', url = '', algorithm] = values;
  const problem = timeProblem(time, { unit: 'rfc3339', toleranceSeconds: TOLERANCE_SECONDS }, request.nowMs);
  if (problem !== null) return problem;
  if (algorithm !== 'SHA256withRSA' || !ID.test(id) || !SIGNATURE.test(signature))
    return refused('The webhook is signed in a way that is not known');
  if (!CERTIFICATE_URL.test(url)) return refused('The certificate is not at an address of PayPal');
  const key = await certificateKey(keys, url, request.nowMs);
  if (key === null) return refused('There is no valid certificate at the address that the webhook names');
  const signed = Buffer.from(`${id}|${time}|${webhookId}|${crc32(request.body)}`);
  if (!verify('sha256', signed, key, Buffer.from(signature, 'base64')))
    return refused('The signature does not match the body and the id of the webhook');
  return { valid: true, mac: createHash('sha256').update(signed).digest() };
}

function valuesOf(request: ProviderRequest): string[] | Refused {
  const values: string[] = [];
  for (const name of PAYPAL_HEADERS) {
    const value = headerOf(request, name);
    if (typeof value !== 'string') return value;
    values.push(value);
  }
  return values;
}
