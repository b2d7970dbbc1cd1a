// Webhooks that were refused, by the source that they came to: how many, and why. The page of a source shows what came.
import { Link } from '@tanstack/react-router';
import type { Metrics } from '@hookyard/client';
import { AGAIN_MS, useAsk } from '../../api/queries.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { ExportMenu } from '../../components/ExportMenu.tsx';
import { Page } from '../../components/Page.tsx';
import { Empty } from '../../components/ui.tsx';
import { countsText, countText, plain, sentence } from '../../format.ts';
import { rangeOf, usePageSearch } from '../../search.ts';

type Row = Metrics['series'][number];

export function Refused() {
  const [search] = usePageSearch();
  const { from, to } = rangeOf({ ...search, range: search.range === 'all' ? undefined : search.range }, '24h');
  const step = stepFor(from);
  const input = { metric: 'refused', groupBy: 'source', from, to, step } as const;
  const { data, error, isFetching, refetch } = useAsk('getMetrics', input, { keep: true, every: AGAIN_MS });
  const rows = data?.series ?? [];
  // The page of the source knows the same times.
  const time = search.from || search.to ? { from: search.from, to: search.to } : { range: search.range };
  const columns: Column<Row>[] = [
    {
      title: 'Source',
      value: ({ id, name }) => name ?? id,
      cell: ({ id, name }) => (
        <Link to={`/sources/${id ?? ''}`} search={{ ...time, tab: 'refused-webhooks' } as never}>
          <bdi>{plain(name ?? id ?? '–')}</bdi>
        </Link>
      ),
    },
    { title: 'Refused', value: ({ total }) => total.refused ?? 0, as: 'count' },
    { title: 'Causes', value: ({ total }) => countsText(total.causes ?? {}, sentence) },
    { title: 'ID', value: ({ id }) => id, as: 'id', wideOnly: true },
  ];
  return (
    <Page
      title="Refused webhooks"
      note={`Refused webhooks are not stored as events. Counts cover whole ${step === HOUR_S ? 'hours' : 'days'} (UTC).`}
      actions={<ExportMenu call={{ name: 'getMetrics', input }} columns={columns} rows={rows} />}
    >
      <DataTable
        title="Refused webhooks"
        columns={columns}
        idOf={({ id }) => id ?? ''}
        answer={{ data: data && { data: rows }, error, isFetching, refetch }}
        empty={<Empty title="No refused webhooks">No source refused a webhook in this time range.</Empty>}
      />
      {data && data.groups > rows.length && (
        <p className="small quiet">
          Top {countText(rows.length)} of {countText(data.groups)} sources
        </p>
      )}
    </Page>
  );
}

export const HOUR_S = 3600;
const DAY_S = 86_400;
const BY_HOURS_MS = 7.5 * DAY_S * 1000;

/** The step of their figures, seconds. */
export const stepFor = (from: string | undefined): number =>
  from !== undefined && Date.now() - Date.parse(from) > BY_HOURS_MS ? DAY_S : HOUR_S;
