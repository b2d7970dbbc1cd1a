// The first webhook of an empty installation: a source, a destination and a route in one form, a sample that is sent, and what
// becomes of it and of others that arrive.
import { Button, Group, PasswordInput, Select, Stack, Text, TextInput } from '@mantine/core';
import type { Provider, Source } from 'hookyard/client';
import { type FormEvent, useRef, useState } from 'react';
import { useAll } from '../../api/all.ts';
import { told } from '../../api/errors.ts';
import { Failed } from '../../components/Failed.tsx';
import { Page } from '../../components/Page.tsx';
import { plain } from '../../format.ts';
import { type FirstValues, type Made, makeAll } from './make.ts';
import { Send } from './Send.tsx';

const START: FirstValues = { name: 'Orders', url: '', provider: '', secret: '', verifyToken: '' };

interface Ready {
  source: Source;
  provider: Provider | null;
  secret: string;
}

export function Start() {
  const [ready, setReady] = useState<Ready | null>(null);
  return (
    <Page title="First webhook">
      <Text mb="sm">
        A source receives webhooks at an address of its own, a route takes them to a destination. Here you make one of
        each.
      </Text>
      {ready ? <Send {...ready} /> : <Make onReady={setReady} />}
    </Page>
  );
}

function Make({ onReady }: { onReady: (ready: Ready) => void }) {
  const [values, setValues] = useState(START);
  const [error, setError] = useState<unknown>(null);
  const [isRunning, setRunning] = useState(false);
  const made = useRef<Made>({});
  const providers = useAll('listProviders');
  const provider = providers.data?.records.find(({ name }) => name === values.provider) ?? null;
  const set = (change: Partial<FirstValues>) => setValues((before) => ({ ...before, ...change }));
  const make = async (event: FormEvent) => {
    event.preventDefault();
    setRunning(true);
    setError(null);
    try {
      onReady({ source: await makeAll(values, made.current), provider, secret: values.secret });
    } catch (problem) {
      setError(problem);
    } finally {
      setRunning(false);
    }
  };
  const choices = (providers.data?.records ?? []).map(({ name, title }) => ({ value: name, label: title }));
  return (
    <form onSubmit={(event) => void make(event)}>
      <Stack maw={520}>
        <Select
          label="Who sends?"
          description={
            providers.error
              ? `The providers could not be loaded: ${plain(told(providers.error).message)}`
              : 'A provider signs what it sends; a sender of your own need not.'
          }
          placeholder="A sender of my own"
          searchable
          clearable
          nothingFoundMessage="None has this name: choose a sender of your own"
          value={values.provider || null}
          onChange={(name) => set({ provider: name ?? '', secret: '', verifyToken: '' })}
          data={choices}
          comboboxProps={{ transitionProps: { duration: 0 } }}
        />
        {provider && <Credentials provider={provider} values={values} set={set} />}
        <TextInput
          label="Name of the source"
          value={values.name}
          onChange={(event) => set({ name: event.currentTarget.value })}
          required
        />
        <TextInput
          label="Deliver to"
          description="An address that takes POST. npx hookyard listen 4000 starts one on this machine: http://localhost:4000"
          type="url"
          value={values.url}
          onChange={(event) => set({ url: event.currentTarget.value })}
          required
        />
        {error !== null && <Failed error={error} />}
        <Group>
          <Button type="submit" loading={isRunning}>
            Make source, destination and route
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface CredentialsProps {
  provider: Provider;
  values: FirstValues;
  set: (change: Partial<FirstValues>) => void;
}

/** What proves that it is the provider who sends. */
function Credentials({ provider, values, set }: CredentialsProps) {
  return (
    <>
      <Text size="sm">{plain(provider.instructions)}</Text>
      {provider.secret !== null && (
        <PasswordInput
          label="Secret"
          description={`It is ${plain(provider.secret)}.`}
          autoComplete="off"
          required
          value={values.secret}
          onChange={(event) => set({ secret: event.currentTarget.value })}
        />
      )}
      {provider.verifyToken !== null && (
        <TextInput
          label="Verify token"
          description={`It is ${plain(provider.verifyToken)}.`}
          required
          value={values.verifyToken}
          onChange={(event) => set({ verifyToken: event.currentTarget.value })}
        />
      )}
    </>
  );
}
