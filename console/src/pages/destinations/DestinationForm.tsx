// Creates or changes a destination.
import { Button, NativeSelect, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { UseFormReturnType } from '@mantine/form';
import type { Destination } from '@hookyard/client';
import { copy } from '../../components/ui.tsx';
import {
  choice,
  enabled,
  type Entry,
  flag,
  folded,
  NAME_FIELDS,
  number,
  pairs,
  section,
  text,
  whole,
  within,
  withMasks,
} from '../../forms/fields.tsx';
import { recordPages } from '../../forms/recordPages.tsx';
import { Rows } from '../../forms/Conditions.tsx';
import { newSigningSecret } from '../../components/actions.tsx';
import {
  AUTH_TYPES,
  CREDENTIALS,
  type DestinationValues,
  fieldsOfStore,
  FILES,
  type MappingRow,
  members,
  TYPES,
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
    const { type, config } = form.values;
    return [
      ...NAME_FIELDS,
      choice('type', 'Type', TYPES, { isFixed: stored !== undefined }),
      ...(type === 'http' ? httpFields(form) : withMasks('config', fieldsOfStore(type, config), config)),
      type !== 'http' &&
        section('Files', [...within('config', FILES), { node: <Columns form={form} />, paths: ['fieldMapping'] }]),
      enabled('Deliveries to a disabled destination are skipped.'),
    ];
  },
});
export { Edit as EditDestination, New as NewDestination, NewDialog as NewDestinationDialog, Settings };

const FORWARDED = {
  usual: 'All except credential, connection, proxy, server control and webhook-* headers',
  all: 'All except credential and connection headers',
  none: 'Only Content-Type and Content-Encoding',
  names: 'Only Content-Type, Content-Encoding and the headers below',
};

function httpFields(form: Form): Entry[] {
  const { authType, authConfig, signingSecret, forwardHeaders } = form.values;
  return [
    [
      text('url', 'URL', { placeholder: 'https://', isRequired: true }),
      choice('method', 'Method', ['POST', 'PUT', 'PATCH']),
    ],
    section('Authentication', [
      choice('authType', 'Authentication', AUTH_TYPES),
      ...withMasks('authConfig', CREDENTIALS[authType], authConfig),
      {
        node: <SigningSecret form={form} />,
        paths: ['signingSecret'],
        facts: { 'Signing secret': signingSecret || 'None' },
      },
    ]),
    folded('Retries and limits', [
      [whole('retryPolicy.maxRetries', 'Maximum retries'), whole('timeoutMs', 'Timeout', { unit: 'ms' })],
      [
        whole('retryPolicy.initialDelay', 'Initial delay', { unit: 'ms' }),
        number('retryPolicy.backoffMultiplier', 'Backoff multiplier'),
        whole('retryPolicy.maxDelay', 'Maximum delay', { unit: 'ms' }),
      ],
      [
        whole('rateLimitPerMinute', 'Rate limit (per minute)', { empty: 'Unlimited' }),
        whole('maxConcurrency', 'Maximum concurrency', { empty: 'Automatic' }),
      ],
    ]),
    folded('Request', [
      pairs('headers', 'Additional headers'),
      choice('forwardHeaders.mode', 'Forwarded headers', FORWARDED),
      forwardHeaders.mode === 'names' &&
        text('forwardHeaders.names', 'Header names', {
          help: 'Comma-separated.',
          placeholder: 'X-GitHub-Event, X-GitHub-Delivery',
        }),
      flag('forwardQuery', 'Forward query string'),
      flag('forwardPath', 'Forward subpath'),
    ]),
  ];
}

function SigningSecret({ form }: { form: Form }) {
  const { signingSecret } = form.values;
  return (
    <div className="rule-row">
      <TextInput
        label="Signing secret"
        description="Signs requests (Standard Webhooks). Leave empty for unsigned requests. Do not use your provider's secret."
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
  const read = (name: (typeof CELLS)[number][0], typed: string) =>
    name === 'precision' || name === 'scale' ? (typed === '' ? null : Number(typed)) : typed;
  return (
    <fieldset className="fields">
      <legend>Field mapping</legend>
      <div className="stack">
        <p className="small quiet">
          Without columns, each row contains the event's payload, headers and metadata. Paths start with $.payload,
          $.headers, $.id, $.receivedAt or $.source.
        </p>
        <Rows
          one="column"
          rows={form.values.fieldMapping}
          onChange={(rows) => form.setFieldValue('fieldMapping', rows)}
          start={NEW_ROW}
          error={form.errors.fieldMapping}
        >
          {(row, put) => (
            <>
              <NativeSelect
                label="Type"
                data={COLUMN_TYPES}
                value={row.type}
                onChange={(event) => put({ type: event.currentTarget.value as MappingRow['type'] })}
              />
              {CELLS.filter(([name]) => row.type === 'decimal' || (name !== 'precision' && name !== 'scale')).map(
                ([name, label]) => (
                  <TextInput
                    key={name}
                    label={label}
                    value={row[name] ?? ''}
                    onChange={(event) => put({ [name]: read(name, event.currentTarget.value) })}
                  />
                ),
              )}
            </>
          )}
        </Rows>
      </div>
    </fieldset>
  );
}
