// A new API key. Its token is shown once, and never kept by the console.
import type { ApiKey, NewApiKey } from '@hookyard/client';
import { Button, Code } from '@mantine/core';
import { useState } from 'react';
import { type SingleScope, mayWith, useCaller } from '../../api/caller.tsx';
import { call, consoleUrl, isPrivate } from '../../api/client.ts';
import { crumbOf } from '../../api/queries.ts';
import { Page } from '../../components/Page.tsx';
import { Callout, copy, Facts, PageLink } from '../../components/ui.tsx';
import { exactText, plain, type Zone, zoneName } from '../../format.ts';
import { FormFrame } from '../../forms/FormFrame.tsx';
import { choice, choices, date, Fields, text } from '../../forms/fields.tsx';
import { wordsIn } from '../../forms/members.ts';
import { useRecordForm } from '../../forms/useRecordForm.ts';
import { useZone } from '../../zone.tsx';

// The single scopes that a key may hold.

type Scope = ApiKey['scopes'][number];

const RECORDS = [
  ...(['sources', 'destinations', 'routes', 'filters', 'transforms', 'schemas'] as const),
  ...(['events', 'deliveries', 'issues', 'alerts', 'keys'] as const),
];
const SCOPES: SingleScope[] = [
  ...RECORDS.flatMap((name) => [`${name}:read`, `${name}:write`] as const),
  ...(['payloads:read', 'organization:read', 'audit:read', 'secrets:read'] as const),
];

interface Values {
  name: string;
  access: 'read' | 'all' | 'some';
  scopes: string[];
  allowedAddresses: string;
  /** Days, or `date`; empty: that of the key that creates it. */
  expiresAt: string;
  /** The last day, in the time zone of the pages. */
  lastDay: string;
}

const START: Values = { name: '', access: 'read', scopes: [], allowedAddresses: '', expiresAt: '90', lastDay: '' };
const DAY_MS = 86_400_000;

const ACCESS: Record<Values['access'], string> = {
  read: 'Read-only',
  all: 'Read and write',
  some: 'Custom scopes',
};
const ACCESS_HELP: Record<Values['access'], string> = {
  read: 'Can view everything, including payloads and the audit log, but not secrets.',
  all: 'Can change everything, including API keys, and can export secrets.',
  some: 'The scopes of your previous choice are preselected.',
};
const accessText = ({ scopes }: NewApiKey): string =>
  scopes.includes('write') ? ACCESS.all : scopes.includes('read') ? ACCESS.read : scopes.join(', ');

function scopesOf({ access, scopes }: Pick<Values, 'access' | 'scopes'>): Scope[] {
  if (access === 'some') return scopes as Scope[];
  return access === 'all' ? ['read', 'write'] : ['read'];
}

function expiryOf({ expiresAt, lastDay }: Values, zone: Zone): Date {
  if (expiresAt !== 'date') return new Date(Date.now() + Number(expiresAt) * DAY_MS);
  return new Date(`${lastDay}T23:59:59${zone === 'utc' ? 'Z' : ''}`);
}

export function NewKey() {
  const [made, setMade] = useState<NewApiKey | null>(null);
  return (
    <Page title={made ? plain(made.name) : 'New API key'} crumb={crumbOf('API key')}>
      {made ? <Made of={made} /> : <Form onMade={setMade} />}
    </Page>
  );
}

function Form({ onMade }: { onMade: (key: NewApiKey) => void }) {
  const { key: own } = useCaller();
  const { zone } = useZone();
  const record = useRecordForm<Values, NewApiKey>({
    start: START,
    save: (values) => {
      const addresses = wordsIn(values.allowedAddresses);
      return call('createApiKey', {
        body: {
          name: values.name,
          scopes: scopesOf(values),
          // Left out it is that of the key that creates it.
          ...(addresses.length > 0 && { allowedAddresses: addresses }),
          ...(values.expiresAt !== '' && { expiresAt: expiryOf(values, zone).toISOString() }),
        },
      });
    },
    onSaved: onMade,
  });
  const { form } = record;
  form.watch('access', ({ previousValue, value }) => {
    if (value !== 'some') return;
    const before = scopesOf({ access: previousValue as Values['access'], scopes: [] });
    const scopes = SCOPES.filter((scope) => mayWith(before, scope) && mayWith(own.scopes, scope));
    form.setFieldValue('scopes', scopes);
  });
  const { access, expiresAt, lastDay } = form.values;
  const expiries = {
    1: '1 day',
    30: '30 days',
    90: '90 days',
    365: '1 year',
    date: 'On a specific date',
    '': `Same as your own key (${own.expiresAt ? exactText(own.expiresAt, zone) : 'never'})`,
  };
  return (
    <FormFrame of={record} verb="Create API key">
      <Fields
        form={form}
        of={[
          text('name', 'Name', { help: 'Who or what will use this key.', isRequired: true }),
          choice('access', 'Access', ACCESS, {
            help: `${ACCESS_HELP[access]} A new key cannot have more access than your own.`,
          }),
          access === 'some' && choices('scopes', 'Scopes', SCOPES),
          text('allowedAddresses', 'Allowed addresses', {
            help: `Comma-separated IP addresses or ranges. Leave empty to allow the same addresses as your own key (${own.allowedAddresses?.join(', ') ?? 'any'}).`,
            placeholder: '192.0.2.0/24',
          }),
          choice('expiresAt', 'Expires', expiries, {
            help: Number(expiresAt) > 0 ? exactText(expiryOf(form.values, zone), zone) : undefined,
          }),
          expiresAt === 'date' &&
            date('lastDay', `Last day (${zoneName(zone)})`, {
              help: lastDay === '' ? undefined : `Expires ${exactText(expiryOf(form.values, zone), zone)}`,
              isRequired: true,
            }),
        ]}
      />
    </FormFrame>
  );
}

function Made({ of: key }: { of: NewApiKey }) {
  const { zone } = useZone();
  const facts = {
    Console: consoleUrl,
    Access: accessText(key),
    Expires: key.expiresAt === null ? 'Never' : exactText(key.expiresAt, zone),
  };
  const lines = Object.entries({ ...facts, 'Sign in with this API key': key.token });
  const message = lines.map((line) => line.join(': ')).join('\n');
  return (
    <Callout tone="ok" title={`API key ${plain(key.name)} created`}>
      <div className="stack">
        <p>Copy the API key now. It will not be shown again. The sign-in instructions include it.</p>
        <Facts isWide of={facts} />
        {isPrivate(consoleUrl) && (
          <p className="small quiet">
            The console URL is not reachable from the internet. If your colleague cannot open it, ask the operator for
            another URL.
          </p>
        )}
        <Code className="anywhere" aria-label="API key">
          {key.token}
        </Code>
        <div className="row">
          <Button onClick={() => void copy(key.token, 'API key')}>Copy API key</Button>
          <Button variant="default" onClick={() => void copy(message, 'Sign-in instructions and API key')}>
            Copy sign-in instructions
          </Button>
          <PageLink to="/api-keys" search={{}}>
            All API keys
          </PageLink>
        </div>
      </div>
    </Callout>
  );
}
