// Creates or changes a source.
import { NativeSelect, Select } from '@mantine/core';
import type { Provider, Source } from '@hookyard/client';
import { useCaller } from '../../api/caller.tsx';
import { useAll } from '../../api/lists.ts';
import { isPrivate } from '../../api/urls.ts';
import { Failed } from '../../components/Failed.tsx';
import { type Choices, ENABLED, type Entry, type Field, NAME_FIELDS } from '../../forms/fields.tsx';
import { recordPages } from '../../forms/recordPages.tsx';
import { choicesOf } from '../../format.ts';
import { slugOf } from '../start/slug.ts';
import { Instructions } from './Connect.tsx';
import {
  bestFirst,
  type Form,
  type Key,
  members,
  METHODS,
  NO_KEY,
  OF_NO_PROVIDER,
  providerChoices,
  type SourceValues,
} from './values.ts';

const { New, Edit, Settings } = recordPages<typeof members, Source>({
  what: 'source',
  members,
  useEntries: (form, stored) => {
    const { values } = form;
    const { ingestUrl } = useCaller().organization;
    const providers = useAll('listProviders');
    const provider = providers.data?.records.find(({ name }) => name === values.provider);
    const isNew = stored === undefined;
    return [
      ...NAME_FIELDS,
      {
        path: 'slug',
        label: 'Slug',
        help: isNew
          ? `Ingest URL: ${ingestUrl}/${values.slug || slugOf(values.name) || '<slug>'}${isPrivate(ingestUrl) ? ' (not reachable from the internet)' : ''}`
          : 'Part of the ingest URL.',
        placeholder: slugOf(values.name),
        isFixed: !isNew,
      },
      {
        title: 'Signature verification',
        fields: [
          {
            node: <Method form={form} />,
            paths: ['verificationConfig', 'verificationConfig.type'],
            facts: [['Signature verification', METHODS[values.verificationConfig.type]]],
          },
          {
            node: <ProviderChoice form={form} answer={providers} of={provider} />,
            paths: ['provider'],
            facts: [provider && ['Provider', provider.title]],
          },
          ...secretFields(values, provider, !isNew),
          ...(METHOD_FIELDS[values.verificationConfig.type]?.(values.verificationConfig) ?? []),
        ],
      },
      deduplication(form, provider),
      { title: 'Advanced', isFolded: true, fields: advanced(values, stored?.handshake?.verifyToken !== undefined) },
      { ...ENABLED, help: 'A disabled source refuses webhooks.' },
    ];
  },
});
export { Edit as EditSource, New as NewSource, Settings };

type Config = SourceValues['verificationConfig'];

const same = (...values: string[]): Choices => values.map((value) => ({ value, label: value }));
const HASHES = same('sha256', 'sha1', 'sha512');
const ENCODINGS = same('hex', 'base64', 'base64url');
const ALGORITHMS: Partial<Record<Config['type'], Choices>> = {
  hmac: HASHES,
  hmac_template: HASHES,
  public_key: same('ecdsa', 'ed25519', 'rsa'),
  jwt: same('RS256', 'ES256', 'HS256'),
};

function Method({ form }: { form: Form }) {
  const set = form.setFieldValue as (path: string, value: unknown) => void;
  const { type } = form.values.verificationConfig;
  const choose = (next: string) => {
    const algorithm = ALGORITHMS[next as Config['type']]?.[0]?.value;
    set('verificationConfig.type', next);
    // What several methods have begins with the default of the API.
    set('verificationConfig.encoding', next === 'public_key' ? 'base64' : 'hex');
    if (algorithm !== undefined) set('verificationConfig.algorithm', algorithm);
    if (next === 'jwt') set('verificationConfig.header', 'Authorization');
  };
  return (
    <NativeSelect
      label="Method"
      description={type === 'none' ? 'Anyone who knows the ingest URL can send webhooks.' : undefined}
      value={type}
      error={form.errors.verificationConfig}
      onChange={(event) => choose(event.currentTarget.value)}
      data={choicesOf(METHODS).filter(({ value }) => value === type || !(value in OF_NO_PROVIDER))}
    />
  );
}

interface ProviderChoiceProps {
  form: Form;
  answer: { data: { records: Provider[] } | undefined; error: unknown; refetch: () => unknown };
  of: Provider | undefined;
}

function ProviderChoice({ form, answer, of }: ProviderChoiceProps) {
  const { verificationConfig, provider, idempotencyKey } = form.values;
  if (verificationConfig.type !== 'provider') return null;
  const known = answer.data?.records ?? [];
  const choose = (name: string | null) => {
    const next = known.find((one) => one.name === name);
    form.setFieldValue('provider', name ?? '');
    // A key that was chosen by hand stays.
    if (JSON.stringify(idempotencyKey) === JSON.stringify(suggestedKey(of)))
      form.setFieldValue('idempotencyKey', suggestedKey(next));
  };
  return (
    <>
      <Select
        label="Provider"
        required
        searchable
        filter={bestFirst}
        nothingFoundMessage="No results. Use HMAC instead."
        value={provider || null}
        error={form.errors.provider && (provider === '' ? 'Choose a provider' : form.errors.provider)}
        onChange={choose}
        data={providerChoices(known)}
      />
      {answer.error !== null && <Failed error={answer.error} again={() => void answer.refetch()} />}
      {of && <Instructions of={of} />}
    </>
  );
}

