// Sources: where webhooks come in.
import type { Source } from '@hookyard/client';
import { type Column, nameColumn } from '../../components/DataTable.tsx';
import { ChoiceFilter, flagOf, TextFilter, YES_NO } from '../../components/filters.tsx';
import { ListPage } from '../../components/ListPage.tsx';
import { Status } from '../../components/ui.tsx';
import { usePageSearch } from '../../search.ts';
import { verifiedBy } from './values.ts';

const AGAIN_MS = 10_000;

const columns: Column<Source>[] = [
  nameColumn(),
  {
    title: 'Status',
    value: (source) => source.enabled,
    cell: ({ enabled }) => <Status of={enabled ? 'enabled' : 'disabled'} />,
  },
  { title: 'Slug', value: (source) => source.slug, wideOnly: true },
  { title: 'Verification', value: verifiedBy, wideOnly: true },
  { title: 'Events', value: (source) => source.eventsCount, as: 'count' },
  { title: 'Last event', value: (source) => source.lastEventAt, as: 'time' },
  { title: 'ID', value: (source) => source.id, as: 'id', wideOnly: true },
];

export function Sources() {
  const [search] = usePageSearch();
  return (
    <ListPage
      title="Sources"
      list="listSources"
      input={{ search: search.search, enabled: flagOf(search, 'enabled') }}
      columns={columns}
      every={AGAIN_MS}
      path="/sources"
      make={{ label: 'New source', to: '/sources/new', scope: 'sources:write' }}
      filters={
        <>
          <TextFilter name="search" label="Name or slug" isSearch />
          <ChoiceFilter name="enabled" label="Enabled" choices={YES_NO} />
        </>
      }
      empty={{ title: 'No sources', text: 'A source receives webhooks at an ingest URL and verifies them.' }}
    />
  );
}
