// Issues: failures that last.
import { Group } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import type { Issue } from 'hookyard/client';
import { useAsk } from '../../api/queries.ts';
import { CopyMenu } from '../../components/CopyMenu.tsx';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { ChoiceFilter, RecordFilter } from '../../components/filters.tsx';
import { Page } from '../../components/Page.tsx';
import { Status } from '../../components/Status.tsx';
import { countText, plain } from '../../format.ts';
import { pageOf, usePageSearch } from '../../search.ts';
import { causeText, KIND_CHOICES, KINDS, placeOf, STATES } from '../../words/issues.ts';
import { Time } from '../../zone.tsx';

const AGAIN_MS = 5000;

const columns: Column<Issue>[] = [
  {
    title: 'What',
    cell: (issue) => <Link to={`/issues/${issue.id}`}>{KINDS[issue.kind]}</Link>,
    csv: (issue) => issue.kind,
  },
  { title: 'Cause', cell: (issue) => plain(causeText(issue)), csv: (issue) => issue.cause },
  { title: 'State', cell: (issue) => <Status of={issue.state} />, csv: (issue) => issue.state },
  { title: 'Where', cell: (issue) => <bdi>{plain(placeOf(issue))}</bdi>, csv: placeOf },
  { title: 'Failures', cell: (issue) => countText(issue.count), csv: (issue) => issue.count, numeric: true },
  { title: 'Last', cell: (issue) => <Time at={issue.lastSeenAt} />, csv: (issue) => issue.lastSeenAt },
  {
    title: 'Since',
    cell: (issue) => <Time at={issue.firstSeenAt} />,
    csv: (issue) => issue.firstSeenAt,
    wideOnly: true,
  },
  { title: 'Id', cell: (issue) => issue.id, csv: (issue) => issue.id, wideOnly: true },
];

const UNFILTERED = ['state', 'kind', 'sourceId', 'routeId', 'destinationId'] as const;

export function Issues() {
  const [search, set] = usePageSearch();
  const navigate = useNavigate();
  const input = {
    page: pageOf(search),
    pageSize: 50,
    state: search.state as Issue['state'] | undefined,
    kind: search.kind as Issue['kind'] | undefined,
    sourceId: search.sourceId,
    routeId: search.routeId,
    destinationId: search.destinationId,
  };
  const answer = useAsk('listIssues', input, { keep: true, every: AGAIN_MS });
  const isFiltered = UNFILTERED.some((name) => search[name] !== undefined);
  return (
    <Page
      title="Issues"
      actions={<CopyMenu call={{ name: 'listIssues', input }} columns={columns} rows={answer.data?.data ?? []} />}
    >
      <Group align="end" gap="xs" mb="sm">
        <ChoiceFilter name="state" label="State" choices={STATES} />
        <ChoiceFilter name="kind" label="What" choices={KIND_CHOICES} />
        <RecordFilter name="sourceId" label="Source" list="listSources" />
        <RecordFilter name="routeId" label="Route" list="listRoutes" />
        <RecordFilter name="destinationId" label="Destination" list="listDestinations" />
      </Group>
      <DataTable
        title="Issues"
        columns={columns}
        idOf={(issue) => issue.id}
        answer={answer}
        onOpen={(issue) => void navigate({ to: `/issues/${issue.id}` })}
        onPage={(page) => set({ page: String(page) })}
        empty={isFiltered ? 'None matches.' : 'Nothing has kept failing in the last 90 days.'}
      />
    </Page>
  );
}
