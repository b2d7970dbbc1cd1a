// Replays of events by filter: what is under way, and what was done.
import { Link } from '@tanstack/react-router';
import type { EventReplay } from 'hookyard/client';
import type { Column } from '../../components/DataTable.tsx';
import { useNames } from '../../components/names.tsx';
import { ListPage } from '../../components/ListPage.tsx';
import { Status } from '../../components/Status.tsx';
import { countText, plain } from '../../format.ts';
import { Time } from '../../zone.tsx';

const AGAIN_MS = 3000;

/** What a replay takes, in words. */
export function filterText({ filter }: Pick<EventReplay, 'filter'>, sourceName: (id: string) => string): string {
  const { sourceId, status, routed, from, to, search } = filter;
  const parts = [
    sourceId && `of ${sourceName(sourceId)}`,
    status && `that are ${status}`,
    routed !== undefined && (routed ? 'that a route took' : 'that no route took'),
    from && `from ${from}`,
    to && `to ${to}`,
    search && `with “${plain(search)}”`,
  ].filter(Boolean);
  return parts.length === 0 ? 'all events' : `events ${parts.join(', ')}`;
}

export function Replays() {
  const { nameOf, problem } = useNames('listSources');
  const columns: Column<EventReplay>[] = [
    {
      title: 'Begun',
      cell: (replay) => (
        <Link to={`/replays/${replay.id}`}>
          <Time at={replay.createdAt} />
        </Link>
      ),
      csv: (replay) => replay.createdAt,
    },
    { title: 'Status', cell: (replay) => <Status of={replay.status} />, csv: (replay) => replay.status },
    {
      title: 'What',
      cell: (replay) => <bdi>{filterText(replay, nameOf)}</bdi>,
      csv: (replay) => filterText(replay, nameOf),
    },
    {
      title: 'Replayed',
      cell: (replay) =>
        `${countText(replay.eventsReplayed)} of ${replay.eventsTotal === null ? '?' : countText(replay.eventsTotal)}`,
      csv: (replay) => replay.eventsReplayed,
      numeric: true,
    },
    {
      title: 'Deliveries',
      cell: (replay) => countText(replay.deliveriesCreated),
      csv: (replay) => replay.deliveriesCreated,
      numeric: true,
      wideOnly: true,
    },
    {
      title: 'Ended',
      cell: (replay) => <Time at={replay.finishedAt} />,
      csv: (replay) => replay.finishedAt,
      wideOnly: true,
    },
    { title: 'Id', cell: (replay) => replay.id, csv: (replay) => replay.id, wideOnly: true },
  ];
  return (
    <ListPage
      title="Replays"
      list="listEventReplays"
      columns={columns}
      every={AGAIN_MS}
      path="/replays"
      make={{ label: 'New replay', to: '/replays/new', scope: 'events:write' }}
      filters="A replay delivers all events that match a filter again, in the service: the tab need not stay open."
      empty="There was none yet."
    >
      {problem}
    </ListPage>
  );
}
