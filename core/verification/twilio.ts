// Twilio, "Validating requests are coming from Twilio": the HMAC-SHA1 of the whole address and, of a form, all its fields sorted by
// name, each name and value without anything between. Of another body the address holds the hash: `bodySHA256`.
// https://www.twilio.com/docs/usage/security
import { createHash } from 'node:crypto';
import { compared, header, hmac, isSameSecret, type Verification } from '../signatures/scheme.ts';
import { type Credentials, headerOf, type ProviderRequest, refused } from './request.ts';

export interface TwilioScheme {
  kind: 'twilio';
  /** Of a provider that signs like Twilio (Mandrill). */
  header?: string;
  maxFormBytes?: number;
}

const FORM = 'application/x-www-form-urlencoded';
// Twilio's own requests have some twenty fields, one of which may hold JSON of add-ons; more are neither parsed nor sorted for a stranger.
const MAX_FORM_BYTES = 256 * 1024;
const MAX_FIELDS = 1000;

export const TWILIO_HEADER = 'X-Twilio-Signature';

export function verifyTwilio(
  { header: name = TWILIO_HEADER, maxFormBytes = MAX_FORM_BYTES }: TwilioScheme,
  { secret }: Credentials,
  request: ProviderRequest,
): Verification {
  const signature = headerOf(request, name);
  if (typeof signature !== 'string') return signature;
  const hash = request.query().get('bodySHA256');
  const isForm = header(request, 'content-type')?.toLowerCase().startsWith(FORM) === true;
  if (isForm && isTooMuch(request.body, maxFormBytes)) return refused('The form is larger than the provider sends');
  if (!isForm) {
    if (hash === null) return refused('The body is no form, and the address has no bodySHA256');
    const digest = createHash('sha256').update(request.body).digest('hex');
    if (!isSameSecret(hash.toLowerCase(), digest))
      return { ...refused('The body is not that of bodySHA256'), hashed: true };
  }
  return compared([signature], 'base64', macOf(secret, request.url(), isForm ? request.parsed(sortedFields) : ''));
}

/** @param form null when the body is no form */
export function twilioMac(secret: string, url: string, form: Buffer | null): Buffer {
  return macOf(secret, url, form === null ? '' : sortedFields(form));
}

const macOf = (secret: string, url: string, fields: string): Buffer => hmac('sha1', secret, url + fields);

// Before anything is parsed.
function isTooMuch(form: Buffer, maxBytes: number): boolean {
  if (form.length > maxBytes) return true;
  let fields = 1;
  for (let at = form.indexOf('&'); at !== -1; at = form.indexOf('&', at + 1)) fields += 1;
  return fields > MAX_FIELDS;
}

// As Twilio's libraries do it: of a repeated field each different value counts once, in order.
function sortedFields(form: Buffer): string {
  const values = new Map<string, Set<string>>();
  for (const [name, value] of new URLSearchParams(form.toString('utf8'))) {
    const known = values.get(name);
    if (known) known.add(value);
    else values.set(name, new Set([value]));
  }
  const sorted = [...values.keys()].sort();
  return sorted.flatMap((name) => [...(values.get(name) ?? [])].sort().map((value) => name + value)).join('');
}
