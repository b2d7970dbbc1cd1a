import type { Command } from 'commander';
import { contextOf } from '../context.ts';

export function addWhoami(program: Command): void {
  program
    .command('whoami')
    .description('which organization the key belongs to, and what it may do')
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
