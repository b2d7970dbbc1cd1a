// The files of a warehouse: written, waiting, or failed, and why.
import { Link } from '@tanstack/react-router';
import type { Batch } from '@hookyard/client';
import { AGAIN_MS, useAsk } from '../../api/queries.ts';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { ExportMenu } from '../../components/ExportMenu.tsx';
import { FilterField } from '../../components/filters.tsx';
import { Empty, Status, statusText } from '../../components/ui.tsx';
import { plain, shortened } from '../../format.ts';
import { pageOf, usePageSearch } from '../../search.ts';

const STATUSES = ['open', 'frozen', 'uploading', 'written', 'failed'] as const;

const columns: Column<Batch>[] = [
  { title: 'Started', value: (batch) => batch.createdAt, as: 'time' },
  {
    title: 'Status',
    value: (batch) => batch.status,
    // An open batch collects events; nothing is wrong with it.
    cell: (batch) => (
      <Status of={batch.status === 'open' ? 'collecting' : batch.status} label={statusText(batch.status)} />
    ),
  },
  { title: 'Events', value: (batch) => batch.count, as: 'count' },
  { title: 'Size', value: (batch) => batch.bytes, as: 'size', wideOnly: true },
  {
    title: 'Converted values',
    value: (batch) => batch.convertedCount,
    cell: (batch) => <Converted of={batch} />,
    numeric: true,
    wideOnly: true,
  },
  { title: 'Attempts', value: (batch) => batch.attempts, as: 'count', wideOnly: true },
  { title: 'Error', value: (batch) => batch.lastError },
  { title: 'Key', value: (batch) => batch.key, wideOnly: true },
  { title: 'Written', value: (batch) => batch.writtenAt, as: 'time', wideOnly: true },
];

/** How many, and for each column one event to look at. */
function Converted({ of: { convertedCount, conversions } }: { of: Batch }) {
  return (
    <>
      {convertedCount ?? '–'}
      {conversions?.map(({ target, count, eventId }) => (
        <div key={target}>
          <bdi>{plain(shortened(target, 40))}</bdi>: {count}, <Link to={`/events/${eventId}`}>example</Link>
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
      <div className="row row-between">
        <FilterField of={{ name: 'batch', label: 'Status', kind: 'one', choices: STATUSES }} />
        <ExportMenu call={{ name: 'listBatches', input }} columns={columns} rows={answer.data?.data ?? []} />
      </div>
      <DataTable
        title="Files"
        columns={columns}
        idOf={(batch) => batch.id}
        answer={answer}
        onPage={(page) => set({ page: String(page) })}
        empty={
          status === undefined ? (
            <Empty title="No files">Files appear once the destination receives events.</Empty>
          ) : (
            <Empty title="No matching files" />
          )
        }
      />
    </>
  );
}
