// Sources: where webhooks come in.
import { Link } from '@tanstack/react-router';
import type { Source } from 'hookyard/client';
import type { Column } from '../../components/DataTable.tsx';
import { ChoiceFilter, TextFilter } from '../../components/filters.tsx';
import { flagOf, YES_NO } from '../../components/flags.ts';
import { ListPage } from '../../components/ListPage.tsx';
import { countText, plain } from '../../format.ts';
import { usePageSearch } from '../../search.ts';
import { Time } from '../../zone.tsx';
import { verifiedBy } from './values.ts';

const AGAIN_MS = 10_000;

const columns: Column<Source>[] = [
  {
    title: 'Source',
    cell: (source) => (
      <Link to={`/sources/${source.id}`}>
        <bdi>{plain(source.name)}</bdi>
      </Link>
    ),
    csv: (source) => source.name,
  },
  { title: 'Slug', cell: (source) => source.slug, csv: (source) => source.slug },
  { title: 'Signatures', cell: verifiedBy, csv: verifiedBy },
  {
    title: 'Enabled',
    cell: (source) => (source.enabled ? 'yes' : 'no'),
    csv: (source) => String(source.enabled),
    wideOnly: true,
  },
  {
    title: 'Events',
    cell: (source) => countText(source.eventsCount),
    csv: (source) => source.eventsCount,
    numeric: true,
  },
  { title: 'Last event', cell: (source) => <Time at={source.lastEventAt} />, csv: (source) => source.lastEventAt },
  { title: 'Id', cell: (source) => source.id, csv: (source) => source.id, wideOnly: true },
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
          <TextFilter name="search" label="Name or slug" />
          <ChoiceFilter name="enabled" label="Enabled" choices={YES_NO} />
        </>
      }
      empty="There is no source: no webhook can come in."
    />
  );
}
