// The audit log: who did what, and who was refused.
import { Modal } from '@mantine/core';
import type { AuditRecord } from '@hookyard/client';
import type { Column } from '../../components/DataTable.tsx';
import type { Filter } from '../../components/filters.tsx';
import { ListPage } from '../../components/ListPage.tsx';
import { Facts, Id, Name } from '../../components/ui.tsx';
import { countText, plain, plural, sentence } from '../../format.ts';
import { Time } from '../../zone.tsx';
import { useState } from 'react';

const RESOURCES = [
  ...['sources', 'destinations', 'routes', 'filters', 'transforms', 'schemas', 'events', 'payloads'],
  ...['deliveries', 'issues', 'alerts', 'keys', 'secrets'],
];
const FILTERS = [
  { name: 'keyId', label: 'API key', kind: 'record', list: 'listApiKeys', scope: 'keys:read' },
  { name: 'outcome', label: 'Outcome', kind: 'one', choices: ['done', 'refused', 'failed'] },
  { name: 'resource', label: 'Resource', kind: 'one', choices: RESOURCES },
  { name: 'recordId', label: 'Record ID', kind: 'text' },
  { name: 'action', label: 'Operation ID', kind: 'text' },
] as const satisfies Filter[];

const actorText = ({ actor, keyName }: AuditRecord): string =>
  actor === 'key' ? (keyName ?? 'API key') : actor === 'operator' ? 'Operator' : 'Provider';
/** `createApiKey` as `Create API key`. */
const actionText = (action: string): string =>
  sentence(action.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`))
    .replace(/^Get\b/, 'Read')
    .replace(/\bapi\b/, 'API');

const columns: Column<AuditRecord>[] = [
  { title: 'Time', value: (record) => record.at, as: 'time' },
  { title: 'Actor', value: actorText },
  {
    title: 'Operation',
    value: (record) => record.action,
    cell: ({ action }) => <span title={action}>{actionText(action)}</span>,
  },
  { title: 'Outcome', value: (record) => record.outcome, as: 'status' },
  {
    title: 'Record',
    value: (record) => record.recordIds.join(' '),
    cell: ({ recordIds: [id], recordCount }) =>
      recordCount > 1 ? plural(recordCount, 'record') : id ? <Id of={id} /> : <span className="quiet">–</span>,
  },
  { title: 'Fields', value: (record) => record.members.join(', '), wideOnly: true },
  { title: 'Client address', value: (record) => record.address, wideOnly: true },
];

export function Audit() {
  const [opened, setOpened] = useState<AuditRecord | null>(null);
  return (
    <>
      <ListPage
        of="audit log entry"
        heading="Audit log"
        list="listAuditRecords"
        filters={FILTERS}
        range="7d"
        columns={columns}
        onOpen={setOpened}
        empty="Changes, refused requests, and reads of payloads or secrets in this time range appear here."
      />
      <Modal opened={opened !== null} onClose={() => setOpened(null)} title="Audit log entry" size="lg">
        {opened && <One record={opened} />}
      </Modal>
    </>
  );
}

function One({ record }: { record: AuditRecord }) {
  return (
    <Facts
      isWide
      of={{
        Time: <Time at={record.at} ms exact />,
        Actor: plain(actorText(record)),
        'API key': record.keyId,
        Operation: `${actionText(record.action)} (${record.action})`,
        Outcome: `${record.outcome}${record.code === null ? '' : `, ${record.code}`}`,
        'Status code': record.status,
        Resource: record.resource,
        [`Records (${countText(record.recordCount)})`]: record.recordIds.map((id) => (
          <div key={id}>
            <Name id={id} />
          </div>
        )),
        Fields: plain(record.members.join(', ')) || 'None',
        'Client address': plain(record.address ?? '–'),
        'User agent': plain(record.userAgent ?? '–'),
        'Request ID': plain(record.requestId ?? '–'),
      }}
    />
  );
}
