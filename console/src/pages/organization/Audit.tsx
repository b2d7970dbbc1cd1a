// The audit log: who did what, and who was refused.
import { Group, Modal } from '@mantine/core';
import type { AuditRecord } from 'hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { useAsk } from '../../api/queries.ts';
import { CopyMenu } from '../../components/CopyMenu.tsx';
import { type Column, DataTable } from '../../components/DataTable.tsx';
import { Facts } from '../../components/Facts.tsx';
import { ChoiceFilter, RangeFilter, RecordFilter, TextFilter } from '../../components/filters.tsx';
import { Name } from '../../components/Name.tsx';
import { Page } from '../../components/Page.tsx';
import { Status } from '../../components/Status.tsx';
import { countText, plain } from '../../format.ts';
import { pageOf, rangeOf, usePageSearch } from '../../search.ts';
import { Time } from '../../zone.tsx';

const RESOURCES = [
  'sources',
  'destinations',
  'routes',
  'filters',
  'transforms',
  'schemas',
  'events',
  'payloads',
  'deliveries',
  'issues',
  'alerts',
  'keys',
  'secrets',
];

const actorText = ({ actor, keyName }: AuditRecord): string =>
  actor === 'key' ? plain(keyName ?? 'a key') : actor === 'operator' ? 'the operator' : 'a provider';
const recordsText = ({ recordIds, recordCount }: AuditRecord): string =>
  recordCount > 1 ? `${countText(recordCount)} records` : (recordIds[0] ?? '-');

const columns: Column<AuditRecord>[] = [
  { title: 'Time', cell: (record) => <Time at={record.at} />, csv: (record) => record.at },
  { title: 'Who', cell: (record) => <bdi>{actorText(record)}</bdi>, csv: actorText },
  { title: 'Did', cell: (record) => record.action, csv: (record) => record.action },
  { title: 'Outcome', cell: (record) => <Status of={record.outcome} />, csv: (record) => record.outcome },
  { title: 'With', cell: recordsText, csv: (record) => record.recordIds.join(' ') },
  {
    title: 'Members',
    cell: (record) => plain(record.members.join(', ')) || '-',
    csv: (record) => record.members.join(' '),
    wideOnly: true,
  },
  {
    title: 'From',
    cell: (record) => plain(record.address ?? '-'),
    csv: (record) => record.address,
    wideOnly: true,
  },
];

export function Audit() {
  const [search, set] = usePageSearch();
  const mayReadKeys = useMay('keys:read');
  const filters = {
    ...rangeOf(search, '7d'),
    keyId: search.keyId,
    action: search.action,
    resource: search.resource,
    recordId: search.recordId,
    outcome: search.outcome as AuditRecord['outcome'] | undefined,
  };
  const input = { ...filters, page: pageOf(search), pageSize: 50 };
  const answer = useAsk('listAuditRecords', input, { keep: true });
  const opened = answer.data?.data.find(({ id }) => id === search.open);
  return (
    <Page
      title="Audit log"
      actions={
        <CopyMenu
          call={{ name: 'listAuditRecords', input }}
          columns={columns}
          rows={answer.data?.data ?? []}
          all={{ list: 'listAuditRecords', filters }}
        />
      }
    >
      <Group align="end" gap="xs" mb="sm">
        <RangeFilter byDefault="7d" />
        {mayReadKeys && <RecordFilter name="keyId" label="Key" list="listApiKeys" />}
        <ChoiceFilter name="outcome" label="Outcome" choices={['done', 'refused', 'failed']} />
        <ChoiceFilter name="resource" label="Kind of records" choices={RESOURCES} />
        <TextFilter name="recordId" label="Id of a record" placeholder="rte_…" />
        <TextFilter name="action" label="Operation" placeholder="updateRoute" />
      </Group>
      <DataTable
        title="Audit log"
        columns={columns}
        idOf={(record) => record.id}
        answer={answer}
        onOpen={(record) => set({ open: record.id })}
        onPage={(page) => set({ page: String(page) })}
        empty="Nothing was done in this time that matches."
      />
      <Modal opened={opened !== undefined} onClose={() => set({ open: undefined })} title="What was done" size="lg">
        {opened && <One record={opened} />}
      </Modal>
    </Page>
  );
}

function One({ record }: { record: AuditRecord }) {
  return (
    <Facts
      of={[
        ['Time', <Time key="at" at={record.at} ms />],
        ['Who', actorText(record)],
        record.keyId !== null && ['Key', record.keyId],
        ['Did', record.action],
        ['Outcome', `${record.outcome}${record.code === null ? '' : `, ${record.code}`}`],
        record.status !== null && ['Answered', record.status],
        ['Kind of records', record.resource],
        [
          `Records (${countText(record.recordCount)})`,
          record.recordIds.map((id) => (
            <div key={id}>
              <Name id={id} />
            </div>
          )),
        ],
        ['Members that were sent', plain(record.members.join(', ')) || 'none'],
        ['From', plain(record.address ?? '-')],
        ['With', plain(record.userAgent ?? '-')],
        ['Request', plain(record.requestId ?? '-')],
      ]}
    />
  );
}
