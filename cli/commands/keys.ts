// hookyard keys: who may use the API.
import type { Command } from 'commander';
import type { Scope } from '../../core/access.ts';
import { contextOf } from '../context.ts';
import { collect, given, pageOf, withPages } from '../input.ts';
import { showDone, showPage } from './show.ts';

interface KeyOptions {
  scope?: Scope[];
  allow?: string[];
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
        from: (key) => key.allowedAddresses?.join(', ') ?? 'everywhere',
        expires: (key) => key.expiresAt ?? 'never',
        created: (key) => key.createdAt,
      });
    });
  keys
    .command('create <name>')
    .description('create a key and print it once')
    .option('--scope <scope>', 'read, write, or one like events:read; may be repeated (read and write)', collect)
    .option('--allow <range>', 'address or range that it may be used from; may be repeated (any)', collect)
    .option('--expires <date>', 'ISO 8601; never when not given')
    .action(async (name: string, options: KeyOptions, command: Command) => {
      const context = contextOf(command);
      const { scope: scopes, allow: allowedAddresses, expires: expiresAt } = options;
      const key = await context.client.createApiKey({
        body: { name, ...given({ scopes, allowedAddresses, expiresAt }) },
      });
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
