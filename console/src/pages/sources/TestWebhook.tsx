// A test of a source: a sample as its sender would send it, and the event that it became.
import { Button } from '@mantine/core';
import type { Source } from '@hookyard/client';
import { useState } from 'react';
import { useMay } from '../../api/caller.tsx';
import { useAll } from '../../api/lists.ts';
import { askAgain } from '../../api/queries.ts';
import { Failed } from '../../components/Failed.tsx';
import { Callout, Card } from '../../components/ui.tsx';
import { Arrived } from '../start/Arrivals.tsx';
import { Send } from '../start/Send.tsx';

/** Whose webhooks would contain the secret, or can be signed by their sender only. */
const WITHOUT_SAMPLE: readonly string[] = [
  ...['header_token', 'query_token', 'body_token', 'basic', 'jwt', 'public_key'],
];

export function TestWebhook({ source }: { source: Source }) {
  const mayWrite = useMay('sources:write');
  const [isEditing, setEditing] = useState(false);
  const [eventId, setEventId] = useState<string | null>(null);
  const providers = useAll('listProviders', source.provider !== null);
  const { type } = source.verificationConfig;
  if (!mayWrite || !source.enabled || WITHOUT_SAMPLE.includes(type)) return null;
  const onSent = (id = '') => {
    setEventId(id);
    void askAgain();
  };
  return (
    <Card
      title="Test"
      actions={
        !isEditing && (
          <Button variant="subtle" onClick={() => setEditing(true)}>
            Edit payload
          </Button>
        )
      }
    >
      <div className="stack">
        {!isEditing && (
          <p className="quiet">
            Your browser sends a {type === 'none' ? '' : 'signed '}sample webhook, with the browser's headers, to the
            ingest URL. Routes deliver the event like any other: it is not marked as a test.
          </p>
        )}
        {providers.error && <Failed error={providers.error} />}
        {(source.provider === null || providers.data) && (
          <Send
            {...{ source, isEditing, onSent }}
            provider={providers.data?.records.find(({ name }) => name === source.provider) ?? null}
          />
        )}
        {eventId !== null && (
          <Callout
            tone="ok"
            role="status"
            title={type === 'none' ? 'Test webhook accepted' : 'Test webhook accepted: signature verified'}
          >
            {eventId !== '' && <Arrived key={eventId} id={eventId} />}
          </Callout>
        )}
      </div>
    </Card>
  );
}
