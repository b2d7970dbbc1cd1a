// A sample for a source that was just created: as its sender would send it, signed as its provider signs.
import { Button, NativeSelect } from '@mantine/core';
import type { Provider, SignedSample, Source } from '@hookyard/client';
import { useEffect, useState } from 'react';
import { call } from '../../api/client.ts';
import { told } from '../../api/errors.ts';
import { useAsk } from '../../api/queries.ts';
import { Failed } from '../../components/Failed.tsx';
import { Editor } from '../../editor/Editor.tsx';
import { jsonOrNothing } from '../../exact-json.ts';
import { plain } from '../../format.ts';
import { sendTo, type ToSend } from './setup.ts';

const OWN = JSON.stringify({ type: 'order.paid', order: { id: 42, total: '19.90', currency: 'EUR' } }, null, 2);
const JSON_HEADERS = { 'Content-Type': 'application/json' };

interface Props {
  source: Source;
  /** Null: a custom sender. */
  provider: Provider | null;
  /** Of the source; empty: the provider brings it. */
  secret: string;
  onSent: () => void;
}

export function Send({ provider, secret, ...props }: Props) {
  if (provider === null) return <OwnSample {...props} />;
  if (secret === '')
    return <p>{plain(provider.title)} provides the secret when you connect it. Its webhooks appear below.</p>;
  return <ProviderSample {...props} provider={provider} secret={secret} />;
}

function OwnSample(props: Pick<Props, 'source' | 'onSent'>) {
  const [payload, setPayload] = useState(OWN);
  const make = () => Promise.resolve({ payload, headers: JSON_HEADERS, query: '' });
  return <Form {...props} payload={payload} setPayload={setPayload} make={make} />;
}

function ProviderSample({ source, provider, secret, onSent }: Props & { provider: Provider }) {
  const [event, setEvent] = useState(provider.samples[0] ?? '');
  const [payload, setPayload] = useState('');
  const body = { provider: provider.name, secret, url: source.webhookUrl, event };
  const { data, error } = useAsk('signSample', { body });
  const sample = data && readable(data);
  const isThere = sample !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: that of an event is shown once; what was typed over it stays
  useEffect(() => setPayload(sample ?? ''), [event, isThere]);
  // It signs with a key that nobody else has, for example.
  if (error) return <p role="alert">{plain(told(error).message)}</p>;
  // What is as it was made is sent as the provider sends it, byte by byte.
  const make = () => call('signSample', { body: { ...body, ...(payload !== sample && { payload }) } });
  return (
    <>
      {provider.samples.length > 1 && (
        <NativeSelect
          label="Event type"
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

interface FormProps extends Pick<Props, 'source' | 'onSent'> {
  payload: string;
  setPayload: (payload: string) => void;
  make: () => Promise<ToSend>;
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
      <Editor label="Sample payload" language="json" value={payload} onChange={setPayload} />
      <div>
        <Button onClick={() => void send()}>Send sample</Button>
      </div>
      {error !== null && <Failed error={error} />}
    </>
  );
}
