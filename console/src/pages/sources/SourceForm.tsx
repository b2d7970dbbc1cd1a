// Creates or changes a source.
import { NativeSelect, Select } from '@mantine/core';
import type { Provider, Source } from '@hookyard/client';
import { useCaller } from '../../api/caller.tsx';
import { useAll } from '../../api/lists.ts';
import { isPrivate } from '../../api/client.ts';
import { Failed } from '../../components/Failed.tsx';
import {
  area,
  choice,
  enabled,
  type Entry,
  flag,
  folded,
  NAME_FIELDS,
  secret,
  section,
  text,
  whole,
  within,
} from '../../forms/fields.tsx';
import { recordPages } from '../../forms/recordPages.tsx';
import { slugOf } from '../start/setup.ts';
import { Instructions } from './Connect.tsx';
import { bestFirst, type Form, handshakeFields, keyOf, members, providerChoices, type SourceValues } from './values.ts';
import { type Config, hasSecret, METHODS, methodFields } from './verification.ts';

const { New, Edit, Settings } = recordPages<typeof members, Source>({
  what: 'source',
  members,
  useEntries: (form, stored) => {
    const { name, slug, provider: providerName, verificationConfig: config } = form.values;
    const { ingestUrl } = useCaller().organization;
    const providers = useAll('listProviders');
    const provider = providers.data?.records.find((one) => one.name === providerName);
    const isNew = stored === undefined;
    const url = `${ingestUrl}/${slug || slugOf(name) || '<slug>'}`;
    return [
      ...NAME_FIELDS,
      text('slug', 'Slug', {
        help: isNew
          ? `Ingest URL: ${url}${isPrivate(ingestUrl) ? ' (not reachable from the internet)' : ''}`
          : 'Part of the ingest URL.',
        placeholder: slugOf(name),
        isFixed: !isNew,
      }),
      section('Signature verification', [
        {
          node: <Method form={form} />,
          paths: ['verificationConfig', 'verificationConfig.type'],
          facts: { 'Signature verification': METHODS[config.type].title },
        },
        {
          node: <ProviderChoice form={form} answer={providers} of={provider} />,
          paths: ['provider'],
          facts: { Provider: provider?.title },
        },
        ...secretFields(config, provider, !isNew),
        ...within('verificationConfig', methodFields(config)),
      ]),
      section('Deduplication', keyFields(form.values.idempotencyKey, provider)),
      folded('Advanced', advanced(form.values, stored?.handshake?.verifyToken !== undefined)),
      enabled('A disabled source refuses webhooks.'),
    ];
  },
});
export { Edit as EditSource, New as NewSource, Settings };

function Method({ form }: { form: Form }) {
  const set = form.setFieldValue as (path: string, value: unknown) => void;
  const { type } = form.values.verificationConfig;
  const choose = (next: Config['type']) => {
    const [algorithm] = METHODS[next].algorithms ?? [];
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
      onChange={(event) => choose(event.currentTarget.value as Config['type'])}
      data={Object.entries(METHODS)
        .filter(([value, { isOfProvider }]) => value === type || !isOfProvider)
        .map(([value, { title }]) => ({ value, label: title }))}
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
    if (JSON.stringify(idempotencyKey) === JSON.stringify(keyOf(of?.dedup ?? null)))
      form.setFieldValue('idempotencyKey', keyOf(next?.dedup ?? null));
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

const KEPT = 'Leave empty to keep the current value.';

function secretFields(config: Config, provider: Provider | undefined, isStored: boolean): Entry[] {
  const isProvider = config.type === 'provider';
  const [label, about] = METHODS[config.type].secret ?? ['Secret'];
  const isAsked = isProvider ? provider?.secret != null : hasSecret(config);
  const optionsOf = (what: string | null | undefined) => {
    const first = what && `${what.charAt(0).toUpperCase()}${what.slice(1)}`.replace(/\.?$/, '.');
    return { help: [first, isStored && KEPT].filter(Boolean).join(' '), isRequired: !isStored };
  };
  return [
    isAsked && secret('verificationConfig.secret', label, optionsOf(isProvider ? provider?.secret : about)),
    isAsked && isStored && { node: null, facts: { [label]: 'Set' } },
    isProvider &&
      provider?.verifyToken != null &&
      secret('verificationConfig.verifyToken', 'Verify token', optionsOf(provider.verifyToken)),
    isProvider &&
      provider?.handshakes.includes('subscription') &&
      flag('verificationConfig.confirmSubscriptions', 'Confirm subscriptions', {
        help: 'If off, the source page shows the confirmation URL.',
      }),
  ];
}

/** What the place of the key is called, and an example. */
const KEY_PLACES: Partial<Record<SourceValues['idempotencyKey']['by'], [label: string, example: string]>> = {
  header: ['Header', 'X-Request-Id'],
  jsonPath: ['JSONPath', '$.id'],
  query: ['Query parameter', 'delivery'],
};

function keyFields({ by, at }: SourceValues['idempotencyKey'], provider: Provider | undefined): Entry[] {
  const suggested = keyOf(provider?.dedup ?? null);
  const isSuggested = by !== 'none' && by === suggested.by && at === suggested.at;
  const [label, placeholder] = KEY_PLACES[by] ?? [];
  const choices = {
    none: 'None: store every webhook',
    header: 'Header',
    jsonPath: 'Payload field',
    query: 'Query parameter',
    signature: 'Signature',
  };
  return [
    choice('idempotencyKey.by', 'Idempotency key', choices, {
      help: isSuggested ? `Suggested for ${provider?.title}.` : undefined,
    }),
    label !== undefined && text('idempotencyKey.at', label, { placeholder, isRequired: true }),
    by !== 'none' && whole('idempotencyKey.windowSeconds', 'Window', { unit: 'seconds' }),
  ];
}

const INGEST_TOKENS = { none: 'None', optional: 'Optional', required: 'Required' };
const HANDSHAKES = { none: 'None', ok: '200 OK', echo: 'Echo a query parameter', hmac: 'HMAC of a query parameter' };

function advanced({ handshake, answer }: SourceValues, hasToken: boolean): Entry[] {
  return [
    choice('ingestToken', 'Secret token in the ingest URL', INGEST_TOKENS),
    flag('concealed', 'Hide source', { help: 'Returns 404 for webhooks without a valid signature.' }),
    flag('allowPaths', 'Accept subpaths', {
      help: 'Accepts webhooks at any path below the ingest URL. Filters and transforms can use the path.',
    }),
    choice('handshake.type', 'Handshake', HANDSHAKES, {
      help: 'Response to the GET or HEAD request that some senders use to check the URL.',
    }),
    ...within('handshake', handshakeFields(handshake.type, hasToken ? KEPT : undefined)),
    flag('answer.isOn', 'Custom response', { help: 'By default, senders receive the event ID.' }),
    answer.isOn && [whole('answer.status', 'Status code'), text('answer.contentType', 'Content type')],
    answer.isOn && area('answer.body', 'Body'),
  ];
}
