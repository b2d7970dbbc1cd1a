// Replays of events by filter: what is under way, and what was done.
import { Button, Group } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import type { EventReplay } from 'hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { useAsk } from '../../api/queries.ts';
import { CopyMenu } from '../../components/CopyMenu.tsx';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { useNames } from '../../components/names.tsx';
import { Page } from '../../components/Page.tsx';
import { Status } from '../../components/Status.tsx';
import { countText, plain } from '../../format.ts';
import { pageOf, usePageSearch } from '../../search.ts';
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
  const [search, set] = usePageSearch();
  const navigate = useNavigate();
  const mayWrite = useMay('events:write');
  const sourceName = useNames('listSources');
  const input = { page: pageOf(search), pageSize: 50 };
  const answer = useAsk('listEventReplays', input, { keep: true, every: AGAIN_MS });
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
      cell: (replay) => <bdi>{filterText(replay, sourceName)}</bdi>,
      csv: (replay) => filterText(replay, sourceName),
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
    <Page
      title="Replays"
      actions={
        <>
          {mayWrite && (
            <Button size="xs" onClick={() => void navigate({ to: '/replays/new' })}>
              New replay
            </Button>
          )}
          <CopyMenu call={{ name: 'listEventReplays', input }} columns={columns} rows={answer.data?.data ?? []} />
        </>
      }
    >
      <Group mb="sm">
        A replay delivers all events that match a filter again, in the service: the tab need not stay open.
      </Group>
      <DataTable
        title="Replays"
        columns={columns}
        idOf={(replay) => replay.id}
        answer={answer}
        onOpen={(replay) => void navigate({ to: `/replays/${replay.id}` })}
        onPage={(page) => set({ page: String(page) })}
        empty="There was none yet."
      />
    </Page>
  );
}
