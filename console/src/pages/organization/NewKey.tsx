// A new API key. Its token is shown once, and never kept by the console.
import { Button, Code } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { NewApiKey } from '@hookyard/client';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { Page } from '../../components/Page.tsx';
import { Callout, copy } from '../../components/ui.tsx';
import { FormFrame } from '../../forms/FormFrame.tsx';
import { Fields } from '../../forms/fields.tsx';
import { wordsIn } from '../../forms/members.ts';
import { useRecordForm } from '../../forms/useRecordForm.ts';
import { plain } from '../../format.ts';
import { SCOPES, type Scope } from './scopes.ts';

interface Values {
  name: string;
  access: 'read' | 'all' | 'some';
  scopes: string[];
  allowedAddresses: string;
  /** Days, or `date`; empty: that of the key that creates it. */
  expiresAt: string;
  /** The last day, in the time zone of the browser. */
  lastDay: string;
}

const START: Values = { name: '', access: 'read', scopes: [], allowedAddresses: '', expiresAt: '90', lastDay: '' };
const DAY_MS = 86_400_000;

function scopesOf({ access, scopes }: Values): Scope[] {
  if (access === 'some') return scopes as Scope[];
  return access === 'all' ? ['read', 'write'] : ['read'];
}

function expiryOf({ expiresAt, lastDay }: Values): Date {
  if (expiresAt !== 'date') return new Date(Date.now() + Number(expiresAt) * DAY_MS);
  return new Date(`${lastDay}T23:59:59`);
}

export function NewKey() {
  const [made, setMade] = useState<NewApiKey | null>(null);
  return (
    <Page title="New API key" crumb={{ to: '/api-keys', label: 'API keys' }}>
      {made ? <Made of={made} /> : <Form onMade={setMade} />}
    </Page>
  );
}

function Form({ onMade }: { onMade: (key: NewApiKey) => void }) {
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
          ...(values.expiresAt !== '' && { expiresAt: expiryOf(values).toISOString() }),
        },
      });
    },
    onSaved: onMade,
  });
  return (
    <FormFrame of={record} verb="Create API key">
      <Fields
        form={record.form}
        of={[
          { path: 'name', label: 'Name', help: 'The person or program that uses the key.', isRequired: true },
          {
            path: 'access',
            label: 'Access',
            help: 'Read only: events, deliveries, payloads and settings, but no secrets. A key cannot grant more than the key you are signed in with.',
            choices: [
              { value: 'read', label: 'Read only' },
              { value: 'all', label: 'Read and write' },
              { value: 'some', label: 'Custom scopes' },
            ],
          },
          record.form.values.access === 'some' && {
            ...{ path: 'scopes', label: 'Scopes', isMany: true },
            choices: SCOPES.map((value) => ({ value, label: value })),
          },
          {
            ...{ path: 'allowedAddresses', label: 'Allowed addresses', placeholder: '192.0.2.0/24' },
            help: 'IP addresses or ranges, comma-separated. Leave empty for the addresses of your own key.',
          },
          {
            path: 'expiresAt',
            label: 'Expires',
            choices: [
              { value: '1', label: '1 day' },
              { value: '30', label: '30 days' },
              { value: '90', label: '90 days' },
              { value: '365', label: '1 year' },
              { value: 'date', label: 'On a date' },
              { value: '', label: 'Same as your own key' },
            ],
          },
          record.form.values.expiresAt === 'date' && {
            ...{ path: 'lastDay', label: 'Last day', kind: 'date', isRequired: true },
            help: 'The key expires at the end of this day.',
          },
        ]}
      />
    </FormFrame>
  );
}

function Made({ of: key }: { of: NewApiKey }) {
  return (
    <Callout tone="ok" title={`API key ${plain(key.name)} created`}>
      <div className="stack">
        <p>Copy the API key now. It is not shown again.</p>
        <Code className="anywhere" aria-label="API key">
          {key.token}
        </Code>
        <div className="row">
          <Button onClick={() => void copy(key.token, 'API key')}>Copy API key</Button>
          <Link to="/api-keys">All API keys</Link>
        </div>
      </div>
    </Callout>
  );
}
