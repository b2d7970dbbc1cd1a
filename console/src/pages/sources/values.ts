// A source as its form holds it, and back as the API takes it.
import type { OptionsFilter } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { Provider, Source, SourceHandshake } from '@hookyard/client';
import { choice, type Lines, secret, sentOf, text } from '../../forms/fields.tsx';
import { asStored, type Member, optional, switched, type ValuesOf } from '../../forms/members.ts';
import { slugOf } from '../start/setup.ts';
import { type Config, configOf, ENCODINGS, HASHES, NO_VERIFICATION } from './verification.ts';

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
    read: keyOf,
    write: ({ by, at, windowSeconds }) =>
      by === 'none' ? null : { ...(by === 'signature' ? { signature: true } : { [by]: at }), windowSeconds },
  } as Member<Key>,
  ingestToken: asStored<Source['ingestToken']>('none'),
  concealed: asStored(false),
  allowPaths: asStored(false),
  handshake: {
    start: NO_HANDSHAKE,
    read: (stored: Source['handshake']) => ({ ...NO_HANDSHAKE, ...stored, verifyToken: '' }),
    // A verify token that is stored stays when it is left empty.
    write: ({ type, ...handshake }) => {
      if (type === 'none') return null;
      const { parameter } = handshake;
      return { type, ...(type !== 'ok' && { parameter }), ...sentOf(handshakeFields(type), handshake) };
    },
  } as Member<Handshake>,
  answer: switched({ status: 200 as number | null, body: '', contentType: 'text/plain' }),
  enabled: asStored(true),
};

export type SourceValues = ValuesOf<typeof members>;
export type Form = UseFormReturnType<SourceValues>;

/** Of a source, or what its provider suggests. */
export function keyOf(stored: Source['idempotencyKey'] | Provider['dedup']): Key {
  if (!stored) return NO_KEY;
  const { windowSeconds, ...key }: Partial<NonNullable<Source['idempotencyKey']>> = stored;
  const by = (['header', 'jsonPath', 'query'] as const).find((place) => key[place] !== undefined) ?? 'signature';
  return { by, at: (by !== 'signature' && key[by]) || '', windowSeconds: windowSeconds ?? NO_KEY.windowSeconds };
}

const challenge = text('parameter', 'Challenge parameter', { placeholder: 'challenge', isRequired: true });
const member = text('member', 'Response JSON field', { help: 'Leave empty for plain text.' });

/** What each handshake has. */
export function handshakeFields(type: Handshake['type'], verifyTokenHelp?: string): Lines {
  if (type === 'echo')
    return [[challenge, member], secret('verifyToken', 'Expected hub.verify_token', { help: verifyTokenHelp })];
  if (type !== 'hmac') return [];
  return [
    [challenge, member, text('echoMember', 'Challenge JSON field')],
    [
      choice('algorithm', 'HMAC algorithm', HASHES),
      choice('encoding', 'HMAC encoding', ENCODINGS),
      text('prefix', 'HMAC prefix', { placeholder: 'sha256=' }),
    ],
  ];
}

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