const suggestedKey = (provider: Provider | undefined): Key => {
  if (!provider?.dedup) return NO_KEY;
  const { header, jsonPath } = provider.dedup;
  const by = header !== undefined ? 'header' : jsonPath !== undefined ? 'jsonPath' : 'signature';
  return { ...NO_KEY, by, at: header ?? jsonPath ?? '' };
};

const SECRETS: Partial<Record<Config['type'], [label: string, help: string]>> = {
  public_key: ['Public key', 'PEM or base64; Ed25519 keys also in hex.'],
  basic: ['Username and password', 'Separated by a colon.'],
  header_token: ['Token', ''],
  query_token: ['Token', ''],
  body_token: ['Token', ''],
};

function secretFields(
  { verificationConfig: config }: SourceValues,
  provider: Provider | undefined,
  isStored: boolean,
): Entry[] {
  const { type, algorithm } = config;
  const keeps = isStored ? 'Leave empty to keep the current value.' : '';
  const help = (text: string | null = '') => {
    const first = text && `${text.charAt(0).toUpperCase()}${text.slice(1)}`.replace(/\.?$/, '.');
    return [first, keeps].filter(Boolean).join(' ');
  };
  const isProvider = type === 'provider';
  const hasSecret = isProvider
    ? (provider?.secret ?? null) !== null
    : type !== 'none' && (type !== 'jwt' || algorithm === 'HS256');
  const [label, text] = SECRETS[type] ?? ['Secret', ''];
  return [
    hasSecret && {
      ...{ path: 'verificationConfig.secret', kind: 'secret', label },
      ...{ help: help(isProvider ? provider?.secret : text), isRequired: !isStored },
    },
    hasSecret && isStored && { node: null, facts: [[label, 'Set']] },
    isProvider &&
      provider?.verifyToken != null && {
        ...{ path: 'verificationConfig.verifyToken', kind: 'secret', label: 'Verify token' },
        ...{ help: help(provider.verifyToken), isRequired: !isStored },
      },
    isProvider &&
      provider?.handshakes.includes('subscription') && {
        ...{ path: 'verificationConfig.confirmSubscriptions', kind: 'flag', label: 'Confirm subscriptions' },
        help: 'If off, the source page shows the confirmation URL.',
      },
  ];
}

const of = (name: keyof Config, label: string, more: Partial<Field> = {}): Field => ({
  path: `verificationConfig.${name}`,
  label,
  ...more,
});
const tolerance = of('toleranceSeconds', 'Timestamp tolerance', { kind: 'whole', unit: 'seconds' });
const header = of('header', 'Signature header', { placeholder: 'X-Signature', isRequired: true });

const template = ({ type }: Config): Entry[] => [
  header,
  of('template', 'Signed content', {
    kind: 'area',
    help: 'Placeholders: {timestamp}, {id}, {method}, {url}, {body}.',
  }),
  [
    of('algorithm', 'Algorithm', { choices: ALGORITHMS[type] }),
    of('encoding', 'Encoding', { choices: ENCODINGS }),
    ...(type === 'hmac_template'
      ? [of('secretEncoding', 'Secret encoding', { choices: same('text', 'hex', 'base64') })]
      : []),
  ],
  [
    of('prefix', 'Signature prefix', { placeholder: 'sha256=' }),
    of('listSeparator', 'Signature separator'),
    of('partSeparator', 'Header part separator'),
  ],
  [
    of('signaturePart', 'Signature part', { placeholder: 'v1', help: 'For headers such as t=1,v1=abc.' }),
    of('timestampPart', 'Timestamp part', { placeholder: 't' }),
    of('idHeader', 'ID header'),
  ],
  [
    of('timestampHeader', 'Timestamp header'),
    of('timestampUnit', 'Timestamp format', {
      choices: choicesOf({ s: 'Unix seconds', ms: 'Unix milliseconds', rfc3339: 'RFC 3339' }),
    }),
    tolerance,
  ],
];

