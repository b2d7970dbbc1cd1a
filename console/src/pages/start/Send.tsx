// A sample for a source: as its sender would send it, signed with the stored secret.
import { Button, NativeSelect } from '@mantine/core';
import type { Provider, Source } from '@hookyard/client';
import { useState } from 'react';
import { call, told } from '../../api/client.ts';
import { useAsk, useTask } from '../../api/queries.ts';
import { Failed } from '../../components/Failed.tsx';
import { Editor } from '../../editor/Editor.tsx';
import { indented } from '../../json.ts';
import { plain } from '../../format.ts';
import { sendTo, type ToSend } from './setup.ts';

/** What a custom sender sends, unsigned. */
const OWN = JSON.stringify({ type: 'order.paid', order: { id: 42, total: '19.90', currency: 'EUR' } }, null, 2);

interface Props {
  source: Source;
  /** Null: a custom sender. */
  provider: Provider | null;
  /** Whether the payload is shown and can be changed. */
  isEditing?: boolean;
  onSent: (eventId: string | undefined) => void;
}

export function Send({ source, provider, isEditing = true, onSent }: Props) {
  const isSigned = source.verificationConfig.type !== 'none';
  const samples = isSigned ? (provider?.samples ?? []) : [];
  const [event, setEvent] = useState(samples[0]);
  const [typed, setTyped] = useState<string | null>(null);
  const [isSent, setSent] = useState(false);
  const { mutate, isPending, error } = useTask();
  const signed = useAsk('signSourceSample', { id: source.id, body: { event } }, { enabled: isSigned && isEditing });
  const shown = !isSigned ? OWN : signed.data ? indented(signed.data.sample) : '';
  // Its provider signs with a key that nobody else has, or has not sent its secret yet, for example.
  if (isSigned && signed.error) return <p role="alert">{plain(told(signed.error).message)}</p>;
  const make = async (): Promise<ToSend> => {
    if (!isSigned) return { payload: typed ?? OWN, headers: { 'Content-Type': 'application/json' }, query: '' };
    // A sample that was sent is a duplicate: another one, with an ID of its own, is shown and sent.
    const isUsed = isEditing && typed === null && isSent;
    const sample = isUsed ? (await signed.refetch({ throwOnError: true })).data : signed.data;
    // Signed now: the signature of the one that is shown may have expired. The bytes are those of the provider.
    const made = await call('signSourceSample', { id: source.id, body: { event, payload: typed ?? sample?.sample } });
    setSent(true);
    return made;
  };
  const send = async () => onSent(await sendTo(source.webhookUrl, await make()));
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
      {isEditing && (
        <Editor
          label="Sample payload"
          language="json"
          value={typed ?? shown}
          onChange={(text) => setTyped(text === shown ? null : text)}
        />
      )}
      <div>
        <Button loading={isPending} onClick={() => mutate(send)}>
          Send test webhook
        </Button>
      </div>
      {error !== null && <Failed error={error} />}
    </>
  );
}
