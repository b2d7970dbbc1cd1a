// A sample for a source that was just made: as its sender would send it, signed as its provider signs.
import { Button, Code, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Provider, SignedSample, Source } from 'hookyard/client';
import { useEffect, useState } from 'react';
import { call } from '../../api/client.ts';
import { told } from '../../api/errors.ts';
import { useAsk } from '../../api/queries.ts';
import { Failed } from '../../components/Failed.tsx';
import { Editor } from '../../editor/Editor.tsx';
import { jsonOrNothing } from '../../exact-json.ts';
import { plain } from '../../format.ts';
import { Arrivals } from './Arrivals.tsx';
import { sendTo, type ToSend } from './send.ts';

const OWN = JSON.stringify({ type: 'order.paid', order: { id: 42, total: '19.90', currency: 'EUR' } }, null, 2);
const JSON_HEADERS = { 'Content-Type': 'application/json' };

interface Props {
  source: Source;
  /** Null: a sender of one's own. */
  provider: Provider | null;
  /** Of the source; empty: the provider brings it. */
  secret: string;
}

export function Send({ source, provider, secret }: Props) {
  const [isSent, setSent] = useState(false);
  return (
    <Stack>
      <Text>
        Webhooks for {plain(source.name)} go to <Code className="anywhere">{source.webhookUrl}</Code>. Send a sample, or
        let your provider send one: <Link to={`/sources/${source.id}`}>how to connect it</Link>.
      </Text>
      {provider === null && <OwnSample source={source} onSent={() => setSent(true)} />}
      {provider !== null && secret === '' && (
        <Text>{plain(provider.title)} brings the secret when you connect it; what it sends appears here.</Text>
      )}
      {provider !== null && secret !== '' && (
        <ProviderSample source={source} provider={provider} secret={secret} onSent={() => setSent(true)} />
      )}
      <Arrivals source={source} isAwaited={isSent} />
    </Stack>
  );
}

function OwnSample({ source, onSent }: { source: Source; onSent: () => void }) {
  const [payload, setPayload] = useState(OWN);
  const make = () => Promise.resolve({ payload, headers: JSON_HEADERS, query: '' });
  return <Form source={source} payload={payload} setPayload={setPayload} make={make} onSent={onSent} />;
}

interface ProviderSampleProps {
  source: Source;
  provider: Provider;
  secret: string;
  onSent: () => void;
}

function ProviderSample({ source, provider, secret, onSent }: ProviderSampleProps) {
  const [event, setEvent] = useState(provider.samples[0] ?? '');
  const [payload, setPayload] = useState('');
  const body = { provider: provider.name, secret, url: source.webhookUrl, event };
  const { data, error } = useAsk('signSample', { body });
  const sample = data && readable(data);
  const isThere = sample !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: that of an event is shown once; what was typed over it stays
  useEffect(() => setPayload(sample ?? ''), [event, isThere]);
  // It signs with a key that nobody else has, for example.
  if (error) return <Text role="alert">{plain(told(error).message)}</Text>;
  // What is as it was made is sent as the provider sends it, byte by byte.
  const make = () => call('signSample', { body: { ...body, ...(payload !== sample && { payload }) } });
  return (
    <>
      {provider.samples.length > 1 && (
        <NativeSelect
          label="Event"
          maw={320}
          value={event}
          onChange={({ currentTarget }) => setEvent(currentTarget.value)}
          data={provider.samples}
        />
      )}
      <Form source={source} payload={payload} setPayload={setPayload} make={make} onSent={onSent} />
    </>
  );
}

function readable({ sample }: SignedSample): string {
  const parsed = jsonOrNothing(sample);
  return parsed ? JSON.stringify(parsed.value, null, 2) : sample;
}

interface FormProps {
  source: Source;
  payload: string;
  setPayload: (payload: string) => void;
  make: () => Promise<ToSend>;
  onSent: () => void;
}

function Form({ source, payload, setPayload, make, onSent }: FormProps) {
  const [error, setError] = useState<unknown>(null);
  const send = async () => {
    setError(null);
    try {
      await sendTo(source.webhookUrl, await make());
      onSent();
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <>
      <Editor label="A sample payload" language="json" value={payload} onChange={setPayload} />
      <Group>
        <Button onClick={() => void send()}>Send it</Button>
      </Group>
      {error !== null && <Failed error={error} />}
    </>
  );
}
