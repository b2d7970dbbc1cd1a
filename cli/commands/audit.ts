// hookyard audit: who did what.
import type { Command } from 'commander';
import type { AuditRecord, Client } from '../../client/index.ts';
import { contextOf } from '../context.ts';
import { given, pageOf, time, withParts, withTimes } from '../input.ts';
import { showPage } from './show.ts';

type Filters = NonNullable<Parameters<Client['listAuditRecords']>[0]>;
type AuditOptions = Pick<Filters, 'action' | 'outcome' | 'from' | 'to'> & {
  record?: string;
  key?: string;
  cursor?: string;
  page?: string;
  pageSize?: string;
};

export function addAudit(program: Command): void {
  withTimes(withParts(program.command('audit')))
    .description('who changed what, and who read payloads and secrets; newest first')
    .option('--record <id>', 'what was done to this record')
    .option('--key <id>', 'what was done with this key')
    .option('--action <operation>', 'like updateRoute')
    .option('--outcome <outcome>', 'done, refused or failed')
    .action(async (options: AuditOptions, command: Command) => {
      const context = contextOf(command);
      const { record: recordId, key: keyId, action, outcome, from, to } = options;
      const filters = given({ recordId, keyId, action, outcome, from: time(from), to: time(to) });
      const page = pageOf(options);
      const { cursor } = options;
      const { client } = context;
      const answer = await (cursor === undefined
        ? client.listAuditRecords({ ...filters, ...page })
        : client.listAuditRecords({ ...filters, cursor, pageSize: page.pageSize }));
      showPage<AuditRecord>(context, answer, {
        at: (record) => record.at,
        by: (record) => record.keyName ?? record.actor,
        from: (record) => record.address ?? '',
        action: (record) => record.action,
        records: (record) =>
          record.recordCount > 1
            ? `${record.recordIds[0]} and ${record.recordCount - 1} more`
            : (record.recordIds[0] ?? ''),
        members: (record) => record.members.join(', '),
        outcome: (record) => (record.status === null ? record.outcome : `${record.outcome} (${record.status})`),
      });
    });
}
