// A test of a source: a sample as its sender would send it, and the event that it became.
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Source } from '@hookyard/client';
import { useState } from 'react';
import { useMay } from '../../api/caller.tsx';
import { useAll } from '../../api/lists.ts';
import { queryClient } from '../../api/queries.ts';
import { Failed, Loading } from '../../components/Failed.tsx';
import { Callout, Card } from '../../components/ui.tsx';
import { Send } from '../start/Send.tsx';

/** Whose webhooks would contain the secret, or can be signed by their sender only. */
const WITHOUT_SAMPLE: readonly string[] = [
  ...['header_token', 'query_token', 'body_token', 'basic', 'jwt', 'public_key'],
];

export function TestWebhook({ source }: { source: Source }) {
  const mayWrite = useMay('sources:write');
  const [isOpen, setOpen] = useState(false);
  const [eventId, setEventId] = useState<string | null>(null);
  const providers = useAll('listProviders', isOpen && source.provider !== null);
  const { type } = source.verificationConfig;
  if (!mayWrite || !source.enabled || WITHOUT_SAMPLE.includes(type)) return null;
  const onSent = (id = '') => {
    setEventId(id);
    // The sample stays the one that was sent.
    void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'signSourceSample' });
  };
  return (
    <Card
      title="Test"
      actions={
        !isOpen && (
          <Button variant="default" onClick={() => setOpen(true)}>
            Send test webhook
          </Button>
        )
      }
    >
      <div className="stack">
        {!isOpen && (
          <p className="quiet">
            {type === 'none'
              ? 'Sends a sample to the ingest URL.'
              : 'Sends a sample to the ingest URL, signed with the stored secret.'}
          </p>
        )}
        {providers.error && <Failed error={providers.error} />}
        {isOpen && source.provider !== null && !providers.data && !providers.error && <Loading />}
        {isOpen && (source.provider === null || providers.data) && (
          <Send
            source={source}
            provider={providers.data?.records.find(({ name }) => name === source.provider) ?? null}
            onSent={onSent}
          />
        )}
        {eventId !== null && (
          <Callout
            tone="ok"
            role="status"
            title={type === 'none' ? 'Test webhook accepted' : 'Test webhook accepted: signature verified'}
          >
            {eventId !== '' && <Link to={`/events/${eventId}`}>View event</Link>}
          </Callout>
        )}
      </div>
    </Card>
  );
}
