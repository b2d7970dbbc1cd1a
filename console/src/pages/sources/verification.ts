// How a source verifies who sends: the methods of the API with the fields of each, and what is sent of them.
import type { Provider, Source, VerificationConfig } from '@hookyard/client';
import { area, type Choices, choice, type Lines, sentOf, text, whole } from '../../forms/fields.tsx';
import { sentence } from '../../format.ts';

export type Config = Omit<Required<VerificationConfig>, 'confirmSubscriptions' | 'claims' | 'toleranceSeconds'> & {
  secret: string;
  /** `name: value`, one in a line. */
  claims: string;
  toleranceSeconds: number | null;
  verifyToken: string;
  /** Null: the provider has no subscriptions to confirm. */
  confirmSubscriptions: boolean | null;
};

/** With the defaults of the API. */
export const NO_VERIFICATION: Config = {
  ...{ type: 'none', secret: '', verifyToken: '', confirmSubscriptions: null },
  ...{ header: '', algorithm: 'sha256', encoding: 'hex', prefix: '', secretEncoding: 'text', template: '{body}' },
  ...{ timestampHeader: '', timestampSeparator: '.', timestampUnit: 's', toleranceSeconds: 300, idHeader: '' },
  ...{ listSeparator: '', signaturePart: '', timestampPart: '', partSeparator: ',', parameter: '', path: '' },
  ...{ jwksUrl: '', issuer: '', audience: '', claims: '', bodyHashClaim: '' },
};

export const HASHES = ['sha256', 'sha1', 'sha512'] as const;
export const ENCODINGS = ['hex', 'base64', 'base64url'] as const;

const header = text('header', 'Signature header', { placeholder: 'X-Signature', isRequired: true });
const encoding = choice('encoding', 'Encoding', ENCODINGS);
const prefix = text('prefix', 'Signature prefix', { placeholder: 'sha256=' });
const tolerance = whole('toleranceSeconds', 'Timestamp tolerance', { unit: 'seconds' });
const algorithm = (algorithms: Choices) => choice('algorithm', 'Algorithm', algorithms);

const signedContent = (algorithms: Choices, hasSecretEncoding: boolean): Lines => [
  header,
  area('template', 'Signed content', { help: 'Placeholders: {timestamp}, {id}, {method}, {url}, {body}.' }),
  [
    algorithm(algorithms),
    encoding,
    hasSecretEncoding && choice('secretEncoding', 'Secret encoding', ['text', 'hex', 'base64']),
  ],
  [prefix, text('listSeparator', 'Signature separator'), text('partSeparator', 'Header part separator')],
  [
    text('signaturePart', 'Signature part', { placeholder: 'v1', help: 'For headers such as t=1,v1=abc.' }),
    text('timestampPart', 'Timestamp part', { placeholder: 't' }),
    text('idHeader', 'ID header'),
  ],
  [
    text('timestampHeader', 'Timestamp header'),
    choice('timestampUnit', 'Timestamp format', { s: 'Unix seconds', ms: 'Unix milliseconds', rfc3339: 'RFC 3339' }),
    tolerance,
  ],
];

interface Method {
  title: string;
  /** What its secret is called; without it `Secret`. */
  secret?: [label: string, help?: string];
  /** The first is the default. */
  algorithms?: readonly [Config['algorithm'], ...Config['algorithm'][]];
  /** The same as `provider`: the form offers it to sources only that have it. */
  isOfProvider?: true;
}

