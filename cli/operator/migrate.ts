// hookyard migrate: brings the tables up to date as their owner, where the services run with a role that may not. And
// hookyard prune-visibility: drops the indexes of Temporal's visibility table that Hookyard does not use.
import type { Command } from 'commander';
import { plural } from '../../core/text/words.ts';
import { contextOf } from '../context.ts';
import { CliError, EXIT, usage } from '../errors.ts';
import type { Output } from '../output.ts';

interface Options {
  check?: true;
  grant?: string;
  tenantRole?: string;
}

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description('Update the database schema as the owner of the tables')
    .option('--check', 'Only list missing migrations; exits with code 1 if there are any')
    .option('--grant <role>', "Existing role to grant the services' privileges to")
    .option('--tenant-role <role>', 'Existing role for services that access one organization at a time')
    .addHelpText(
      'after',
      `
Set DATABASE_DIRECT_URL or DATABASE_URL to the database URL, with the owner of the tables as the user; or set
DATABASE_DIRECT_URL_FILE or DATABASE_URL_FILE to a file that contains the URL. Services that cannot change the schema with
their own role, or have HOOKYARD_MIGRATE=off, do not start while migrations are missing (see docs/operate/postgresql.md).
For --check, any role that can read the tables is sufficient.`,
    )
    .action(async ({ check, grant, tenantRole }: Options, command: Command) => {
      const { output } = contextOf(command);
      const url = await ownersUrl();
      if (check && (grant ?? tenantRole) !== undefined)
        throw usage('--check changes nothing; omit --grant and --tenant-role');
      if (check) return checkMigrations(output, url);
      const { migrate } = await import('../../db/schema/migrate.ts');
      const { grantRuntime, grantTenant } = await import('../../db/schema/roles.ts');
      const { onDatabase } = await import('./database.ts');
      const applied = await onDatabase(async (pool) => {
        const names = await migrate(url);
        if (grant !== undefined) await grantRuntime(pool, grant);
        if (tenantRole !== undefined) await grantTenant(pool, tenantRole);
        return names;
      }, url);
      output.result({ applied, granted: grant ?? null, tenantRole: tenantRole ?? null }, () => {
        for (const name of applied) output.line(name);
        output.note(
          applied.length === 0
            ? 'the database is up to date'
            : `${plural(applied.length, 'migration was', 'migrations were')} applied`,
        );
        if (grant !== undefined) output.note(`${grant} has the services' privileges`);
        if (tenantRole !== undefined) output.note(`${tenantRole} can access one organization's rows at a time`);
      });
    });
}

async function ownersUrl(): Promise<string> {
  const { secretOf } = await import('../../core/config/secret-files.ts');
  const url = secretOf(process.env, 'DATABASE_DIRECT_URL') ?? secretOf(process.env, 'DATABASE_URL');
  if (!url)
    throw usage(
      'Set DATABASE_DIRECT_URL or DATABASE_URL to the database URL, with the owner of the tables as the user',
    );
  return url;
}

async function checkMigrations(output: Output, url: string): Promise<void> {
  const { missingMigrations } = await import('../../db/schema/migrate.ts');
  const { onDatabase } = await import('./database.ts');
  const missing = (await onDatabase((pool) => missingMigrations(pool), url)).map(({ name }) => name);
  output.result({ missing }, () => {
    for (const name of missing) output.line(name);
    output.note(
      missing.length === 0
        ? 'the database is up to date'
        : `${plural(missing.length, 'migration is', 'migrations are')} missing; apply ${missing.length === 1 ? 'it' : 'them'} with: hookyard migrate`,
    );
  });
  if (missing.length > 0) process.exitCode = EXIT.refused;
}

interface PruneOptions {
  database: string;
  dryRun?: boolean;
}

export function addPruneVisibility(program: Command): void {
  program
    .command('prune-visibility')
    .description('In the database of your own Temporal server, drop the indexes that Hookyard does not use')
    .requiredOption(
      '--database <url>',
      "URL of Temporal's visibility database (postgres://...), with the owner of its table as the user; the password can also be in PGPASSWORD",
    )
    .option('--dry-run', 'Only list the indexes that would be dropped')
    .addHelpText(
      'after',
      `
Use this command only for a Temporal server on PostgreSQL that no other program uses, because other programs may need these indexes.
Temporal at TEMPORAL_ADDRESS (with TEMPORAL_API_KEY and TEMPORAL_TLS_*) reports which columns contain search attributes; their indexes
are kept. Run the command again after each update of Temporal's schema. The embedded Temporal server does not need this command.`,
    )
    .action(async ({ database, dryRun = false }: PruneOptions, command: Command) => {
      const { output } = contextOf(command);
      const { withSecretFiles } = await import('../../core/config/secret-files.ts');
      const { pruneVisibility } = await import('../../local/temporal/schema.ts');
      const indexes = await pruneVisibility(database, withSecretFiles(process.env), dryRun).catch((error: Error) => {
        throw new CliError(EXIT.unavailable, error.message);
      });
      output.result({ indexes, dropped: !dryRun }, () => {
        for (const name of indexes) output.line(name);
        const count = indexes.length;
        const what = dryRun ? `${plural(count, 'index')} would be` : plural(count, 'index was', 'indexes were');
        output.note(`${what} dropped; the indexes that Hookyard uses are kept`);
      });
    });
}
