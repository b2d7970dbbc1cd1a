// Issues: failures that last.
import { Link } from '@tanstack/react-router';
import type { Issue } from '@hookyard/client';
import type { Column } from '../../components/DataTable.tsx';
import { ChoiceFilter, RecordFilter } from '../../components/filters.tsx';
import { ListPage } from '../../components/ListPage.tsx';
import { plain } from '../../format.ts';
import { usePageSearch } from '../../search.ts';
import { causeText, KIND_CHOICES, KINDS, placeOf, STATES } from '../../words/issues.ts';

const AGAIN_MS = 5000;
const VIEWS = { Open: { state: 'open' }, Acknowledged: { state: 'acknowledged' }, Resolved: { state: 'resolved' } };

const columns: Column<Issue>[] = [
  {
    title: 'Issue',
    value: (issue) => issue.kind,
    cell: (issue) => <Link to={`/issues/${issue.id}`}>{KINDS[issue.kind]}</Link>,
  },
  { title: 'State', value: (issue) => issue.state, as: 'status' },
  { title: 'Cause', value: (issue) => issue.cause, cell: (issue) => <bdi>{plain(causeText(issue))}</bdi> },
  { title: 'Where', value: placeOf },
  { title: 'Failures', value: (issue) => issue.count, as: 'count' },
  { title: 'Last seen', value: (issue) => issue.lastSeenAt, as: 'time' },
  { title: 'First seen', value: (issue) => issue.firstSeenAt, as: 'time', wideOnly: true },
  { title: 'ID', value: (issue) => issue.id, as: 'id', wideOnly: true },
];

export function Issues() {
  const [search] = usePageSearch();
  return (
    <ListPage
      title="Issues"
      list="listIssues"
      input={{
        state: search.state as Issue['state'] | undefined,
        kind: search.kind as Issue['kind'] | undefined,
        sourceId: search.sourceId,
        routeId: search.routeId,
        destinationId: search.destinationId,
      }}
      columns={columns}
      every={AGAIN_MS}
      path="/issues"
      hasCursor
      views={VIEWS}
      filters={
        <>
          <ChoiceFilter name="state" label="State" choices={STATES} />
          <ChoiceFilter name="kind" label="Kind" choices={KIND_CHOICES} />
          <RecordFilter name="sourceId" label="Source" list="listSources" />
          <RecordFilter name="routeId" label="Route" list="listRoutes" />
          <RecordFilter name="destinationId" label="Destination" list="listDestinations" />
        </>
      }
      empty={{
        title: 'No issues',
        text: 'Ongoing failures appear here, with their cause and the steps that fix them.',
      }}
    />
  );
}
