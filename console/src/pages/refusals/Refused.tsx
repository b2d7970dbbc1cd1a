// Webhooks that were refused, by the source that they came to: how many, and why. The page of a source shows what came.
import { Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Metrics } from 'hookyard/client';
import { useAsk } from '../../api/queries.ts';
import { CopyMenu } from '../../components/CopyMenu.tsx';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { RangeFilter } from '../../components/filters.tsx';
import { Page } from '../../components/Page.tsx';
import { countText, plain } from '../../format.ts';
import { rangeOf, usePageSearch } from '../../search.ts';
import { HOUR_S, stepFor } from './step.ts';

const AGAIN_MS = 15_000;

type Row = Metrics['series'][number];

const causesText = ({ total }: Row): string =>
  Object.entries(total.causes ?? {})
    .toSorted(([, a], [, b]) => b - a)
    .map(([cause, count]) => `${countText(count)} × ${cause.replaceAll('_', ' ')}`)
    .join(', ');

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
      cell: ({ id, name }) => (
        <Link to={`/sources/${id ?? ''}`} search={time as never}>
          <bdi>{plain(name ?? id ?? '-')}</bdi>
        </Link>
      ),
      csv: ({ id, name }) => name ?? id,
    },
    {
      title: 'Refused',
      cell: ({ total }) => countText(total.refused ?? 0),
      csv: ({ total }) => total.refused,
      numeric: true,
    },
    { title: 'Why', cell: causesText, csv: causesText },
    { title: 'Id', cell: ({ id }) => id, csv: ({ id }) => id, wideOnly: true },
  ];
  return (
    <Page
      title="Refused webhooks"
      actions={<CopyMenu call={{ name: 'getMetrics', input }} columns={columns} rows={rows} />}
    >
      <Group align="end" gap="xs" mb="sm">
        <RangeFilter byDefault="24h" withAll={false} />
      </Group>
      <Text size="sm" mb="xs">
        Nothing is stored of a webhook that is refused, but a sample of the last ones: the page of its source shows
        them. They are counted by {step === HOUR_S ? 'whole hours' : 'whole days'} (UTC).
      </Text>
      <DataTable
        title="Refused webhooks"
        columns={columns}
        idOf={({ id }) => id ?? ''}
        answer={{ data: data && { data: rows }, error, isFetching, refetch }}
        empty="None was refused in this time."
      />
      {data && data.groups > rows.length && (
        <Text size="sm">
          The {countText(rows.length)} of {countText(data.groups)} sources with most.
        </Text>
      )}
    </Page>
  );
}
