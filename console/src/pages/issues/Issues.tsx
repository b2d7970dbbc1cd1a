// Issues: failures that last.
import { Link } from '@tanstack/react-router';
import type { Issue } from 'hookyard/client';
import type { Column } from '../../components/DataTable.tsx';
import { ChoiceFilter, RecordFilter } from '../../components/filters.tsx';
import { ListPage } from '../../components/ListPage.tsx';
import { Status } from '../../components/Status.tsx';
import { countText, plain } from '../../format.ts';
import { usePageSearch } from '../../search.ts';
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
      filters={
        <>
          <ChoiceFilter name="state" label="State" choices={STATES} />
          <ChoiceFilter name="kind" label="What" choices={KIND_CHOICES} />
          <RecordFilter name="sourceId" label="Source" list="listSources" />
          <RecordFilter name="routeId" label="Route" list="listRoutes" />
          <RecordFilter name="destinationId" label="Destination" list="listDestinations" />
        </>
      }
      empty="Nothing has kept failing in the last 90 days."
    />
  );
}
