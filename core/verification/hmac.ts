// Providers that sign with an HMAC: what is signed, in which order, and where the signature stands are parameters.
import {
  compared,
  hmac,
  type SignatureAlgorithm,
  type SignatureEncoding,
  type Verification,
} from '../signatures/scheme.ts';
import {
  type Credentials,
  headerOf,
  type ProviderRequest,
  type Refused,
  refused,
  type TimeUnit,
  timeProblem,
  withoutBody,
} from './request.ts';

/** A part of what is signed; another text stands for itself. */
export type SignedPart = 'timestamp' | 'id' | 'method' | 'url' | 'body' | { text: string };

export interface HmacScheme {
  kind: 'hmac';
  algorithm: SignatureAlgorithm;
  encoding: SignatureEncoding;
  /** How the secret that the owner enters holds the key; by default its text is the key. */
  key?: 'text' | 'base64';
  /** The header of the signature. */
  header: string;
  /** What stands before each signature. */
  prefix?: string;
  /** Between several signatures in the header, one of which has to be right. */
  listSeparator?: string;
  /** A header of named parts, such as `t=1,v1=abc`, instead of a prefix or a list. */
  named?: { separator: string; signature: string; timestamp?: string };
  /** Where the signed time stands: in this header, or in the named part when there is no header. */
  timestamp?: { header?: string; unit: TimeUnit; toleranceSeconds: number };
  /** The header of the id that is signed. */
  idHeader?: string;
  /** Some escaped characters of the address are signed as what they stand for (HubSpot). */
  decodesUrl?: true;
  /** In this order. */
  signed: readonly SignedPart[];
}

interface SignatureHeader {
  signatures: string[];
  timestamp: string | undefined;
}

export function verifyHmacScheme(scheme: HmacScheme, { secret }: Credentials, request: ProviderRequest): Verification {
  const value = headerOf(request, scheme.header);
  if (typeof value !== 'string') return value;
  const read = readSignature(scheme, value);
  if ('valid' in read) return read;
  const timestamp = signedTime(scheme, read, request);
  if (timestamp !== undefined && typeof timestamp !== 'string') return timestamp;
  const id = scheme.idHeader === undefined ? '' : headerOf(request, scheme.idHeader);
  if (typeof id !== 'string') return id;
  const mac = macOf(scheme, secret, { timestamp: timestamp ?? '', id, request });
  const outcome = compared(read.signatures, scheme.encoding, mac);
  return scheme.signed.includes('body') ? outcome : withoutBody(outcome);
}

/** The right signature. @param parts what the request, and the sender beside it, says of the parts */
export function macOf(
  scheme: HmacScheme,
  secret: string,
  parts: { timestamp: string; id: string; request: Pick<ProviderRequest, 'method' | 'url' | 'body'> },
): Buffer {
  const { request, timestamp, id } = parts;
  const text = (part: SignedPart): string | Buffer => {
    switch (part) {
      case 'timestamp':
        return timestamp;
      case 'id':
        return id;
      case 'method':
        return request.method;
      case 'url':
        return scheme.decodesUrl ? decoded(request.url()) : request.url();
      case 'body':
        return request.body;
      default:
        return part.text;
    }
  };
  const key = scheme.key === 'base64' ? Buffer.from(secret, 'base64') : secret;
  return hmac(scheme.algorithm, key, ...scheme.signed.map(text));
}

// HubSpot, "Validating requests", lists these and no others.
const DECODED = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi;
const decoded = (url: string): string => url.replace(DECODED, decodeURIComponent);

function signedTime(scheme: HmacScheme, read: SignatureHeader, request: ProviderRequest): string | undefined | Refused {
  const { timestamp } = scheme;
  if (timestamp === undefined) return undefined;
  const text = timestamp.header === undefined ? (read.timestamp ?? '') : headerOf(request, timestamp.header);
  if (typeof text !== 'string') return text;
  return timeProblem(text, timestamp, request.nowMs) ?? text;
}

function readSignature(scheme: HmacScheme, value: string): SignatureHeader | Refused {
  if (scheme.named !== undefined) return readNamed(scheme.header, scheme.named, value);
  const prefix = scheme.prefix ?? '';
  const items = scheme.listSeparator === undefined ? [value] : value.split(scheme.listSeparator);
  const signatures = items.filter((item) => item.startsWith(prefix)).map((item) => item.slice(prefix.length));
  if (signatures.length === 0) return refused(`The header ${scheme.header} does not start with ${prefix}`);
  return { signatures, timestamp: undefined };
}

function readNamed(header: string, named: NonNullable<HmacScheme['named']>, value: string): SignatureHeader | Refused {
  const items = value.split(named.separator).map((item) => item.trim());
  const valuesOf = (name: string) =>
    items.filter((item) => item.startsWith(`${name}=`)).map((item) => item.slice(name.length + 1));
  const signatures = valuesOf(named.signature);
  if (signatures.length === 0) return refused(`The header ${header} has no signature ${named.signature}`);
  const timestamps = named.timestamp === undefined ? [] : valuesOf(named.timestamp);
  if (timestamps.length > 1) return refused(`The header ${header} has several timestamps`);
  return { signatures, timestamp: timestamps[0] };
}
