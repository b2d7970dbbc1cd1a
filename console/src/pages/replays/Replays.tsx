// Replays of events by filter: what is under way, how far it is, and what was done.
import { Progress } from '@mantine/core';
import type { EventReplay } from '@hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { WATCH_MS } from '../../api/queries.ts';
import { ConfirmedAction } from '../../components/actions.tsx';
import { beginColumn, type Column } from '../../components/DataTable.tsx';
import { ListPage } from '../../components/ListPage.tsx';
import { useNames } from '../../components/names.tsx';
import { RecordPage } from '../../components/RecordPage.tsx';
import { Callout, Card, Facts } from '../../components/ui.tsx';
import { countText, plain, plural } from '../../format.ts';
import { Time } from '../../zone.tsx';

/** `5 of 12,431`; `5` while the total is unknown. */
const progressText = (done: number, total: number | null): string =>
  total === null ? countText(done) : `${countText(done)} of ${countText(total)}`;

/** What a replay takes, in words. */
function filterText({ filter }: Pick<EventReplay, 'filter'>, sourceName: (id: string) => string): string {
  const { sourceId, status, routed, from, to, search } = filter;
  const parts = [
    sourceId && `source ${sourceName(sourceId)}`,
    status && `status ${status}`,
    routed !== undefined && (routed ? 'routed' : 'not routed'),
    from && `from ${from}`,
    to && `to ${to}`,
    search && `containing "${plain(search)}"`,
  ].filter(Boolean);
  return parts.length === 0 ? 'All events' : `Events: ${parts.join(', ')}`;
}

export function Replays() {
  const { nameOf, problem } = useNames('listSources');
  const columns: Column<EventReplay>[] = [
    beginColumn('Created', '/replays', (replay) => replay.createdAt),
    { title: 'Status', value: (replay) => replay.status, as: 'status' },
    { title: 'Events', value: (replay) => filterText(replay, nameOf) },
    {
      title: 'Replayed',
      value: (replay) => replay.eventsReplayed,
      cell: (replay) => progressText(replay.eventsReplayed, replay.eventsTotal),
      numeric: true,
    },
    { title: 'Deliveries', value: (replay) => replay.deliveriesCreated, as: 'count', wideOnly: true },
    { title: 'Finished', value: (replay) => replay.finishedAt, as: 'time', wideOnly: true },
    { title: 'ID', value: (replay) => replay.id, as: 'id', wideOnly: true },
  ];
  return (
    <ListPage
      of="replay"
      list="listEventReplays"
      columns={columns}
      every={WATCH_MS}
      make="events:write"
      empty="A replay delivers a selection of stored events again in the background. Replays of single events and deliveries are listed under Deliveries."
    >
      {problem}
    </ListPage>
  );
}

const hasEnded = ({ status }: EventReplay) => status !== 'pending' && status !== 'running';

export function ReplayPage() {
  const mayWrite = useMay('events:write');
  return (
    <RecordPage
      get="getEventReplay"
      every={WATCH_MS}
      what="replay"
      status={({ status }) => status}
      actions={(replay) => mayWrite && !hasEnded(replay) && <Cancel id={replay.id} />}
      facts={(replay) => ({
        Created: <Time at={replay.createdAt} exact />,
        Started: <Time at={replay.startedAt} />,
        Finished: <Time at={replay.finishedAt} />,
        'Rate limit': `${plural(replay.ratePerSecond, 'event')} per second`,
        Workflow: replay.temporalUrl !== null && (
          <a href={replay.temporalUrl} target="_blank" rel="noreferrer">
            View in Temporal
          </a>
        ),
      })}
    >
      {(replay) => <Shown replay={replay} />}
    </RecordPage>
  );
}

function Shown({ replay }: { replay: EventReplay }) {
  const { eventsTotal, eventsReplayed, eventsExpired, eventsUnroutable, destinationIds } = replay;
  const sources = useNames('listSources');
  const destinations = useNames('listDestinations', destinationIds !== null);
  const judged = eventsReplayed + eventsExpired + eventsUnroutable;
  const share = eventsTotal === null || eventsTotal === 0 ? null : Math.min(100, (100 * judged) / eventsTotal);
  return (
    <>
      {replay.waitsFor !== null && (
        <Callout tone="warn" title="Waiting (continues automatically)">
          {plain(replay.waitsFor)}
        </Callout>
      )}
      {replay.error !== null && (
        <Callout tone="bad" title="Replay failed">
          {plain(replay.error)}
        </Callout>
      )}
      {sources.problem}
      {destinations.problem}
      <Card title="Progress">
        <div className="stack">
          <p role="status">{progressText(judged, eventsTotal)} done</p>
          {share !== null && <Progress value={share} aria-label="Progress" />}
          <Facts
            isWide
            of={{
              'Events replayed': countText(eventsReplayed),
              'Deliveries created': countText(replay.deliveriesCreated),
              'Payload expired': countText(eventsExpired),
              'No route': countText(eventsUnroutable),
              'Replayed up to': replay.replayedUntil !== null && <Time at={replay.replayedUntil} exact />,
            }}
          />
        </div>
      </Card>
      <Card title="Selection">
        <Facts
          isWide
          of={{
            Filter: <bdi>{filterText(replay, sources.nameOf)}</bdi>,
            Destinations:
              destinationIds === null
                ? "All destinations of the sources' enabled routes"
                : destinationIds.map(destinations.nameOf).join(', '),
          }}
        />
      </Card>
    </>
  );
}

const Cancel = ({ id }: { id: string }) => (
  <ConfirmedAction
    label="Cancel"
    title="Cancel replay"
    run={() => call('cancelEventReplay', { id })}
    said="Replay cancelled"
  >
    <p>No more deliveries will be created. Existing deliveries continue. To replay the rest, start a new replay.</p>
  </ConfirmedAction>
);
