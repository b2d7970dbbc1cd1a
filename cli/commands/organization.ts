import type { Command } from 'commander';
import type { AuditRecord, Caller } from '../../client/index.ts';
import { plural } from '../../core/text/words.ts';
import { contextOf } from '../context.ts';
import { given } from '../input.ts';
import type { Columns } from '../show.ts';
import { addOperation, addResource } from './operation.ts';

export function addOrganization(program: Command): void {
  addKeys(program);
  addOperation(program, 'record', {
    operation: 'listAuditRecords',
    name: 'audit',
    about: 'Show the audit log, newest first: who changed what, and who read payloads and secrets',
    flags: { action: ['--action <operation>', 'Only entries for this operation (for example updateRoute)'] },
    columns: AUDIT,
  });
  addUsage(program);
  addOperation(program, 'metrics', { operation: 'getMetrics', name: 'metrics' });
  addOperation(program, 'status', { operation: 'getStatus', name: 'status' });
  addOperation(program, 'caller', {
    operation: 'getCaller',
    name: 'whoami',
    about: 'Show the current organization and API key',
    show: ({ context: { output, url } }, caller: Caller) =>
      output.result(caller, () =>
        output.fields({
          organization: `${caller.organization.name} (${caller.organization.slug}, ${caller.organization.id})`,
          plan: caller.organization.plan,
          key: `${caller.key.name} (${caller.key.id})`,
          scopes: caller.key.scopes.join(', '),
          service: url,
        }),
      ),
  });
}

const AUDIT: Columns = {
  at: 'at',
  by: 'keyName|actor',
  from: 'address',
  action: 'action',
  records: ({ recordCount, recordIds: [first = ''] }: AuditRecord) =>
    recordCount > 1 ? `${first} and ${recordCount - 1} more` : first,
  members: 'members',
  outcome: ({ status, outcome }: AuditRecord) => (status === null ? outcome : `${outcome} (${status})`),
};

function addKeys(program: Command): void {
  addResource(program, {
    ...{ name: 'keys', tag: 'Access', one: 'key', about: 'Manage API keys' },
    rows: [
      {
        operation: 'listApiKeys',
        name: 'list',
        about: 'List API keys',
        columns: {
          ...{ name: 'name', id: 'id', scopes: 'scopes' },
          key: ({ tokenHint }: { tokenHint: string }) => `…${tokenHint}`,
          from: ({ allowedAddresses }: { allowedAddresses: string[] | null }) => allowedAddresses?.join(', ') ?? 'any',
          expires: ({ expiresAt }: { expiresAt: string | null }) => expiresAt ?? 'never',
          created: 'createdAt',
        },
      },
      {
        operation: 'createApiKey',
        name: 'create',
        about: 'Create an API key, which is printed only once',
        args: ['name'],
        flags: {
          scopes: [
            '--scope <scope>',
            'Scope: read, write or a narrower scope such as events:read; repeatable (default: read and write)',
          ],
          allowedAddresses: [
            '--allow <range>',
            "Allowed IP address or range; repeatable (default: the calling key's; with --org, any)",
          ],
          expiresAt: ['--expires <date>', "Expiry date (ISO 8601; default: the calling key's; with --org, never)"],
        },
        extra: (command) =>
          command.option(
            '--org <organization>',
            "For operators: the key's organization (slug or ID); accesses the database directly (see hookyard orgs)",
          ),
        async run({ context: { client, output }, body, options: { org } }) {
          const request = body as Parameters<typeof client.createApiKey>[0]['body'];
          const key =
            typeof org === 'string'
              ? await (await import('../operator/keys.ts')).createKeyOf(org, request)
              : await client.createApiKey({ body: request });
          output.result(key, () => {
            output.line(key.token);
            output.note(
              `${key.name} (${key.id}) was created with the following scopes: ${key.scopes.join(', ')}. The key will not be shown again.`,
            );
          });
        },
      },
      {
        operation: 'revokeApiKey',
        name: 'revoke',
        about: 'Revoke an API key; it stops working immediately',
        done: '{_} was revoked',
      },
    ],
    leftOut: ['getCaller', 'signIn'],
  });
}

function addUsage(program: Command): void {
  program
    .command('usage')
    .description("Show the organization's limits and usage")
    .option('--daily', 'Show usage by day')
    .option('--from <day>', 'With --daily: first day, such as 2026-11-01 (default: 30 days before the last day)')
    .option('--to <day>', 'With --daily: last day (default: today, UTC)')
    .action(async ({ daily, from, to }: { daily?: boolean; from?: string; to?: string }, command: Command) => {
      if (daily || from !== undefined || to !== undefined) await showDays(command, given({ from, to }));
      else await showLimits(command);
    });
}

async function showLimits(command: Command): Promise<void> {
  const { client, output } = contextOf(command);
  const usage = await client.getUsage();
  output.result(usage, () => {
    const rows = Object.entries(usage.limits).map(([name, { limit, used, unit }]) => [
      name,
      used,
      limit ?? 'none',
      unit,
    ]);
    output.table(['limit', 'used', 'maximum', 'unit'], rows);
    output.note(`${plural(usage.month.events, 'event')} since ${usage.month.from} (${usage.plan} plan)`);
  });
}

async function showDays(command: Command, query: { from?: string; to?: string }): Promise<void> {
  const { client, output } = contextOf(command);
  const days = await client.listDailyUsage(query);
  output.result(days, () => {
    const columns = ['day', 'events', 'payloadBytes', 'deliveries', 'attempts'] as const;
    output.table(
      [...columns],
      days.data.map((day) => columns.map((column) => day[column])),
    );
  });
}