/** By how they are chosen in the form. */
export const METHODS: Readonly<Record<Config['type'], Method>> = {
  none: { title: 'None' },
  provider: { title: 'Provider (Stripe, GitHub, …)' },
  hmac: { title: 'HMAC', algorithms: HASHES },
  hmac_template: { title: 'HMAC with custom signed content', algorithms: HASHES },
  public_key: {
    title: 'Public key',
    secret: ['Public key', 'PEM or base64; Ed25519 keys also in hex.'],
    algorithms: ['ecdsa', 'ed25519', 'rsa'],
  },
  jwt: { title: 'JWT', algorithms: ['RS256', 'ES256', 'HS256'] },
  header_token: { title: 'Token in a header', secret: ['Token'] },
  basic: { title: 'Basic authentication', secret: ['Username and password', 'Separated by a colon.'] },
  query_token: { title: 'Token in a query parameter', secret: ['Token'] },
  body_token: { title: 'Token in the body', secret: ['Token'] },
  github: { title: 'GitHub (secret only)', isOfProvider: true },
  stripe: { title: 'Stripe (secret only)', isOfProvider: true },
  slack: { title: 'Slack (secret only)', isOfProvider: true },
};

/** The fields of a method beside its secret. */
export function methodFields({ type, algorithm: chosen }: Config): Lines {
  const { algorithms = [] } = METHODS[type];
  switch (type) {
    case 'hmac':
      return [
        header,
        [algorithm(algorithms), encoding, prefix],
        [
          text('timestampHeader', 'Timestamp header', { help: 'If the sender signs a timestamp.' }),
          text('timestampSeparator', 'Separator', { help: 'Between timestamp and body.' }),
        ],
      ];
    case 'hmac_template':
    case 'public_key':
      return signedContent(algorithms, type === 'hmac_template');
    case 'jwt':
      return [
        [text('header', 'Token header', { isRequired: true }), algorithm(algorithms), tolerance],
        chosen !== 'HS256' &&
          text('jwksUrl', 'JWKS URL', {
            placeholder: 'https://issuer.example.com/.well-known/jwks.json',
            isRequired: true,
          }),
        [
          text('issuer', 'Issuer'),
          text('audience', 'Audience'),
          text('bodyHashClaim', 'Body hash claim', { help: 'SHA-256 in hex.' }),
        ],
        area('claims', 'Required claims', { help: 'One pair per line, as "name: value".' }),
      ];
    case 'header_token':
      return [
        [
          text('header', 'Header', { placeholder: 'X-Token', isRequired: true }),
          text('prefix', 'Prefix', { placeholder: 'Token ' }),
        ],
      ];
    case 'query_token':
      return [text('parameter', 'Query parameter', { placeholder: 'key', isRequired: true })];
    case 'body_token':
      return [text('path', 'JSONPath', { placeholder: '$.token', isRequired: true })];
    default:
      return [];
  }
}

/** Whether a source that is verified so has a secret, apart from what its provider has. */
export const hasSecret = ({ type, algorithm: chosen }: Config): boolean =>
  type !== 'none' && (type !== 'jwt' || chosen === 'HS256');

/** What is not shown is not sent; a secret that was left empty stays. */
export function configOf(config: Config): object {
  const { type, secret, verifyToken, confirmSubscriptions, timestampHeader } = config;
  const { timestampSeparator: _, claims = '', ...members } = sentOf(methodFields(config), config);
  const required = claimsIn(String(claims));
  return {
    type,
    ...members,
    // Empty means that nothing stands between timestamp and body.
    ...(type === 'hmac' && timestampHeader !== '' && { timestampSeparator: config.timestampSeparator }),
    ...(Object.keys(required).length > 0 && { claims: required }),
    ...(secret !== '' && hasSecret(config) && { secret }),
    ...(type === 'provider' && verifyToken !== '' && { verifyToken }),
    ...(type === 'provider' && confirmSubscriptions !== null && { confirmSubscriptions }),
  };
}

function claimsIn(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...value] = line.split(':');
      return [name.trim(), value.join(':').trim()];
    }),
  );
}

/** How a source verifies who sends. @param providers that name themselves; without them the id stands for the name */
export function verifiedBy(source: Source, providers: readonly Provider[] = []): string {
  const { provider, verificationConfig } = source;
  const { type, algorithm: hash = 'sha256' } = verificationConfig;
  if (provider) return providers.find(({ name }) => name === provider)?.title ?? sentence(provider);
  if (type === 'hmac' || type === 'hmac_template') return `HMAC ${hash}`;
  return METHODS[type].title.replace(' (secret only)', '');
}
