import type { Command } from 'commander';
import type { AuditRecord } from '../../client/index.ts';
import { plural } from '../../core/text/plural.ts';
import { contextOf } from '../context.ts';
import { given } from '../input.ts';
import type { Columns } from '../show.ts';
import { addOperation, addResource } from './operation.ts';

export function addOrganization(program: Command): void {
  addKeys(program);
  addOperation(program, 'record', {
    operation: 'listAuditRecords',
    name: 'audit',
    about: 'audit log: who changed what, and who read payloads and secrets; newest first',
    flags: { action: ['--action <operation>', 'requests of this operation, such as updateRoute'] },
    columns: AUDIT,
  });
  addUsage(program);
  addOperation(program, 'metrics', { operation: 'getMetrics', name: 'metrics' });
  addOperation(program, 'status', { operation: 'getStatus', name: 'status' });
  addWhoami(program);
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
    ...{ name: 'keys', tag: 'Access', one: 'key', about: 'API keys of the organization' },
    rows: [
      {
        operation: 'listApiKeys',
        name: 'list',
        about: 'list valid keys',
        columns: {
          ...{ name: 'name', id: 'id', scopes: 'scopes' },
          key: ({ tokenHint }: { tokenHint: string }) => `…${tokenHint}`,
          from: ({ allowedAddresses }: { allowedAddresses: string[] | null }) =>
            allowedAddresses?.join(', ') ?? 'everywhere',
          expires: ({ expiresAt }: { expiresAt: string | null }) => expiresAt ?? 'never',
          created: 'createdAt',
        },
      },
      {
        operation: 'createApiKey',
        name: 'create',
        about: 'create a key and print it once',
        args: ['name'],
        flags: {
          scopes: ['--scope <scope>', 'read, write, or one such as events:read; repeatable (read and write)'],
          allowedAddresses: ['--allow <range>', 'allowed IP address or range; repeatable (any)'],
          expiresAt: ['--expires <date>', 'ISO 8601 (default: never)'],
        },
        extra: (command) =>
          command.option(
            '--org <organization>',
            'for operators: organization of the key, slug or id; accesses the database directly (see hookyard orgs)',
          ),
        async run({ context: { client, output }, body, options: { org } }) {
          const request = body as Parameters<typeof client.createApiKey>[0]['body'];
          const key =
            typeof org === 'string'
              ? await (await import('../operator/keys.ts')).createKeyOf(org, request)
              : await client.createApiKey({ body: request });
          output.result(key, () => {
            output.line(key.token);
            output.note(`${key.name} (${key.id}) may ${key.scopes.join(' and ')}; the key is not shown again`);
          });
        },
      },
      {
        operation: 'revokeApiKey',
        name: 'revoke',
        about: 'revoke a key; it stops working immediately',
        done: '{_} was revoked',
      },
    ],
    leftOut: ['getCaller', 'signIn'],
  });
}

function addUsage(program: Command): void {
  program
    .command('usage')
    .description('limits and usage of the organization')
    .option('--daily', 'usage by day')
    .option('--from <day>', 'with --daily: first day, such as 2026-11-01 (30 days before the last)')
    .option('--to <day>', 'with --daily: last day (today, UTC)')
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
    output.table(['limit', 'used', 'most', 'unit'], rows);
    output.note(`${plural(usage.month.events, 'webhook')} since ${usage.month.from} (plan ${usage.plan})`);
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

function addWhoami(program: Command): void {
  program
    .command('whoami')
    .description('the current organization and API key')
    .action(async (_options, command: Command) => {
      const { client, output, url } = contextOf(command);
      const caller = await client.getCaller();
      output.result(caller, () =>
        output.fields({
          organization: `${caller.organization.name} (${caller.organization.slug}, ${caller.organization.id})`,
          plan: caller.organization.plan,
          key: `${caller.key.name} (${caller.key.id})`,
          scopes: caller.key.scopes.join(', '),
          service: url,
        }),
      );
    });
}
