// Hook0, which Coinbase sends with: a header with a time (`t`), the names of some headers (`h`) and the HMAC-SHA256 (`v1`) of the time,
// these names, their values and the body, with full stops between. Beside it stands `v0`, which leaves the headers out, so that
// anyone who has captured a webhook could send it again with another id: it is not looked at.
// https://docs.cdp.coinbase.com/webhooks/verify-signatures
import { compared, header, hmac, signedHeader, type Verification } from '../signatures/scheme.ts';
import { type Credentials, headerOf, type ProviderRequest, type Refused, refused, timeProblem } from './request.ts';

export interface Hook0Scheme {
  kind: 'hook0';
  header: string;
  toleranceSeconds: number;
}

const MAX_HEADERS = 16;
const NAMES = /^[a-z0-9-]{1,64}(?: [a-z0-9-]{1,64})*$/;

export function verifyHook0(scheme: Hook0Scheme, { secret }: Credentials, request: ProviderRequest): Verification {
  const value = headerOf(request, scheme.header);
  if (typeof value !== 'string') return value;
  const parts = partsOf(value);
  const [time, names, signature] = ['t', 'h', 'v1'].map((name) => parts.get(name) ?? '') as [string, string, string];
  if (signature === '' || !NAMES.test(names))
    return refused(`The header ${scheme.header} has no signature v1 with the names of headers`);
  const problem = timeProblem(time, { unit: 's', toleranceSeconds: scheme.toleranceSeconds }, request.nowMs);
  if (problem !== null) return problem;
  const values = valuesOf(request, names.split(' '));
  return Array.isArray(values)
    ? compared([signature], 'hex', macOf(secret, time, names, values, request.body))
    : values;
}

/** As the header of the signature has it. @param headers that are signed, by their names in lower case */
export function hook0Signature(
  secret: string,
  { time, headers, body }: { time: string; headers: Record<string, string>; body: Buffer },
): string {
  const names = Object.keys(headers).join(' ');
  return `t=${time},h=${names},v1=${macOf(secret, time, names, Object.values(headers), body).toString('hex')}`;
}

function macOf(secret: string, time: string, names: string, values: (string | Buffer)[], body: Buffer): Buffer {
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

// A full stop may stand in a value, too. So that nobody moves the beginning of the body into the last value, or the end of that into the
// body: JSON begins with a bracket, and no value holds one.
const BRACKET = /[{[]/;

function valuesOf(request: ProviderRequest, names: string[]): Buffer[] | Refused {
  if (names.length > MAX_HEADERS) return refused('The signature names more headers than the provider signs');
  const isJson = /^application\/json\b/i.test(header(request, 'content-type') ?? '');
  if (isJson && !BRACKET.test(request.body.subarray(0, 1).toString('latin1')))
    return refused('The body is no JSON object');
  const values: Buffer[] = [];
  for (const name of names) {
    const value = header(request, name);
    if (value === undefined || request.isRepeated(name)) return refused(`The signed header ${name} did not come once`);
    if (BRACKET.test(value)) return refused(`The signed header ${name} has a bracket`);
    values.push(signedHeader(request, name));
  }
  return values;
}
