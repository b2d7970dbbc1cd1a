// hookyard usage: the limits of the organization, and what it uses.
import type { Command } from 'commander';
import { contextOf } from '../context.ts';
import { given } from '../input.ts';

interface UsageOptions {
  daily?: boolean;
  from?: string;
  to?: string;
}

export function addUsage(program: Command): void {
  program
    .command('usage')
    .description('limits of the organization, and what is used of them')
    .option('--daily', 'what was used day by day instead')
    .option('--from <day>', 'with --daily: first day, such as 2026-11-01 (30 days before the last)')
    .option('--to <day>', 'with --daily: last day (today, UTC)')
    .action(async ({ daily, from, to }: UsageOptions, command: Command) => {
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
    output.note(`${usage.month.events} webhooks since ${usage.month.from} (plan ${usage.plan})`);
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