/** The fields of each method beside its secret. */
const METHOD_FIELDS: Partial<Record<Config['type'], (config: Config) => Entry[]>> = {
  hmac: () => [
    header,
    [
      of('algorithm', 'Algorithm', { choices: HASHES }),
      of('encoding', 'Encoding', { choices: ENCODINGS }),
      of('prefix', 'Signature prefix', { placeholder: 'sha256=' }),
    ],
    [
      of('timestampHeader', 'Timestamp header', { help: 'If the sender signs a timestamp.' }),
      of('timestampSeparator', 'Separator', { help: 'Between timestamp and body.' }),
    ],
  ],
  hmac_template: template,
  public_key: template,
  jwt: ({ algorithm }) => [
    [
      of('header', 'Token header', { isRequired: true }),
      of('algorithm', 'Algorithm', { choices: ALGORITHMS.jwt }),
      tolerance,
    ],
    algorithm !== 'HS256' &&
      of('jwksUrl', 'JWKS URL', {
        placeholder: 'https://issuer.example.com/.well-known/jwks.json',
        isRequired: true,
      }),
    [
      of('issuer', 'Issuer'),
      of('audience', 'Audience'),
      of('bodyHashClaim', 'Body hash claim', { help: 'SHA-256 in hex.' }),
    ],
    of('claims', 'Required claims', { kind: 'area', help: 'One name: value pair per line.' }),
  ],
  header_token: () => [
    [
      of('header', 'Header', { placeholder: 'X-Token', isRequired: true }),
      of('prefix', 'Prefix', { placeholder: 'Token ' }),
    ],
  ],
  query_token: () => [of('parameter', 'Query parameter', { placeholder: 'key', isRequired: true })],
  body_token: () => [of('path', 'JSONPath', { placeholder: '$.token', isRequired: true })],
};

/** What the place of the key is called, and an example. */
const KEY_PLACES: Partial<Record<SourceValues['idempotencyKey']['by'], [label: string, example: string]>> = {
  header: ['Header', 'X-Request-Id'],
  jsonPath: ['JSONPath', '$.id'],
  query: ['Query parameter', 'delivery'],
};

function deduplication({ values }: Form, provider: Provider | undefined): Entry {
  const { by, at } = values.idempotencyKey;
  const suggested = suggestedKey(provider);
  const isSuggested = by !== 'none' && by === suggested.by && at === suggested.at;
  const place = KEY_PLACES[by];
  return {
    title: 'Deduplication',
    fields: [
      {
        path: 'idempotencyKey.by',
        label: 'Idempotency key',
        help: isSuggested ? `Suggested for ${provider?.title}.` : undefined,
        choices: [
          { value: 'none', label: 'None: store every webhook' },
          { value: 'header', label: 'Header' },
          { value: 'jsonPath', label: 'Payload field' },
          { value: 'query', label: 'Query parameter' },
          { value: 'signature', label: 'Signature' },
        ],
      },
      place && { path: 'idempotencyKey.at', label: place[0], placeholder: place[1], isRequired: true },
      by !== 'none' && { path: 'idempotencyKey.windowSeconds', label: 'Window', kind: 'whole', unit: 'seconds' },
    ],
  };
}

function advanced({ handshake, answer }: SourceValues, hasToken: boolean): Entry[] {
  const own = handshake.type === 'echo' || handshake.type === 'hmac';
  return [
    {
      path: 'ingestToken',
      label: 'Secret token in the ingest URL',
      choices: choicesOf({ none: 'None', optional: 'Optional', required: 'Required' }),
    },
    {
      ...{ path: 'concealed', label: 'Hide source', kind: 'flag' },
      help: 'Returns 404 for webhooks without a valid signature.',
    },
    {
      ...{ path: 'allowPaths', label: 'Accept subpaths', kind: 'flag' },
      help: 'Accepts webhooks at any path below the ingest URL. Filters and transforms can use the path.',
    },
    {
      path: 'handshake.type',
      label: 'Handshake',
      help: 'Response to the GET or HEAD request that some senders use to check the URL.',
      choices: [
        { value: 'none', label: 'None' },
        { value: 'ok', label: '200 OK' },
        { value: 'echo', label: 'Echo a query parameter' },
        { value: 'hmac', label: 'HMAC of a query parameter' },
      ],
    },
    own && [
      { path: 'handshake.parameter', label: 'Challenge parameter', placeholder: 'challenge', isRequired: true },
      { path: 'handshake.member', label: 'Response JSON field', help: 'Leave empty for plain text.' },
      ...(handshake.type === 'hmac' ? [{ path: 'handshake.echoMember', label: 'Challenge JSON field' }] : []),
    ],
    handshake.type === 'echo' && {
      ...{ path: 'handshake.verifyToken', label: 'Expected hub.verify_token', kind: 'secret' },
      help: hasToken ? 'Leave empty to keep the current value.' : undefined,
    },
    handshake.type === 'hmac' && [
      { path: 'handshake.algorithm', label: 'HMAC algorithm', choices: HASHES },
      { path: 'handshake.encoding', label: 'HMAC encoding', choices: ENCODINGS },
      { path: 'handshake.prefix', label: 'HMAC prefix', placeholder: 'sha256=' },
    ],
    { path: 'answer.isOwn', label: 'Custom response', kind: 'flag', help: 'By default, senders receive the event ID.' },
    answer.isOwn && [
      { path: 'answer.status', label: 'Status code', kind: 'whole' },
      { path: 'answer.contentType', label: 'Content type' },
    ],
    answer.isOwn && { path: 'answer.body', label: 'Body', kind: 'area' },
  ];
}
