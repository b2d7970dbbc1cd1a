// hookyard keys: who may use the API.
import type { Command } from 'commander';
import { contextOf } from '../context.ts';
import { collect, given, pageOf, withPages } from '../input.ts';
import { showDone, showPage } from './show.ts';

interface KeyOptions {
  scope?: ('read' | 'write')[];
  expires?: string;
}

export function addKeys(program: Command): void {
  const keys = program.command('keys').description('API keys of the organization');
  withPages(keys.command('list'))
    .description('list valid keys')
    .action(async (options, command: Command) => {
      const context = contextOf(command);
      showPage(context, await context.client.listApiKeys(pageOf(options)), {
        name: (key) => key.name,
        id: (key) => key.id,
        scopes: (key) => key.scopes.join(', '),
        key: (key) => `…${key.tokenHint}`,
        expires: (key) => key.expiresAt ?? 'never',
        created: (key) => key.createdAt,
      });
    });
  keys
    .command('create <name>')
    .description('create a key and print it once')
    .option('--scope <scope>', 'read or write; may be repeated (both)', collect)
    .option('--expires <date>', 'ISO 8601; never when not given')
    .action(async (name: string, { scope: scopes, expires: expiresAt }: KeyOptions, command: Command) => {
      const context = contextOf(command);
      const key = await context.client.createApiKey({ body: { name, ...given({ scopes, expiresAt }) } });
      context.output.result(key, () => {
        context.output.line(key.token);
        context.output.note(`${key.name} (${key.id}) may ${key.scopes.join(' and ')}; the key is not shown again`);
      });
    });
  keys
    .command('revoke <id>')
    .description('delete a key; it stops working at once')
    .action(async (id: string, _options, command: Command) => {
      const context = contextOf(command);
      await context.client.revokeApiKey({ id });
      showDone(context, { revoked: id }, `${id} is revoked`);
    });
}
