// One destination: how well it accepts deliveries, what holds them back, a test, its files if it is a warehouse, and
// its settings.
import { useParams } from '@tanstack/react-router';
import type { Destination } from '@hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { Charts } from '../../charts/Figures.tsx';
import { RecordActions, RotateSecret } from '../../components/actions.tsx';
import { Count, CountLink } from '../../components/Count.tsx';
import { IssuesOf } from '../../components/IssuesOf.tsx';
import { HeldBy, Pause, Resume } from '../../components/Pausing.tsx';
import { RecordPage } from '../../components/RecordPage.tsx';
import { Mono, PageLink, stateOf, Table } from '../../components/ui.tsx';
import { exactTime } from '../../forms/recordPages.tsx';
import { plain } from '../../format.ts';
import { OPEN } from '../../words.ts';
import { Time } from '../../zone.tsx';
import { NotReplayed } from '../deliveries/ReplayFailed.tsx';
import { Batches } from './Batches.tsx';
import { Settings } from './DestinationForm.tsx';
import { Health } from './Health.tsx';
import { OrderKeys, useOrdered } from './OrderKeys.tsx';
import { TestSend } from './TestSend.tsx';
import { TYPES } from './values.ts';

export function DestinationPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const mayWrite = useMay('destinations:write');
  const maySee = useMay('deliveries:read');
  const mayRoutes = useMay('routes:read');
  const isOrdered = useOrdered(id);
  return (
    <RecordPage
      get="getDestination"
      what="destination"
      status={stateOf}
      disabled="Deliveries are skipped. You can replay them later."
      warning="Address not allowed"
      actions={(destination) => mayWrite && <Actions destination={destination} />}
      facts={(destination) => ({
        Type: TYPES[destination.type],
        URL: destination.type === 'http' && <Mono text={destination.url} />,
        Related: maySee && (
          <PageLink to="/deliveries" search={{ destinationId: destination.id, range: '24h' }}>
            View deliveries
          </PageLink>
        ),
        Routes: mayRoutes && <CountLink list="listRoutes" input={{ destinationId: destination.id }} one="route" />,
        Slug: destination.slug,
        Updated: <Time at={destination.updatedAt} />,
      })}
      tabs={(destination) => ({
        Overview: (
          <>
            {mayWrite && <TestSend id={id} isWarehouse={destination.type !== 'http'} />}
            <Health id={id} isWarehouse={destination.type !== 'http'} />
            <Charts
              show={destination.type === 'http' ? ['deliveries', 'percentiles'] : ['deliveries']}
              of={{ destinationId: id }}
            />
          </>
        ),
        Files: destination.type !== 'http' && <Batches id={destination.id} />,
        'Ordering keys': isOrdered && <OrderKeys id={id} />,
        Settings: <Stored of={destination} />,
      })}
    >
      {(destination) => (
        <>
          <IssuesOf of={{ destinationId: destination.id }} />
          <HeldBy destinationId={destination.id} isOfRoutes />
          <NotReplayed destinationId={destination.id} />
        </>
      )}
    </RecordPage>
  );
}

function Stored({ of }: { of: Destination }) {
  const until = of.type === 'http' ? of.previousSigningSecretUntil : null;
  return (
    <>
      <Settings key={of.updatedAt} of={of} more={{ 'Previous secret valid until': exactTime(until) }} />
      {of.type !== 'http' && of.fieldMapping.length > 0 && (
        <Table
          title="Field mapping"
          className="box"
          heads={['Column', 'Path', 'Type', 'Default']}
          rows={of.fieldMapping.map((rule) => [
            plain(rule.target),
            plain(rule.source),
            rule.type,
            plain(rule.default ?? '–'),
          ])}
        />
      )}
    </>
  );
}

function Actions({ destination }: { destination: Destination }) {
  const { id } = destination;
  const isSigned = destination.type === 'http' && destination.signingSecret !== null;
  return (
    <>
      <Resume kind="destination" of={destination} />
      <RecordActions
        kind="destination"
        of={destination}
        disabling={<p>Deliveries are skipped until you enable the destination. You can replay them later.</p>}
        enabling={<p>New events will be delivered. You can replay skipped deliveries.</p>}
        deleting={
          <p>
            This cancels <Count list="listDeliveries" input={{ destinationId: id, status: OPEN }} one="open delivery" />{' '}
            and removes the destination from <Count list="listRoutes" input={{ destinationId: id }} one="route" /> and
            from the failover destinations of all routes. The delivery history is kept.
          </p>
        }
        more={{
          Pause: !destination.paused && <Pause kind="destination" id={id} />,
          'Rotate signing secret': isSigned && (
            <RotateSecret kind="standard" run={(body) => call('rotateSigningSecret', { id, body })}>
              Deliveries are signed with both secrets during the overlap, so the receiver can switch without
              interruption.
            </RotateSecret>
          ),
        }}
      />
    </>
  );
}
