// The files of a warehouse: written, waiting, or failed, and why.
import { Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Batch } from 'hookyard/client';
import { useAsk } from '../../api/queries.ts';
import { CopyMenu } from '../../components/CopyMenu.tsx';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { ChoiceFilter } from '../../components/filters.tsx';
import { Status } from '../../components/Status.tsx';
import { countText, plain, shortened, sizeText } from '../../format.ts';
import { pageOf, usePageSearch } from '../../search.ts';
import { Time } from '../../zone.tsx';

const AGAIN_MS = 5000;
const STATUSES = ['open', 'frozen', 'uploading', 'written', 'failed'] as const;

const columns: Column<Batch>[] = [
  { title: 'Begun', cell: (batch) => <Time at={batch.createdAt} />, csv: (batch) => batch.createdAt },
  {
    title: 'Status',
    // An open batch collects events; nothing is wrong with it.
    cell: (batch) => <Status of={batch.status === 'open' ? 'collecting' : batch.status} />,
    csv: (batch) => batch.status,
  },
  {
    title: 'Events',
    cell: (batch) => (batch.count === null ? '-' : countText(batch.count)),
    csv: (batch) => batch.count,
    numeric: true,
  },
  {
    title: 'Size',
    cell: (batch) => (batch.bytes === null ? '-' : sizeText(batch.bytes)),
    csv: (batch) => batch.bytes,
    numeric: true,
    wideOnly: true,
  },
  {
    title: 'Values that did not fit',
    cell: (batch) => <Converted of={batch} />,
    csv: (batch) => batch.convertedCount,
    numeric: true,
    wideOnly: true,
  },
  { title: 'Attempts', cell: (batch) => batch.attempts, csv: (batch) => batch.attempts, numeric: true, wideOnly: true },
  {
    title: 'Error',
    cell: (batch) => <bdi>{plain(shortened(batch.lastError ?? '', 200))}</bdi>,
    csv: (batch) => batch.lastError,
  },
  { title: 'Key', cell: (batch) => <bdi>{plain(batch.key ?? '-')}</bdi>, csv: (batch) => batch.key, wideOnly: true },
  { title: 'Written', cell: (batch) => <Time at={batch.writtenAt} />, csv: (batch) => batch.writtenAt, wideOnly: true },
];

/** How many, and for each column one event to look at. */
function Converted({ of: { convertedCount, conversions } }: { of: Batch }) {
  return (
    <>
      {convertedCount ?? '-'}
      {conversions?.map(({ target, count, eventId }) => (
        <div key={target}>
          <bdi>{plain(shortened(target, 40))}</bdi>: {count}, <Link to={`/events/${eventId}`}>see one</Link>
        </div>
      ))}
    </>
  );
}

export function Batches({ id }: { id: string }) {
  const [search, set] = usePageSearch();
  const status = STATUSES.find((one) => one === search.batch);
  const input = { id, page: pageOf(search), pageSize: 20, status };
  const answer = useAsk('listBatches', input, { keep: true, every: AGAIN_MS });
  return (
    <>
      <Group justify="space-between" align="end">
        <h2>Files</h2>
        <Group align="end" gap="xs">
          <ChoiceFilter name="batch" label="Status" choices={STATUSES} />
          <CopyMenu call={{ name: 'listBatches', input }} columns={columns} rows={answer.data?.data ?? []} />
        </Group>
      </Group>
      <DataTable
        title="Files"
        columns={columns}
        idOf={(batch) => batch.id}
        answer={answer}
        onPage={(page) => set({ page: String(page) })}
        empty={status ? 'No file is in this state.' : 'No file yet: the first one begins with the first event.'}
      />
    </>
  );
}
