// Sources: where webhooks come in.
import type { Provider, Source } from '@hookyard/client';
import { useAll } from '../../api/lists.ts';
import { type Column, nameColumn } from '../../components/DataTable.tsx';
import type { Filter } from '../../components/filters.tsx';
import { ListPage } from '../../components/ListPage.tsx';
import { stateOf } from '../../components/ui.tsx';
import { verifiedBy } from './verification.ts';

const FILTERS = [
  { name: 'search', label: 'Name or slug', kind: 'search' },
  { name: 'enabled', label: 'Enabled', kind: 'flag' },
] as const satisfies Filter[];

const columns = (providers: Provider[] | undefined): Column<Source>[] => [
  nameColumn(),
  { title: 'Status', value: stateOf, as: 'status' },
  { title: 'Slug', value: (source) => source.slug, wideOnly: true },
  { title: 'Verification', value: (source) => verifiedBy(source, providers), wideOnly: true },
  { title: 'Events', value: (source) => source.eventsCount, as: 'count' },
  { title: 'Last event', value: (source) => source.lastEventAt, as: 'time' },
  { title: 'ID', value: (source) => source.id, as: 'id', wideOnly: true },
];

export const Sources = () => (
  <ListPage
    of="source"
    list="listSources"
    filters={FILTERS}
    columns={columns(useAll('listProviders').data?.records)}
    make="sources:write"
    empty="A source receives webhooks at an ingest URL and verifies them."
  />
);
