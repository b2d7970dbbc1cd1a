// A signature in a header, and what it signs of a request: with a shared secret here, with a private key in
// public-key.ts. One that any sender may use, so its parts are parameters.
import {
  header,
  headerOf,
  hmac,
  type RawRequest,
  refuse,
  requireMac,
  requireOnce,
  requireTime,
  type SchemeKind,
  type SignatureAlgorithm,
  type SignatureEncoding,
  signedHeader,
  type TimeUnit,
  timeText,
  type Unsigned,
} from './scheme.ts';

/** A part of what is signed; another text stands for itself. */
export type SignedPart = 'timestamp' | 'id' | 'method' | 'url' | 'body' | { text: string };

/** As providers and the owners of sources (header-signature-config.ts) describe it. */
export interface SignatureTemplate {
  encoding: SignatureEncoding;
  header: string;
  /** What stands before each signature. */
  prefix?: string;
  /** Between several signatures in the header, one of which has to be right. */
  listSeparator?: string;
  /** The names of parts of the header, such as `t=1,v1=abc`, instead of a prefix or a list. */
  signaturePart?: string;
  timestampPart?: string;
  /** By default a comma. */
  partSeparator?: string;
  /** Of the signed time, where it is in no part. */
  timestampHeader?: string;
  /** By default `s`. */
  timestampUnit?: TimeUnit;
  /** By default 300. */
  toleranceSeconds?: number;
  idHeader?: string;
  /** Some escaped characters of the address are signed as what they stand for (HubSpot). */
  decodesUrl?: true;
  /** A header that comes more than once counts as one with its values joined, instead of being refused. */
  joinsRepeats?: true;
  /** In this order. */
  signed: readonly SignedPart[];
}

export interface HmacScheme extends SignatureTemplate {
  kind: 'hmac';
  algorithm: SignatureAlgorithm;
  /** How the secret that the owner enters holds the key; by default its text is the key. */
  key?: 'text' | 'hex' | 'base64';
}

/**
 * What most providers send: the HMAC-SHA256 of the body in hex, but for what is said.
 * @param template what is signed (`partsOf`)
 */
export function hmacOf({
  template = '{body}',
  ...parameters
}: Partial<Omit<HmacScheme, 'kind' | 'signed'>> & { header: string; template?: string }): HmacScheme {
  return { kind: 'hmac', algorithm: 'sha256', encoding: 'hex', ...parameters, signed: partsOf(template) };
}

const PART = /\{(timestamp|id|method|url|body)\}/;

export function partsOf(template: string): SignedPart[] {
  return template.split(PART).flatMap((piece, index): SignedPart[] => {
    if (index % 2 === 1) return [piece as Exclude<SignedPart, object>];
    return piece === '' ? [] : [{ text: piece }];
  });
}

export const hmacKind: SchemeKind<HmacScheme> = {
  verify(scheme, { secret }, request) {
    const { signatures, signed } = readTemplate(scheme, request);
    const mac = hmac(scheme.algorithm, keyOf(scheme, secret), ...signed);
    return requireMac(signatures, scheme.encoding, mac, scheme.signed.includes('body'));
  },
  sign: (scheme, secret, unsigned) => ({
    headers: templateHeaders(scheme, unsigned, (signed) => hmac(scheme.algorithm, keyOf(scheme, secret), ...signed)),
  }),
  secretProblem({ key = 'text' }, secret) {
    // One character holds no byte: with an empty key anyone could sign.
    if (key === 'base64') return /^[A-Za-z0-9+/]{2,}={0,2}$/.test(secret) ? null : 'must be base64';
    return key === 'text' || /^(?:[0-9a-f]{2})+$/i.test(secret) ? null : 'must be hex digits, two for each byte';
  },
  secretHeaders: ({ header: name }) => [name, 'X-Hook-Secret'],
};

function keyOf({ key = 'text' }: HmacScheme, secret: string): string | Buffer {
  return key === 'text' ? secret : Buffer.from(secret, key);
}

const PART_SEPARATOR = ',';

interface SignatureHeader {
  signatures: string[];
  timestamp: string | undefined;
}

