// A new API key. Its token is shown once, and never kept by the console.
import { Alert, Button, Code, Group, MultiSelect, NativeSelect, Text, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { NewApiKey } from 'hookyard/client';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { copy } from '../../components/CopyMenu.tsx';
import { Page } from '../../components/Page.tsx';
import { FormFrame } from '../../forms/FormFrame.tsx';
import { useRecordForm } from '../../forms/useRecordForm.ts';
import { plain } from '../../format.ts';
import { SCOPE_CHOICES, type Scope } from './scopes.ts';

interface Values {
  name: string;
  /** `read`, `all` or `some`. */
  may: 'read' | 'all' | 'some';
  scopes: string[];
  allowedAddresses: string;
  /** Days; empty: never. */
  expiresAt: string;
}

const START: Values = { name: '', may: 'read', scopes: [], allowedAddresses: '', expiresAt: '90' };
const DAY_MS = 86_400_000;

function scopesOf({ may, scopes }: Values): Scope[] {
  if (may === 'some') return scopes as Scope[];
  return may === 'all' ? ['read', 'write'] : ['read'];
}

export function NewKey() {
  const [made, setMade] = useState<NewApiKey | null>(null);
  return <Page title="New API key">{made ? <Made of={made} /> : <Form onMade={setMade} />}</Page>;
}

function Form({ onMade }: { onMade: (key: NewApiKey) => void }) {
  const record = useRecordForm<Values, NewApiKey>({
    start: START,
    fields: Object.keys(START),
    save: (values) => {
      const addresses = values.allowedAddresses.split(/[\s,]+/).filter(Boolean);
      return call('createApiKey', {
        body: {
          name: values.name,
          scopes: scopesOf(values),
          // Left out it is that of the key that makes it.
          ...(addresses.length > 0 && { allowedAddresses: addresses }),
          ...(values.expiresAt !== '' && {
            expiresAt: new Date(Date.now() + Number(values.expiresAt) * DAY_MS).toISOString(),
          }),
        },
      });
    },
    onSaved: onMade,
  });
  const { form } = record;
  const isSome = form.values.may === 'some';
  return (
    <FormFrame of={record} verb="Make the key">
      <TextInput label="Name" description="Who or what uses it." required {...form.getInputProps('name')} />
      <NativeSelect
        label="It may"
        data={[
          { value: 'read', label: 'look at everything, payloads included' },
          { value: 'all', label: 'look at and change everything' },
          { value: 'some', label: 'do what is chosen here' },
        ]}
        {...form.getInputProps('may')}
        error={isSome ? undefined : form.errors.scopes}
      />
      {isSome && (
        <MultiSelect
          label="Scopes"
          searchable
          data={SCOPE_CHOICES}
          comboboxProps={{ transitionProps: { duration: 0 } }}
          {...form.getInputProps('scopes')}
        />
      )}
      <TextInput
        label="From these addresses only"
        description="Addresses or ranges with commas in between, such as 192.0.2.0/24. Empty: as the key that you are signed in with."
        {...form.getInputProps('allowedAddresses')}
      />
      <NativeSelect
        label="It is valid for"
        data={[
          { value: '1', label: 'a day' },
          { value: '30', label: '30 days' },
          { value: '90', label: '90 days' },
          { value: '365', label: 'a year' },
          { value: '', label: 'as long as the key that you are signed in with' },
        ]}
        {...form.getInputProps('expiresAt')}
      />
      <Text size="sm">A key cannot make one that may do more than itself.</Text>
    </FormFrame>
  );
}

function Made({ of: key }: { of: NewApiKey }) {
  return (
    <Alert color="green" title={`The key ${plain(key.name)} is made`}>
      <Text mb="xs">This is its token. It is shown this once: copy it now.</Text>
      <Code className="anywhere" aria-label="Token">
        {key.token}
      </Code>
      <Group mt="sm">
        <Button size="xs" onClick={() => void copy(key.token, 'The token')}>
          Copy the token
        </Button>
        <Link to="/api-keys">All keys</Link>
      </Group>
    </Alert>
  );
}
