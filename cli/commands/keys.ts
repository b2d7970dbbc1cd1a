// hookyard keys: who may use the API.
import type { Command } from 'commander';
import { SCOPES, type Scope } from '../../core/config/access.ts';
import { normalRange } from '../../core/http/allowed-addresses.ts';
import { newId } from '../../core/text/ids.ts';
import { parseIsoTime } from '../../core/text/timestamps.ts';
import { type Context, contextOf } from '../context.ts';
import { ON_THE_DATABASE, onDatabase } from '../database.ts';
import { CliError, EXIT, usage } from '../errors.ts';
import { collect, given, pageOf, withPages } from '../input.ts';
import { findOrganizationOf } from './orgs.ts';
import { showDone, showPage } from './show.ts';

interface KeyOptions {
  scope?: string[];
  allow?: string[];
  expires?: string;
  org?: string;
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
    .option('--org <organization>', 'for operators: of this organization, slug or id; works on the database')
    .addHelpText('after', `\nWith --org: ${ON_THE_DATABASE.trimStart()}`)
    .action(async (name: string, options: KeyOptions, command: Command) => {
      const context = contextOf(command);
      const key = options.org === undefined ? await byApi(context, name, options) : await byOperator(name, options);
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

function byApi({ client }: Context, name: string, { scope, allow, expires: expiresAt }: KeyOptions) {
  // The API says what is wrong with a scope or an address.
  const scopes = scope as Scope[] | undefined;
  return client.createApiKey({ body: { name, ...given({ scopes, allowedAddresses: allow, expiresAt }) } });
}

/** The first key of an organization whose keys are lost, for example: no key of it is needed. */
async function byOperator(name: string, { scope = ['read', 'write'], allow, expires, org = '' }: KeyOptions) {
  const scopes = SCOPES.filter((each) => scope.includes(each));
  const unknown = scope.find((each) => !SCOPES.some((known) => known === each));
  if (unknown !== undefined) throw usage(`${unknown} is no scope; there are ${SCOPES.join(', ')}`);
  if (name.trim() === '') throw usage('The name of a key must not be empty');
  const expiresAt = expires === undefined ? null : new Date(parseIsoTime(expires) ?? Number.NaN);
  if (expiresAt !== null && !(expiresAt.getTime() > Date.now()))
    throw usage(`--expires must be a time in the future, such as 2036-01-01T00:00:00Z, not ${expires}`);
  const allowedAddresses = allow?.map(rangeOf) ?? null;
  const [{ createKey }, { inTransaction }, { recordOperator }] = await Promise.all([
    import('../../db/organizations/organizations.ts'),
    import('../../db/connections/pool.ts'),
    import('../../db/organizations/audit.ts'),
  ]);
  return onDatabase(async (pool) => {
    const { id: organizationId, slug } = await findOrganizationOf(pool, org);
    const id = newId('key');
    const members = Object.keys(given({ name, scopes, allowedAddresses: allow, expiresAt: expires }));
    const entry = { action: 'createApiKey', resource: 'keys', recordIds: [id], members };
    const own = { organizationId, command: 'hookyard keys create' };
    return recordOperator(pool, { ...own, ...entry }, async () => {
      const values = { id, name, scopes, allowedAddresses, expiresAt };
      const key = await inTransaction(pool, (db) => createKey(db, organizationId, values));
      if (!key) throw new CliError(EXIT.refused, `${slug} is being deleted; it gets no key`);
      return key;
    });
  });
}

function rangeOf(text: string): string {
  const range = normalRange(text);
  if (range === null) throw usage(`${text} is no address and no range; one is 203.0.113.0/24`);
  return range;
}
