// A signature in a header, and what is signed of a request: parameters of the schemes that sign with a secret, or with a private key.
import { type SignatureEncoding, signedHeader } from '../signatures/scheme.ts';
import { headerOf, type ProviderRequest, type Refused, refused, type TimeUnit, timeProblem } from './request.ts';

/** A part of what is signed; another text stands for itself. */
export type SignedPart = 'timestamp' | 'id' | 'method' | 'url' | 'body' | { text: string };

export interface SignatureTemplate {
  encoding: SignatureEncoding;
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

/** The signatures of a request, one of which has to be right, and what is signed. */
export function readTemplate(
  template: SignatureTemplate,
  request: ProviderRequest,
): { signatures: string[]; signed: (string | Buffer)[] } | Refused {
  const value = headerOf(request, template.header);
  if (typeof value !== 'string') return value;
  const read = readSignature(template, value);
  if ('valid' in read) return read;
  const timestamp = signedTime(template, read, request);
  if (timestamp !== undefined && typeof timestamp !== 'string') return timestamp;
  const { idHeader } = template;
  const idText = idHeader === undefined ? '' : headerOf(request, idHeader);
  if (typeof idText !== 'string') return idText;
  const id = idHeader === undefined ? '' : signedHeader(request, idHeader.toLowerCase());
  return { signatures: read.signatures, signed: signedParts(template, { timestamp: timestamp ?? '', id, request }) };
}

/** What is signed. @param parts what the request, and the sender beside it, says of the parts */
export function signedParts(
  { signed, decodesUrl }: Pick<SignatureTemplate, 'signed' | 'decodesUrl'>,
  parts: { timestamp: string; id: string | Buffer; request: Pick<ProviderRequest, 'method' | 'url' | 'body'> },
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

function signedTime(
  { timestamp }: SignatureTemplate,
  read: SignatureHeader,
  request: ProviderRequest,
): string | undefined | Refused {
  if (timestamp === undefined) return undefined;
  const text = timestamp.header === undefined ? (read.timestamp ?? '') : headerOf(request, timestamp.header);
  if (typeof text !== 'string') return text;
  return timeProblem(text, timestamp, request.nowMs) ?? text;
}

function readSignature(template: SignatureTemplate, value: string): SignatureHeader | Refused {
  if (template.named !== undefined) return readNamed(template.header, template.named, value);
  const prefix = template.prefix ?? '';
  const items = template.listSeparator === undefined ? [value] : value.split(template.listSeparator);
  const signatures = items.filter((item) => item.startsWith(prefix)).map((item) => item.slice(prefix.length));
  if (signatures.length === 0) return refused(`The header ${template.header} does not start with ${prefix}`);
  return { signatures, timestamp: undefined };
}

function readNamed(
  header: string,
  named: NonNullable<SignatureTemplate['named']>,
  value: string,
): SignatureHeader | Refused {
  const items = value.split(named.separator).map((item) => item.trim());
  const valuesOf = (name: string) =>
    items.filter((item) => item.startsWith(`${name}=`)).map((item) => item.slice(name.length + 1));
  const signatures = valuesOf(named.signature);
  if (signatures.length === 0) return refused(`The header ${header} has no signature ${named.signature}`);
  const timestamps = named.timestamp === undefined ? [] : valuesOf(named.timestamp);
  if (timestamps.length > 1) return refused(`The header ${header} has several timestamps`);
  return { signatures, timestamp: timestamps[0] };
}
