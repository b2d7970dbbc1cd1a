// Senders whose signature in a header covers what no template can say.
import { createHash, createHmac } from 'node:crypto';
import {
  FORM,
  header,
  headerOf,
  hmac,
  isSameSecret,
  type RawRequest,
  refuse,
  requireMac,
  requireTime,
  type SchemeKind,
  signedHeader,
  timeText,
} from './scheme.ts';

interface TwilioScheme {
  kind: 'twilio';
  header?: string;
  maxFormBytes?: number;
}

// Twilio's own requests have some twenty fields, one of which may hold JSON of add-ons; more are neither parsed nor
// sorted for a stranger.
const MAX_FORM_BYTES = 256 * 1024;
const MAX_FIELDS = 1000;

const TWILIO_HEADER = 'X-Twilio-Signature';

/**
 * Twilio, "Validating requests are coming from Twilio": the HMAC-SHA1 of the whole address and, of a form, all its
 * fields sorted by name, each name and value without anything between. Of another body the address holds the hash:
 * `bodySHA256`.
 * https://www.twilio.com/docs/usage/security
 */
export const twilioKind: SchemeKind<TwilioScheme> = {
  verify({ header: name = TWILIO_HEADER, maxFormBytes = MAX_FORM_BYTES }, { secret }, request) {
    const signature = headerOf(request, name);
    const hash = request.query().get('bodySHA256');
    const isForm = header(request, 'content-type')?.toLowerCase().startsWith(FORM) === true;
    if (isForm && isTooMuch(request.body, maxFormBytes))
      refuse('The form is larger than any form that the provider sends');
    if (!isForm) {
      if (hash === null) return refuse('The body is not a form, and the URL has no bodySHA256 parameter');
      const digest = createHash('sha256').update(request.body).digest('hex');
      if (!isSameSecret(hash.toLowerCase(), digest)) refuse('The body does not match bodySHA256', true);
    }
    const fields = isForm ? request.parsed(sortedFields) : '';
    return requireMac([signature], 'base64', hmac('sha1', secret, request.url() + fields));
  },
  sign({ header: name = TWILIO_HEADER }, secret, { url, body, contentType }) {
    const fields = contentType.startsWith(FORM) ? sortedFields(body) : '';
    return { headers: { [name]: hmac('sha1', secret, url + fields).toString('base64') } };
  },
  secretHeaders: ({ header: name = TWILIO_HEADER }) => [name],
};

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

const MAX_HEADERS = 16;
const NAMES = /^[a-z0-9-]{1,64}(?: [a-z0-9-]{1,64})*$/;

/**
 * Hook0, which Coinbase sends with: a header with a time (`t`), the names of some headers (`h`) and the HMAC-SHA256
 * (`v1`) of the time, these names, their values and the body, with full stops between. Beside it stands `v0`, which
 * leaves the headers out, so that anyone who has captured a webhook could send it again with another id: it is not
 * looked at.
 * https://docs.cdp.coinbase.com/webhooks/verify-signatures
 */
export const hook0Kind: SchemeKind<{ kind: 'hook0'; header: string; toleranceSeconds: number }> = {
  verify(scheme, { secret }, request) {
    const parts = partsOf(headerOf(request, scheme.header));
    const [time, names, signature] = ['t', 'h', 'v1'].map((name) => parts.get(name) ?? '') as [string, string, string];
    if (signature === '' || !NAMES.test(names))
      refuse(`The ${scheme.header} header lacks a v1 signature or the names of the signed headers`);
    requireTime(time, { unit: 's', toleranceSeconds: scheme.toleranceSeconds }, request.nowMs);
    const values = valuesOf(request, names.split(' '));
    return requireMac([signature], 'hex', hook0Mac(secret, time, names, values, request.body));
  },
  sign(scheme, secret, { nowMs, contentType, body }) {
    // It signs its content type, as it is sent.
    const signed = { time: timeText(nowMs, 's'), headers: { 'content-type': contentType }, body };
    return { headers: { [scheme.header]: hook0Signature(secret, signed) } };
  },
  secretHeaders: (scheme) => [scheme.header],
};

/** As the header of the signature has it. @param headers that are signed, by their names in lower case */
export function hook0Signature(
  secret: string,
  { time, headers, body }: { time: string; headers: Record<string, string>; body: Buffer },
): string {
  const names = Object.keys(headers).join(' ');
  return `t=${time},h=${names},v1=${hook0Mac(secret, time, names, Object.values(headers), body).toString('hex')}`;
}

function hook0Mac(secret: string, time: string, names: string, values: (string | Buffer)[], body: Buffer): Buffer {
  const signed = [time, names, ...values].flatMap((part) => [part, '.']);
  return hmac('sha256', secret, ...signed, body);
}

/** Of a part that comes twice none counts. */
function partsOf(value: string): Map<string, string> {
  const parts = new Map<string, string>();
  for (const item of value.split(',')) {
    const [name = '', text = ''] = /^([^=]*)=(.*)$/s.exec(item.trim())?.slice(1) ?? [];
    parts.set(name, parts.has(name) ? '' : text);
  }
  return parts;
}

// A full stop may stand in a value, too. So that nobody moves the beginning of the body into the last value, or the end
// of that into the body: JSON begins with a bracket, and no value holds one.
const BRACKET = /[{[]/;

function valuesOf(request: RawRequest, names: string[]): Buffer[] {
  if (names.length > MAX_HEADERS) refuse('The signature names more headers than the provider signs');
  const isJson = /^application\/json\b/i.test(header(request, 'content-type') ?? '');
  if (isJson && !BRACKET.test(request.body.subarray(0, 1).toString('latin1')))
    refuse('The body is not a JSON object or array');
  return names.map((name) => {
    const value = header(request, name);
    if (value === undefined || request.isRepeated(name))
      return refuse(`The signed ${name} header must be present exactly once`);
    if (BRACKET.test(value)) refuse(`The signed ${name} header contains { or [`);
    return signedHeader(request, name);
  });
}

const WEBSUB_HEADER = 'X-Hub-Signature';

/**
 * WebSub (PubSubHubbub before): the hub signs the body with an HMAC of its choice, and asks whether a subscription is
 * the owner's (handshakes.ts). https://www.w3.org/TR/websub/, sections 5.3 and 7
 */
export const webSubKind: SchemeKind<{ kind: 'websub' }> = {
  verify(_scheme, { secret }, request) {
    const value = headerOf(request, WEBSUB_HEADER);
    const [, method, signature = ''] = /^(sha1|sha256|sha384|sha512)=([0-9a-f]+)$/i.exec(value) ?? [];
    if (method === undefined) return refuse(`The ${WEBSUB_HEADER} header does not contain a WebSub signature`);
    return requireMac([signature], 'hex', createHmac(method.toLowerCase(), secret).update(request.body).digest());
  },
  sign: (_scheme, secret, { body }) => ({
    headers: { [WEBSUB_HEADER]: `sha256=${hmac('sha256', secret, body).toString('hex')}` },
  }),
  secretHeaders: () => [WEBSUB_HEADER],
};
