// A source as its form holds it, and back as the API takes it.
import type { Source, VerificationConfig } from 'hookyard/client';
import type { Input } from '../../api/client.ts';

type Body = Input<'createSource'>['body'];

export interface SourceValues {
  name: string;
  slug: string;
  description: string;
  /** Empty: none that Hookyard knows. */
  provider: string;
  verificationConfig: Omit<Required<VerificationConfig>, 'confirmSubscriptions'> & {
    secret: string;
    verifyToken: string;
    /** Null: the provider has no subscriptions to confirm. */
    confirmSubscriptions: boolean | null;
  };
  idempotencyKey: { by: 'none' | 'header' | 'jsonPath' | 'query' | 'signature'; at: string; windowSeconds: number | null };
  ingestToken: Source['ingestToken'];
  concealed: boolean;
  allowPaths: boolean;
  answer: { isOwn: boolean; status: number | null; body: string; contentType: string };
  enabled: boolean;
}

const DAY_SECONDS = 86_400;

/** The defaults of the API (SRC-06 to SRC-41). */
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
  },
  idempotencyKey: { by: 'none', at: '', windowSeconds: DAY_SECONDS },
  ingestToken: 'none',
  concealed: false,
  allowPaths: false,
  answer: { isOwn: false, status: 200, body: '', contentType: 'text/plain' },
  enabled: true,
};

/** The members whose errors have a field, longest first where one begins with another. */
export const FIELDS = [
  ...Object.keys(NEW),
  ...Object.keys(NEW.verificationConfig).map((name) => `verificationConfig.${name}`),
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
    verificationConfig: { ...NEW.verificationConfig, ...source.verificationConfig },
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
    answer: answer ? { isOwn: true, ...answer } : NEW.answer,
    enabled,
  };
}

/** The members that were changed; of a new source all. A secret that was left empty is not sent: the one that is stored stays. */
export function bodyOf(values: SourceValues, changed: ReadonlySet<string>): Body {
  const { provider, verificationConfig: config, idempotencyKey: key, answer } = values;
  const all = {
    name: values.name,
    slug: values.slug,
    description: values.description || null,
    ...(config.type === 'provider' && { provider }),
    verificationConfig: configOf(config),
    idempotencyKey: keyOf(key),
    ingestToken: values.ingestToken,
    concealed: values.concealed,
    allowPaths: values.allowPaths,
    answer: answer.isOwn ? { status: answer.status, body: answer.body, contentType: answer.contentType } : null,
    enabled: values.enabled,
  };
  // What a provider is verified by goes with it.
  const isSent = (name: string) => changed.has(name) || (name === 'verificationConfig' && changed.has('provider'));
  return Object.fromEntries(Object.entries(all).filter(([name]) => isSent(name))) as Body;
}

function configOf({ type, secret, verifyToken, confirmSubscriptions, ...hmac }: SourceValues['verificationConfig']) {
  if (type === 'none') return { type };
  const secrets = { ...(secret !== '' && { secret }), ...(verifyToken !== '' && { verifyToken }) };
  if (type === 'provider' && confirmSubscriptions !== null) return { type, ...secrets, confirmSubscriptions };
  if (type !== 'hmac') return { type, ...secrets };
  const { timestampHeader, timestampSeparator, ...signature } = hmac;
  return {
    type,
    ...secrets,
    ...signature,
    ...(timestampHeader !== '' && { timestampHeader, timestampSeparator }),
  };
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

/** How a source knows who sends. */
export function verifiedBy({ provider, verificationConfig: { type, algorithm = 'sha256' } }: Source): string {
  if (provider) return `as ${provider} signs`;
  if (type === 'none') return 'not verified';
  return type === 'hmac' ? `HMAC, ${algorithm}` : `as ${type} signs`;
}
