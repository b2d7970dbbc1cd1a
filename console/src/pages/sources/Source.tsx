// One source: its ingest URL and how its sender is connected, what comes in, what is refused and why, and its settings.
import type { Source } from '@hookyard/client';
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { useAll } from '../../api/lists.ts';
import { askAgain, useAsk } from '../../api/queries.ts';
import { Charts } from '../../charts/Figures.tsx';
import { Count, CountLink } from '../../components/Count.tsx';
import { Failed } from '../../components/Failed.tsx';
import { IssuesOf } from '../../components/IssuesOf.tsx';
import { RecordPage } from '../../components/RecordPage.tsx';
import { Confirm, RecordActions, RotateSecret } from '../../components/actions.tsx';
import { Callout, Card, PageLink, stateOf } from '../../components/ui.tsx';
import { countText } from '../../format.ts';
import { exactTime } from '../../forms/recordPages.tsx';
import { Time } from '../../zone.tsx';
import { Arrived } from '../start/Arrivals.tsx';
import { Send } from '../start/Send.tsx';
import { Connect } from './Connect.tsx';
import { Refusals } from './Refusals.tsx';
import { Settings } from './SourceForm.tsx';
import { verifiedBy } from './verification.ts';

// A test of a source: a sample as its sender would send it, and the event that it became.

/** Whose webhooks would contain the secret, or can be signed by their sender only. */
const WITHOUT_SAMPLE: readonly string[] = [
  ...['header_token', 'query_token', 'body_token', 'basic', 'jwt', 'public_key'],
];

function TestWebhook({ source }: { source: Source }) {
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
            key={`${source.verificationConfig.type} ${source.provider}`}
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

const DAY_SECONDS = 86_400;

export function SourcePage() {
  const mayEvents = useMay('events:read');
  const mayRoutes = useMay('routes:read');
  const mayWrite = useMay('sources:write');
  const mayWriteRoutes = useMay('routes:write');
  const providers = useAll('listProviders').data?.records;
  return (
    <RecordPage
      get="getSource"
      what="source"
      status={stateOf}
      disabled="Webhooks are refused and not stored."
      warning="Weak secret"
      actions={(source) => mayWrite && <Actions source={source} />}
      facts={({ id, ...source }) => ({
        Verification: verifiedBy(source as Source, providers),
        Events: countText(source.eventsCount),
        'Last event': <Time at={source.lastEventAt} />,
        Related: mayEvents && (
          <PageLink to="/events" search={{ sourceId: id, range: '24h' }}>
            View events
          </PageLink>
        ),
        Routes: mayRoutes && <CountLink list="listRoutes" input={{ sourceId: id }} one="route" />,
        Slug: source.slug,
        Created: <Time at={source.createdAt} />,
        Updated: <Time at={source.updatedAt} />,
      })}
      tabs={(source) => ({
        Overview: (
          <>
            <Connect source={source} />
            <TestWebhook source={source} />
            <Charts show={['received', 'refused']} of={{ sourceId: source.id }} />
          </>
        ),
        'Refused webhooks': mayEvents && <Refusals id={source.id} />,
        Settings: (
          <Settings
            key={source.updatedAt}
            of={source}
            more={{
              'Previous secret valid until': exactTime(source.previousSecretUntil),
              'Previous URL valid until': exactTime(source.previousTokenUntil),
              [`Last handshake (${source.lastHandshake?.kind})`]: source.lastHandshake != null && (
                <Time at={source.lastHandshake.at} />
              ),
            }}
          />
        ),
      })}
    >
      {(source) => (
        <>
          {mayRoutes && mayWriteRoutes && <Unconnected id={source.id} />}
          <IssuesOf of={{ sourceId: source.id }} />
        </>
      )}
    </RecordPage>
  );
}

/** What comes next after a source was created. */
function Unconnected({ id }: { id: string }) {
  const { data } = useAsk('listRoutes', { sourceId: id, pageSize: 1 });
  if (data?.pagination.total !== 0) return null;
  return (
    <Callout tone="info" title="No route">
      Events are stored, but not delivered.{' '}
      <PageLink to="/routes/new" search={{ sourceId: id }}>
        Create a route
      </PageLink>
    </Callout>
  );
}

function Actions({ source }: { source: Source }) {
  const mayReadEvents = useMay('events:read');
  const { id } = source;
  return (
    <RecordActions
      kind="source"
      of={source}
      disabling={<p>Webhooks receive a 403 response and are not stored. Some senders retry; others give up.</p>}
      enabling={<p>The source will accept webhooks again.</p>}
      deleting={
        <p>
          The source's routes,{' '}
          {mayReadEvents ? <Count list="listEvents" input={{ sourceId: id }} one="event" /> : 'events'} and their
          deliveries are also deleted. The ingest URL will return 404.
        </p>
      }
      more={{
        'Rotate secret': source.verificationConfig.type !== 'none' && (
          <RotateSecret kind="own" run={(body) => call('rotateVerificationSecret', { id, body })}>
            Enter the secret that the sender will use. The previous secret stays valid during the overlap.
          </RotateSecret>
        ),
        'Rotate ingest URL': source.ingestToken !== 'none' && (
          <Confirm
            title="Rotate ingest URL"
            run={() => call('rotateIngestToken', { id, body: { overlapSeconds: DAY_SECONDS } })}
            said="Ingest URL rotated"
          >
            <p>
              The URL gets a new secret token. Give the new URL to the sender. The previous URL stays valid for 24
              hours.
            </p>
          </Confirm>
        ),
      }}
    />
  );
}
