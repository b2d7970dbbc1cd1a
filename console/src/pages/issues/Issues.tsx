// Issues: failures that last.
import { Link } from '@tanstack/react-router';
import type { Issue } from '@hookyard/client';
import type { Column } from '../../components/DataTable.tsx';
import type { Filter } from '../../components/filters.tsx';
import { ListPage } from '../../components/ListPage.tsx';
import { plain, sentence } from '../../format.ts';
import { causeText, KIND_CHOICES, KINDS, occurrencesOf, placeOf, STATES } from '../../words.ts';

const VIEWS = { Open: { state: 'open' }, Acknowledged: { state: 'acknowledged' }, Resolved: { state: 'resolved' } };
const FILTERS = [
  { name: 'state', label: 'State', kind: 'one', choices: STATES },
  { name: 'kind', label: 'Kind', kind: 'one', choices: KIND_CHOICES },
  { name: 'sourceId', label: 'Source', kind: 'record', list: 'listSources' },
  { name: 'routeId', label: 'Route', kind: 'record', list: 'listRoutes' },
  { name: 'destinationId', label: 'Destination', kind: 'record', list: 'listDestinations' },
] as const satisfies Filter[];

const columns: Column<Issue>[] = [
  {
    title: 'Issue',
    value: (issue) => issue.kind,
    cell: (issue) => <Link to={`/issues/${issue.id}`}>{KINDS[issue.kind]}</Link>,
  },
  { title: 'State', value: (issue) => issue.state, as: 'status' },
  { title: 'Cause', value: (issue) => issue.cause, cell: (issue) => <bdi>{sentence(plain(causeText(issue)))}</bdi> },
  { title: 'Where', value: placeOf },
  { title: 'Occurrences', value: (issue) => issue.count, cell: occurrencesOf, numeric: true },
  { title: 'Last seen', value: (issue) => issue.lastSeenAt, as: 'time' },
  { title: 'First seen', value: (issue) => issue.firstSeenAt, as: 'time', wideOnly: true },
  { title: 'ID', value: (issue) => issue.id, as: 'id', wideOnly: true },
];

export const Issues = () => (
  <ListPage
    of="issue"
    list="listIssues"
    filters={FILTERS}
    views={VIEWS}
    columns={columns}
    empty="Failures appear here, with their causes and how to fix them."
  />
);
