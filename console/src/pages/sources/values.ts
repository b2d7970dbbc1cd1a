// A source as its form holds it, and back as the API takes it.
import type { UseFormReturnType } from '@mantine/form';
import type { Source, SourceHandshake, VerificationConfig } from '@hookyard/client';
import type { Input } from '../../api/client.ts';
import { sentence } from '../../format.ts';
import { slugOf } from '../start/slug.ts';

type Body = Input<'createSource'>['body'];

export interface SourceValues {
  name: string;
  slug: string;
  description: string;
  /** Empty: none that Hookyard knows. */
  provider: string;
  verificationConfig: Omit<Required<VerificationConfig>, 'confirmSubscriptions' | 'claims' | 'toleranceSeconds'> & {
    secret: string;
    /** `name: value`, one in a line. */
    claims: string;
    toleranceSeconds: number | null;
    verifyToken: string;
    /** Null: the provider has no subscriptions to confirm. */
    confirmSubscriptions: boolean | null;
  };
  idempotencyKey: {
    by: 'none' | 'header' | 'jsonPath' | 'query' | 'signature';
    at: string;
    windowSeconds: number | null;
  };
  ingestToken: Source['ingestToken'];
  concealed: boolean;
  allowPaths: boolean;
  handshake: Required<Omit<SourceHandshake, 'type'>> & { type: SourceHandshake['type'] | 'none' };
  answer: { isOwn: boolean; status: number | null; body: string; contentType: string };
  enabled: boolean;
}

export type Form = UseFormReturnType<SourceValues>;

const DAY_SECONDS = 86_400;

/** The defaults of the API. */
export const NEW: SourceValues = {
  name: '',
  slug: '',
  description: '',
  provider: '',
  verificationConfig: {
    type: 'none',
    secret: '',
    verifyToken: '',
    confirmSubscriptions: null,
    header: '',
    algorithm: 'sha256',
    encoding: 'hex',
    prefix: '',
    timestampHeader: '',
    timestampSeparator: '.',
    secretEncoding: 'text',
    listSeparator: '',
    signaturePart: '',
    timestampPart: '',
    partSeparator: ',',
    timestampUnit: 's',
    toleranceSeconds: 300,
    idHeader: '',
    template: '{body}',
    parameter: '',
    path: '',
    jwksUrl: '',
    issuer: '',
    audience: '',
    claims: '',
    bodyHashClaim: '',
  },
  idempotencyKey: { by: 'none', at: '', windowSeconds: DAY_SECONDS },
  ingestToken: 'none',
  concealed: false,
  allowPaths: false,
  handshake: {
    ...{ type: 'none', parameter: '', member: '', echoMember: '', verifyToken: '' },
    ...{ algorithm: 'sha256', encoding: 'base64', prefix: '' },
  },
  answer: { isOwn: false, status: 200, body: '', contentType: 'text/plain' },
  enabled: true,
};

/** The members whose errors have a field, longest first where one begins with another. */
export const FIELDS = [
  ...Object.keys(NEW),
  ...Object.keys(NEW.verificationConfig).map((name) => `verificationConfig.${name}`),
  ...Object.keys(NEW.handshake).map((name) => `handshake.${name}`),
  'idempotencyKey.windowSeconds',
  ...['status', 'body', 'contentType'].map((name) => `answer.${name}`),
];

export function valuesOf(source: Source): SourceValues {
  const { name, slug, description, provider, ingestToken, concealed, allowPaths } = source;
  const { enabled, idempotencyKey: key, answer } = source;
  return {
    name,
    slug,
    description: description ?? '',
    provider: provider ?? '',
    verificationConfig: { ...NEW.verificationConfig, ...source.verificationConfig, ...claimsOf(source) },
    idempotencyKey: key
      ? {
          by: keyKind(key),
          at: key.header ?? key.jsonPath ?? key.query ?? '',
          windowSeconds: key.windowSeconds,
        }
      : NEW.idempotencyKey,
    ingestToken,
    concealed,
    allowPaths,
    handshake: { ...NEW.handshake, ...source.handshake, verifyToken: '' },
    answer: answer ? { isOwn: true, ...answer } : NEW.answer,
    enabled,
  };
}

/**
 * The members that were changed; of a new source all. A secret that was left empty is not sent: the one that is stored
 * stays.
 */