/** @throws VerificationRefusal */
export function readTemplate(
  template: SignatureTemplate,
  request: RawRequest,
): { signatures: string[]; signed: (string | Buffer)[] } {
  const { header: name, joinsRepeats, idHeader } = template;
  const joined = joinsRepeats ? header(request, name.toLowerCase()) : undefined;
  const read = readSignature(template, joined ?? headerOf(request, name));
  const timestamp = signedTime(template, read.timestamp, request);
  if (idHeader !== undefined) headerOf(request, idHeader);
  const id = idHeader === undefined ? '' : signedHeader(request, idHeader.toLowerCase());
  return { signatures: read.signatures, signed: signedParts(template, { timestamp, id, request }) };
}

function readSignature(template: SignatureTemplate, value: string): SignatureHeader {
  const { header: name, prefix = '', listSeparator, signaturePart } = template;
  if (signaturePart !== undefined) return readParts(template, signaturePart, value);
  const items = listSeparator === undefined ? [value] : value.split(listSeparator);
  const signatures = items.filter((item) => item.startsWith(prefix)).map((item) => item.slice(prefix.length));
  if (signatures.length === 0) refuse(`The ${name} header has no signature that starts with ${prefix}`);
  return { signatures, timestamp: undefined };
}

function readParts(template: SignatureTemplate, signaturePart: string, value: string): SignatureHeader {
  const { header: name, timestampPart, partSeparator = PART_SEPARATOR, joinsRepeats } = template;
  const items = value.split(partSeparator).map((item) => item.trim());
  const valuesOf = (part: string) =>
    items.filter((item) => item.startsWith(`${part}=`)).map((item) => item.slice(part.length + 1));
  const signatures = valuesOf(signaturePart);
  if (signatures.length === 0) refuse(`The ${name} header has no ${signaturePart} signature`);
  const timestamps = timestampPart === undefined ? [] : valuesOf(timestampPart);
  if (timestamps.length > 1 && !joinsRepeats) refuse(`The ${name} header has more than one timestamp`);
  return { signatures, timestamp: timestamps[0] };
}

/** The signed time; empty when none is signed. @param inPart of the header with the signature */
function signedTime(template: SignatureTemplate, inPart: string | undefined, request: RawRequest): string {
  const { timestampHeader: name, timestampPart, timestampUnit = 's', toleranceSeconds = 300, joinsRepeats } = template;
  if (name === undefined && timestampPart === undefined) return '';
  const text = (name === undefined ? inPart : header(request, name.toLowerCase())) ?? '';
  if (name !== undefined && !joinsRepeats) requireOnce(request, name, text);
  requireTime(text, { unit: timestampUnit, toleranceSeconds }, request.nowMs);
  return text;
}

/** What is signed. @param parts what the request, and the sender beside it, says of the parts */
function signedParts(
  { signed, decodesUrl }: Pick<SignatureTemplate, 'signed' | 'decodesUrl'>,
  parts: { timestamp: string; id: string | Buffer; request: Pick<RawRequest, 'method' | 'url' | 'body'> },
): (string | Buffer)[] {
  const { request, timestamp, id } = parts;
  return signed.map((part) => {
    switch (part) {
      case 'timestamp':
        return timestamp;
      case 'id':
        return id;
      case 'method':
        return request.method;
      case 'url':
        return decodesUrl ? decoded(request.url()) : request.url();
      case 'body':
        return request.body;
      default:
        return part.text;
    }
  });
}

// HubSpot, "Validating requests", lists these and no others.
const DECODED = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi;
const decoded = (url: string): string => url.replace(DECODED, decodeURIComponent);

export function templateHeaders(
  scheme: SignatureTemplate,
  { url, body, nowMs, id }: Unsigned,
  sign: (signed: (string | Buffer)[]) => Buffer,
): Record<string, string> {
  const { signaturePart, timestampPart, timestampHeader, timestampUnit = 's', idHeader, prefix = '' } = scheme;
  const timestamp = timeText(nowMs, timestampUnit);
  const request = { method: 'POST', url: () => url, body };
  const signature = sign(signedParts(scheme, { timestamp, id, request })).toString(scheme.encoding);
  const parts = [
    ...(timestampPart === undefined ? [] : [`${timestampPart}=${timestamp}`]),
    `${signaturePart}=${signature}`,
  ];
  return {
    [scheme.header]:
      signaturePart === undefined ? prefix + signature : parts.join(scheme.partSeparator ?? PART_SEPARATOR),
    ...(timestampHeader !== undefined && { [timestampHeader]: timestamp }),
    ...(idHeader !== undefined && { [idHeader]: id }),
  };
}
