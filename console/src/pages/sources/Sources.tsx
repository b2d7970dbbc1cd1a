// Sources: where webhooks come in.
import { Button, Group } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import type { Source } from 'hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { useAsk } from '../../api/queries.ts';
import { CopyMenu } from '../../components/CopyMenu.tsx';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { ENABLED, enabledOf } from '../../components/enabled.ts';
import { ChoiceFilter, TextFilter } from '../../components/filters.tsx';
import { Page } from '../../components/Page.tsx';
import { countText, plain } from '../../format.ts';
import { pageOf, usePageSearch } from '../../search.ts';
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
  const [search, set] = usePageSearch();
  const navigate = useNavigate();
  const mayWrite = useMay('sources:write');
  const input = {
    page: pageOf(search),
    pageSize: 50,
    search: search.search,
    enabled: enabledOf(search),
  };
  const answer = useAsk('listSources', input, { keep: true, every: AGAIN_MS });
  return (
    <Page
      title="Sources"
      actions={
        <>
          {mayWrite && (
            <Button size="xs" onClick={() => void navigate({ to: '/sources/new' })}>
              New source
            </Button>
          )}
          <CopyMenu call={{ name: 'listSources', input }} columns={columns} rows={answer.data?.data ?? []} />
        </>
      }
    >
      <Group align="end" gap="xs" mb="sm">
        <TextFilter name="search" label="Name or slug" />
        <ChoiceFilter name="enabled" label="Enabled" choices={ENABLED} />
      </Group>
      <DataTable
        title="Sources"
        columns={columns}
        idOf={(source) => source.id}
        answer={answer}
        onOpen={(source) => void navigate({ to: `/sources/${source.id}` })}
        onPage={(page) => set({ page: String(page) })}
        empty={search.search || search.enabled ? 'None matches.' : 'There is no source: no webhook can come in.'}
      />
    </Page>
  );
}