export function bodyOf(values: SourceValues, changed: ReadonlySet<string>): Body {
  const { provider, verificationConfig: config, idempotencyKey: key, answer } = values;
  const all = {
    name: values.name,
    slug: values.slug || slugOf(values.name),
    description: values.description || null,
    ...(config.type === 'provider' && { provider }),
    verificationConfig: configOf(config),
    idempotencyKey: keyOf(key),
    ingestToken: values.ingestToken,
    concealed: values.concealed,
    allowPaths: values.allowPaths,
    handshake: handshakeOf(values.handshake),
    answer: answer.isOwn ? { status: answer.status, body: answer.body, contentType: answer.contentType } : null,
    enabled: values.enabled,
  };
  // What a provider is verified by goes with it.
  const isSent = (name: string) => changed.has(name) || (name === 'verificationConfig' && changed.has('provider'));
  return Object.fromEntries(Object.entries(all).filter(([name]) => isSent(name))) as Body;
}

const claimsOf = ({ verificationConfig: { claims = {} } }: Source) => ({
  claims: Object.entries(claims)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n'),
});

type Config = SourceValues['verificationConfig'];

const TEMPLATE: readonly (keyof Config)[] = [
  ...(['header', 'algorithm', 'encoding', 'template', 'prefix', 'listSeparator', 'signaturePart'] as const),
  ...(['timestampPart', 'partSeparator', 'timestampHeader', 'timestampUnit', 'toleranceSeconds', 'idHeader'] as const),
];
/** What each type has beside its secret. */
const MEMBERS: Partial<Record<Config['type'], readonly (keyof Config)[]>> = {
  hmac: ['header', 'algorithm', 'encoding', 'prefix'],
  hmac_template: [...TEMPLATE, 'secretEncoding'],
  public_key: TEMPLATE,
  jwt: ['header', 'algorithm', 'jwksUrl', 'issuer', 'audience', 'bodyHashClaim', 'toleranceSeconds'],
  header_token: ['header', 'prefix'],
  query_token: ['parameter'],
  body_token: ['path'],
};

function configOf(config: Config) {
  const { type, verifyToken, confirmSubscriptions, timestampHeader, timestampSeparator, claims } = config;
  if (type === 'none') return { type };
  // What is not shown is not sent.
  const isPublished = type === 'jwt' && config.algorithm !== 'HS256';
  const secret = isPublished ? '' : config.secret;
  const secrets = { ...(secret !== '' && { secret }), ...(verifyToken !== '' && { verifyToken }) };
  if (type === 'provider' && confirmSubscriptions !== null) return { type, ...secrets, confirmSubscriptions };
  // What was left empty has the default of the API.
  const members = (MEMBERS[type] ?? [])
    .map((name) => [name, config[name]] as const)
    .filter(([name, value]) => value !== '' && value !== null && (name !== 'jwksUrl' || isPublished));
  return {
    type,
    ...secrets,
    ...Object.fromEntries(members),
    ...(type === 'hmac' && timestampHeader !== '' && { timestampHeader, timestampSeparator }),
    ...(type === 'jwt' && claims.trim() !== '' && { claims: claimsIn(claims) }),
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

function keyKind({ signature, header, query }: NonNullable<Source['idempotencyKey']>) {
  if (signature) return 'signature';
  if (query !== undefined) return 'query';
  return header === undefined ? 'jsonPath' : 'header';
}

function keyOf({ by, at, windowSeconds }: SourceValues['idempotencyKey']) {
  if (by === 'none') return null;
  return { ...(by === 'signature' ? { signature: true } : { [by]: at }), windowSeconds };
}

function handshakeOf({ type, parameter, ...rest }: SourceValues['handshake']) {
  if (type === 'none') return null;
  if (type === 'ok') return { type };
  const { member, echoMember, verifyToken, algorithm, encoding, prefix } = rest;
  const ofType = type === 'echo' ? { verifyToken } : { echoMember, algorithm, encoding, prefix };
  // What was left empty is not sent: a verify token that is stored stays.
  const filled = Object.entries({ member, ...ofType }).filter(([, value]) => value !== '');
  return { type, parameter, ...Object.fromEntries(filled) };
}

const METHOD_NAMES: Partial<Record<Config['type'], string>> = {
  public_key: 'Public key',
  jwt: 'JWT',
  header_token: 'Token in a header',
  basic: 'Basic authentication',
  query_token: 'Token in the query',
  body_token: 'Token in the body',
  github: 'GitHub',
  stripe: 'Stripe',
  slack: 'Slack',
};

/** How a source verifies who sends. */
export function verifiedBy({ provider, verificationConfig: { type, algorithm = 'sha256' } }: Source): string {
  if (provider) return sentence(provider);
  if (type === 'none') return 'None';
  if (type === 'hmac' || type === 'hmac_template') return `HMAC ${algorithm}`;
  return METHOD_NAMES[type] ?? type;
}
