// Creates or changes a destination.
import { Button, NativeSelect, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { UseFormReturnType } from '@mantine/form';
import { PlusIcon } from '../../components/icons.tsx';
import type { Destination } from '@hookyard/client';
import { copy } from '../../components/ui.tsx';
import { ENABLED, type Entry, type Field, NAME_FIELDS, RemoveButton } from '../../forms/fields.tsx';
import { recordPages } from '../../forms/recordPages.tsx';
import { newSigningSecret } from '../../components/RotateSecret.tsx';
import { choicesOf } from '../../format.ts';
import {
  AUTH_TYPES,
  CHOICES,
  type ConfigField,
  CREDENTIALS,
  type DestinationValues,
  isFieldOf,
  type MappingRow,
  members,
  type StoreType,
  STORES,
  TYPES,
  WAYS,
} from './values.ts';

type Form = UseFormReturnType<DestinationValues>;

const { New, NewDialog, Edit, Settings } = recordPages<typeof members, Destination>({
  what: 'destination',
  members,
  onSaved: ({ type }) => {
    const test = type === 'http' ? 'send a test webhook' : 'write a test file';
    notifications.show({ message: `Destination saved. To check it, ${test}.` });
  },
  useEntries: (form, stored) => {
    const isNew = stored === undefined;
    const { type } = form.values;
    return [
      ...NAME_FIELDS,
      { path: 'type', label: 'Type', choices: choicesOf(TYPES), isFixed: !isNew },
      ...(type === 'http' ? httpFields(form, isNew) : storeFields(form, type, isNew)),
      { ...ENABLED, help: 'Deliveries to a disabled destination are skipped.' },
    ];
  },
});
export { Edit as EditDestination, New as NewDestination, NewDialog as NewDestinationDialog, Settings };

function httpFields(form: Form, isNew: boolean): Entry[] {
  const { values } = form;
  return [
    [
      { path: 'url', label: 'URL', placeholder: 'https://', isRequired: true },
      { path: 'method', label: 'Method', choices: ['POST', 'PUT', 'PATCH'].map((value) => ({ value, label: value })) },
    ],
    {
      title: 'Authentication',
      fields: [
        { path: 'authType', label: 'Authentication', choices: choicesOf(AUTH_TYPES) },
        ...textFields(form, 'authConfig', CREDENTIALS[values.authType], isNew),
        {
          node: <SigningSecret form={form} />,
          paths: ['signingSecret'],
          facts: [['Signing secret', values.signingSecret || 'None']],
        },
      ],
    },
    {
      title: 'Retries and limits',
      isFolded: true,
      fields: [
        [
          { path: 'retryPolicy.maxRetries', label: 'Maximum retries', kind: 'whole' },
          { path: 'timeoutMs', label: 'Timeout', kind: 'whole', unit: 'ms' },
        ],
        [
          { path: 'retryPolicy.initialDelay', label: 'Initial delay', kind: 'whole', unit: 'ms' },
          { path: 'retryPolicy.backoffMultiplier', label: 'Backoff multiplier', kind: 'number' },
          { path: 'retryPolicy.maxDelay', label: 'Maximum delay', kind: 'whole', unit: 'ms' },
        ],
        [
          { path: 'rateLimitPerMinute', label: 'Rate limit (per minute)', kind: 'whole', empty: 'Unlimited' },
          { path: 'maxConcurrency', label: 'Maximum concurrency', kind: 'whole', empty: 'Automatic' },
        ],
      ],
    },
    {
      title: 'Request',
      isFolded: true,
      fields: [
        { path: 'headers', label: 'Additional headers', kind: 'pairs' },
        {
          path: 'forwardHeaders.mode',
          label: 'Forwarded headers',
          choices: [
            { value: 'usual', label: 'All except credential, connection, proxy, server control and webhook-* headers' },
            { value: 'all', label: 'All except credential and connection headers' },
            { value: 'none', label: 'Only Content-Type and Content-Encoding' },
            { value: 'names', label: 'Only Content-Type, Content-Encoding and the headers below' },
          ],
        },
        values.forwardHeaders.mode === 'names' && {
          ...{ path: 'forwardHeaders.names', label: 'Header names', help: 'Comma-separated.' },
          placeholder: 'X-GitHub-Event, X-GitHub-Delivery',
        },
        { path: 'forwardQuery', label: 'Forward query string', kind: 'flag' },
        { path: 'forwardPath', label: 'Forward subpath', kind: 'flag' },
      ],
    },
  ];
}

/** The texts of `authConfig` or `config`. A secret that is stored is shown masked, and stays when it is left so. */
const textFields = (form: Form, member: 'authConfig' | 'config', fields: ConfigField[], isNew: boolean): Field[] =>
  fields.map(({ name, label, help, placeholder, isOptional, isLong }) => {
    const isMasked = !isNew && String(form.values[member][name]).startsWith('•');
    return {
      ...{ path: `${member}.${name}`, label, placeholder, isRequired: !isOptional },
      kind: isLong ? 'area' : undefined,
      help: [help, isMasked && 'Leave unchanged to keep the current value.'].filter(Boolean).join(' ') || undefined,
    };
  });

function SigningSecret({ form }: { form: Form }) {
  const { signingSecret } = form.values;
  return (
    <div className="rule-row">
      <TextInput
        label="Signing secret"
        description="Signs requests (Standard Webhooks). Leave empty for unsigned requests. Not your provider's secret."
        autoComplete="off"
        {...form.getInputProps('signingSecret')}
      />
      {signingSecret === '' && (
        <Button variant="default" onClick={() => form.setFieldValue('signingSecret', newSigningSecret())}>
          Generate
        </Button>
      )}
      {signingSecret !== '' && !signingSecret.startsWith('•') && (
        <Button variant="default" onClick={() => void copy(signingSecret, 'Secret')}>
          Copy
        </Button>
      )}
    </div>
  );
}

function storeFields(form: Form, type: StoreType, isNew: boolean): Entry[] {
  const { config } = form.values;
  const ways = WAYS[type];
  const fields = STORES[type].filter((field) => isFieldOf(config, field));
  return [
    ways && { path: 'config.credentials', label: 'Credentials', choices: ways },
    ...textFields(form, 'config', fields, isNew),
    type === 's3' && {
      path: 'config.forcePathStyle',
      label: 'Addressing style',
      choices: choicesOf({ '': 'Automatic', false: 'Virtual-hosted', true: 'Path' }),
    },
    { path: 'config.prefix', label: 'Folder', placeholder: 'webhooks' },
    {
      title: 'Files',
      fields: [
        CHOICES.map(({ name, label, data }) => ({
          ...{ path: `config.${name}`, label },
          choices: data.map((value) => ({ value, label: value })),
        })),
        [
          { path: 'config.batchSize', label: 'Maximum events', kind: 'whole' },
          { path: 'config.batchBytes', label: 'Maximum total payload size', kind: 'whole', unit: 'bytes' },
          { path: 'config.batchWindowSeconds', label: 'Maximum wait', kind: 'whole', unit: 'seconds' },
        ],
        { node: <Columns form={form} />, paths: ['fieldMapping'] },
      ],
    },
  ];
}

const COLUMN_TYPES = ['string', 'number', 'decimal', 'boolean', 'timestamp', 'json'];
const NEW_ROW: MappingRow = { source: '$.payload.', target: '', type: 'string', precision: 38, scale: 9, default: '' };
/** The texts of a row, in the order of the form; two are of decimals only. */
const CELLS = [
  ['source', 'Path'],
  ['target', 'Column'],
  ['precision', 'Precision'],
  ['scale', 'Scale'],
  ['default', 'Default'],
] as const;

function Columns({ form }: { form: Form }) {
  const rows = form.values.fieldMapping;
  const change = (next: MappingRow[]) => form.setFieldValue('fieldMapping', next);
  const put = (index: number, part: Partial<MappingRow>) =>
    change(rows.map((row, at) => (at === index ? { ...row, ...part } : row)));
  const read = (name: (typeof CELLS)[number][0], text: string) =>
    name === 'precision' || name === 'scale' ? (text === '' ? null : Number(text)) : text;
  return (
    <fieldset className="fields">
      <legend>Field mapping</legend>
      <div className="stack">
        <p className="small quiet">
          Without columns, each row contains the event's payload, headers and metadata. Paths start with $.payload,
          $.headers, $.id, $.receivedAt or $.source.
        </p>
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name of their own while they are typed
          <fieldset key={index} className="plain-fields rule-row" aria-label={`Column ${index + 1}`}>
            <NativeSelect
              label="Type"
              data={COLUMN_TYPES}
              value={row.type}
              onChange={(event) => put(index, { type: event.currentTarget.value as MappingRow['type'] })}
            />
            {CELLS.filter(([name]) => row.type === 'decimal' || (name !== 'precision' && name !== 'scale')).map(
              ([name, label]) => (
                <TextInput
                  key={name}
                  label={label}
                  value={row[name] ?? ''}
                  onChange={(event) => put(index, { [name]: read(name, event.currentTarget.value) })}
                />
              ),
            )}
            <RemoveButton
              label={`Remove column ${index + 1}`}
              onClick={() => change(rows.filter((_, at) => at !== index))}
            />
          </fieldset>
        ))}
        {form.errors.fieldMapping && (
          <p role="alert" className="bad">
            {form.errors.fieldMapping}
          </p>
        )}
        <div>
          <Button variant="default" leftSection={<PlusIcon />} onClick={() => change([...rows, NEW_ROW])}>
            Add column
          </Button>
        </div>
      </div>
    </fieldset>
  );
}
