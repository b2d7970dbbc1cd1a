// A sample for a source: as its sender would send it, signed with the stored secret.
import { Button, NativeSelect } from '@mantine/core';
import type { Provider, Source } from '@hookyard/client';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { told } from '../../api/errors.ts';
import { useAsk, useTask } from '../../api/queries.ts';
import { Failed } from '../../components/Failed.tsx';
import { Editor } from '../../editor/Editor.tsx';
import { indented } from '../../exact-json.ts';
import { plain } from '../../format.ts';
import { sendTo, type ToSend } from './setup.ts';

const OWN = JSON.stringify({ type: 'order.paid', order: { id: 42, total: '19.90', currency: 'EUR' } }, null, 2);
const JSON_HEADERS = { 'Content-Type': 'application/json' };

interface Props {
  source: Source;
  /** Null: a custom sender. */
  provider: Provider | null;
  /** Whether the payload is shown and can be changed. */
  isEditing?: boolean;
  onSent: (eventId: string | undefined) => void;
}

export function Send(props: Props) {
  return props.source.verificationConfig.type === 'none' ? <UnsignedSample {...props} /> : <Signed {...props} />;
}

function UnsignedSample(props: Props) {
  const [payload, setPayload] = useState(OWN);
  const make = () => Promise.resolve({ payload, headers: JSON_HEADERS, query: '' });
  return <Form {...props} payload={payload} setPayload={setPayload} make={make} />;
}

function Signed({ source, provider, isEditing = true, onSent }: Props) {
  const samples = provider?.samples ?? [];
  const [event, setEvent] = useState(samples[0]);
  const [typed, setTyped] = useState<string | null>(null);
  const [isSent, setSent] = useState(false);
  const { data, error, refetch } = useAsk(
    'signSourceSample',
    { id: source.id, body: { event } },
    { enabled: isEditing },
  );
  const shown = data ? indented(data.sample) : '';
  // Its provider signs with a key that nobody else has, or has not sent its secret yet, for example.
  if (error) return <p role="alert">{plain(told(error).message)}</p>;
  const make = async () => {
    // A sample that was sent is a duplicate: another one, with an ID of its own, is shown and sent.
    const sample = isEditing && typed === null && isSent ? (await refetch({ throwOnError: true })).data : data;
    // Signed now: the signature of the one that is shown may have expired. The bytes are those of the provider.
    const made = await call('signSourceSample', { id: source.id, body: { event, payload: typed ?? sample?.sample } });
    setSent(true);
    return made;
  };
  return (
    <>
      {isEditing && samples.length > 1 && (
        <NativeSelect
          label="Event type"
          value={event ?? ''}
          onChange={({ currentTarget }) => {
            setEvent(currentTarget.value);
            setTyped(null);
            setSent(false);
          }}
          data={samples}
        />
      )}
      <Form
        {...{ source, isEditing, make, onSent }}
        payload={typed ?? shown}
        setPayload={(text) => setTyped(text === shown ? null : text)}
      />
    </>
  );
}

interface FormProps extends Pick<Props, 'source' | 'isEditing' | 'onSent'> {
  payload: string;
  setPayload: (payload: string) => void;
  make: () => Promise<ToSend>;
}

function Form({ source, isEditing = true, payload, setPayload, make, onSent }: FormProps) {
  const { mutate, isPending, error } = useTask();
  const send = async () => onSent(await sendTo(source.webhookUrl, await make()));
  return (
    <>
      {isEditing && <Editor label="Sample payload" language="json" value={payload} onChange={setPayload} />}
      <div>
        <Button loading={isPending} onClick={() => mutate(send)}>
          Send test webhook
        </Button>
      </div>
      {error !== null && <Failed error={error} />}
    </>
  );
}
