// A source as its form holds it, and back as the API takes it.
import type { OptionsFilter } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { Provider, Source, SourceHandshake, VerificationConfig } from '@hookyard/client';
import { type Member, optional, asStored, type ValuesOf } from '../../forms/members.ts';
import { sentence } from '../../format.ts';
import { slugOf } from '../start/slug.ts';

type Config = Omit<Required<VerificationConfig>, 'confirmSubscriptions' | 'claims' | 'toleranceSeconds'> & {
  secret: string;
  /** `name: value`, one in a line. */
  claims: string;
  toleranceSeconds: number | null;
  verifyToken: string;
  /** Null: the provider has no subscriptions to confirm. */
  confirmSubscriptions: boolean | null;
};

const NO_VERIFICATION: Config = {
  ...{ type: 'none', secret: '', verifyToken: '', confirmSubscriptions: null },
  ...{ header: '', algorithm: 'sha256', encoding: 'hex', prefix: '', secretEncoding: 'text', template: '{body}' },
  ...{ timestampHeader: '', timestampSeparator: '.', timestampUnit: 's', toleranceSeconds: 300, idHeader: '' },
  ...{ listSeparator: '', signaturePart: '', timestampPart: '', partSeparator: ',', parameter: '', path: '' },
  ...{ jwksUrl: '', issuer: '', audience: '', claims: '', bodyHashClaim: '' },
};

export interface Key {
  by: 'none' | 'header' | 'jsonPath' | 'query' | 'signature';
  at: string;
  windowSeconds: number | null;
}
export const NO_KEY: Key = { by: 'none', at: '', windowSeconds: 86_400 };

type Handshake = Required<Omit<SourceHandshake, 'type'>> & { type: SourceHandshake['type'] | 'none' };
const NO_HANDSHAKE: Handshake = {
  ...{ type: 'none', parameter: '', member: '', echoMember: '', verifyToken: '' },
  ...{ algorithm: 'sha256', encoding: 'base64', prefix: '' },
};

interface Answer {
  isOwn: boolean;
  status: number | null;
  body: string;
  contentType: string;
}
const NO_ANSWER: Answer = { isOwn: false, status: 200, body: '', contentType: 'text/plain' };

/** With the defaults of the API. */
export const members = {
  name: asStored(''),
  slug: {
    ...asStored(''),
    write: (slug, { name }: { name: string }) => slug || slugOf(name),
  } as Member<string>,
  description: optional,
  /** Empty: none that Hookyard knows. */
  provider: {
    ...asStored(''),
    write: (name, { verificationConfig }: { verificationConfig: Config }) =>
      verificationConfig.type === 'provider' ? name : undefined,
  } as Member<string>,
  verificationConfig: {
    start: NO_VERIFICATION,
    read: ({ claims = {}, ...stored }: Source['verificationConfig']) => ({
      ...NO_VERIFICATION,
      ...stored,
      claims: Object.entries(claims)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n'),
    }),
    write: configOf,
    // What a provider is verified by goes with it.
    with: ['provider'],
  } as Member<Config>,
  idempotencyKey: {
    start: NO_KEY,
    read: (key: Source['idempotencyKey']) =>
      key
        ? { by: keyKind(key), at: key.header ?? key.jsonPath ?? key.query ?? '', windowSeconds: key.windowSeconds }
        : NO_KEY,
    write: ({ by, at, windowSeconds }) =>
      by === 'none' ? null : { ...(by === 'signature' ? { signature: true } : { [by]: at }), windowSeconds },
  } as Member<Key>,
  ingestToken: asStored<Source['ingestToken']>('none'),
  concealed: asStored(false),
  allowPaths: asStored(false),
  handshake: {
    start: NO_HANDSHAKE,
    read: (stored: Source['handshake']) => ({ ...NO_HANDSHAKE, ...stored, verifyToken: '' }),
    write: handshakeOf,
  } as Member<Handshake>,
  answer: {
    start: NO_ANSWER,
    read: (stored: Source['answer']) => (stored ? { isOwn: true, ...stored } : NO_ANSWER),
    write: ({ isOwn, status, body, contentType }) => (isOwn ? { status, body, contentType } : null),
  } as Member<Answer>,
  enabled: asStored(true),
};

export type SourceValues = ValuesOf<typeof members>;
export type Form = UseFormReturnType<SourceValues>;

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

/** A secret that was left empty is not sent: the one that is stored stays. */
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

function handshakeOf({ type, parameter, ...rest }: Handshake) {
  if (type === 'none') return null;
  if (type === 'ok') return { type };
  const { member, echoMember, verifyToken, algorithm, encoding, prefix } = rest;
  const ofType = type === 'echo' ? { verifyToken } : { echoMember, algorithm, encoding, prefix };
  // What was left empty is not sent: a verify token that is stored stays.
  const filled = Object.entries({ member, ...ofType }).filter(([, value]) => value !== '');
  return { type, parameter, ...Object.fromEntries(filled) };
}

/** What `provider` does too; the form offers them to sources only that have them. */
export const OF_NO_PROVIDER = {
  github: 'GitHub (secret only)',
  stripe: 'Stripe (secret only)',
  slack: 'Slack (secret only)',
};

/** By how they are chosen in the form. */
export const METHODS: Readonly<Record<Config['type'], string>> = {
  none: 'None',
  provider: 'Provider (Stripe, GitHub, …)',
  hmac: 'HMAC',
  hmac_template: 'HMAC with custom signed content',
  public_key: 'Public key',
  jwt: 'JWT',
  header_token: 'Token in a header',
  basic: 'Basic authentication',
  query_token: 'Token in the query',
  body_token: 'Token in the body',
  ...OF_NO_PROVIDER,
};

/** For a choice, by title. */
export const providerChoices = (providers: readonly Provider[] = []) =>
  providers
    .map(({ name, title }) => ({ value: name, label: title }))
    .toSorted((one, other) => one.label.localeCompare(other.label));

/** What begins with the text that was typed comes first. */
export const bestFirst: OptionsFilter = ({ options, search }) => {
  const wanted = search.trim().toLowerCase();
  const placeIn = (option: (typeof options)[number]) =>
    'label' in option ? option.label.toLowerCase().indexOf(wanted) : -1;
  return options
    .filter((option) => placeIn(option) !== -1)
    .toSorted((one, other) => Number(placeIn(one) > 0) - Number(placeIn(other) > 0));
};

/** How a source verifies who sends. @param providers that name themselves; without them the id stands for the name */
export function verifiedBy(source: Source, providers: readonly Provider[] = []): string {
  const { provider, verificationConfig } = source;
  const { type, algorithm = 'sha256' } = verificationConfig;
  if (provider) return providers.find(({ name }) => name === provider)?.title ?? sentence(provider);
  if (type === 'hmac' || type === 'hmac_template') return `HMAC ${algorithm}`;
  return METHODS[type].replace(' (secret only)', '');
}
